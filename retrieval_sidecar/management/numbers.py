"""Operations on phone numbers."""

from aiohttp import web

from contracts.management import PhoneNumberChange, PhoneNumberPage, PhoneNumberRequest
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.organization_answers import to_number
from retrieval_sidecar.management.pages import is_name, read_page
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.numbers import (
    Number,
    add_number,
    delete_number,
    find_number,
    list_numbers,
    route_number,
)


class NumberHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        number = "/phone-numbers/{number_id}"
        return [
            Operation("GET", "/phone-numbers", "agents.view", self.list_phone_numbers),
            Operation("POST", "/phone-numbers", "agents.edit", self.add_phone_number),
            Operation("GET", number, "agents.view", self.get_phone_number),
            Operation("PATCH", number, "agents.edit", self.route_phone_number),
            Operation("DELETE", number, "agents.edit", self.delete_phone_number),
        ]

    async def list_phone_numbers(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Number]:
            return await list_numbers(connection, caller.organization_id, after=asked.after or "", limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda number: number.phone_number)
        return answer(PhoneNumberPage(items=[to_number(each) for each in page.rows], next_cursor=page.next_cursor))

    async def add_phone_number(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, PhoneNumberRequest, deadline_in(READ_S))

        async def add(connection: Connection) -> tuple[Number, Change]:
            number = await add_number(connection, caller.organization_id, body.phone_number, body.agent_id)
            return number, Change("create", "phone_number", number.number_id, after=number.as_record())

        return answer(to_number(await self._transactions.change(caller, add)), status=201)

    async def get_phone_number(self, request: web.Request, caller: Caller) -> web.Response:
        number_id = read_id(request, "number_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Number:
            return await find_number(connection, caller.organization_id, number_id)

        return answer(to_number(await self._transactions.read(found)))

    async def route_phone_number(self, request: web.Request, caller: Caller) -> web.Response:
        number_id = read_id(request, "number_id")
        body = await read_body(request, PhoneNumberChange, deadline_in(READ_S))

        async def route(connection: Connection) -> tuple[Number, Change]:
            before, after = await route_number(connection, caller.organization_id, number_id, body.agent_id)
            records = {"before": before.as_record(), "after": after.as_record()}
            return after, Change("update", "phone_number", number_id, **records)

        return answer(to_number(await self._transactions.change(caller, route)))

    async def delete_phone_number(self, request: web.Request, caller: Caller) -> web.Response:
        number_id = read_id(request, "number_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            gone = await delete_number(connection, caller.organization_id, number_id)
            return None, Change("delete", "phone_number", number_id, before=gone.as_record())

        await self._transactions.change(caller, delete)
        return web.Response(status=204)
