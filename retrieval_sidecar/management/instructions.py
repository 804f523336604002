"""Operations on instructions; the list is that of what can be selected (`selectables`)."""

from aiohttp import web

from contracts.management import InstructionChange, InstructionRequest
from retrieval_sidecar.content.instructions import (
    Instruction,
    InstructionFields,
    InstructionLimits,
    create_instruction,
    delete_instruction,
    find_instruction,
    update_instruction,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.content_answers import differences, to_instruction_detail
from retrieval_sidecar.management.indexing import Indexing
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.preconditions import etag_header, read_etag
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in


class InstructionHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, indexing: Indexing, limits: InstructionLimits) -> None:
        self._transactions = transactions
        self._indexing = indexing
        self._limits = limits

    def operations(self) -> list[Operation]:
        instruction = "/instructions/{instruction_id}"
        return [
            Operation("POST", "/instructions", "agents.edit", self.create_instruction),
            Operation("GET", instruction, "agents.view", self.get_instruction),
            Operation("PATCH", instruction, "agents.edit", self.update_instruction),
            Operation("DELETE", instruction, "agents.edit", self.delete_instruction),
        ]

    async def create_instruction(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, InstructionRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Instruction, Change]:
            instruction = await create_instruction(connection, caller.organization_id, _fields(body), self._limits)
            return instruction, Change(
                "create", "instruction", instruction.instruction_id, after=instruction.as_record()
            )

        instruction = await self._transactions.change(caller, create)
        await self._indexing.request(caller)
        return _answer(instruction, status=201)

    async def get_instruction(self, request: web.Request, caller: Caller) -> web.Response:
        instruction_id = read_id(request, "instruction_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Instruction:
            return await find_instruction(connection, caller.organization_id, instruction_id)

        return _answer(await self._transactions.read(found))

    async def update_instruction(self, request: web.Request, caller: Caller) -> web.Response:
        instruction_id = read_id(request, "instruction_id")
        etag = read_etag(request)
        body = await read_body(request, InstructionChange, deadline_in(READ_S))
        if not body.model_fields_set:
            raise InvalidRequest.of("body", "must hold at least one field")

        async def update(connection: Connection) -> tuple[Instruction, Change]:
            before, after = await update_instruction(
                connection, caller.organization_id, instruction_id, _fields(body), self._limits, etag=etag
            )
            was, now = differences(before.as_record(), after.as_record())
            return after, Change("update", "instruction", instruction_id, before=was, after=now)

        instruction = await self._transactions.change(caller, update)
        if not instruction.is_indexed:
            await self._indexing.request(caller)
        return _answer(instruction)

    async def delete_instruction(self, request: web.Request, caller: Caller) -> web.Response:
        instruction_id = read_id(request, "instruction_id")
        refuse_parameters(request)
        etag = read_etag(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            gone = await delete_instruction(connection, caller.organization_id, instruction_id, etag=etag)
            return None, Change("delete", "instruction", instruction_id, before=gone.as_record())

        await self._transactions.change(caller, delete)
        return web.Response(status=204)


def _fields(body: InstructionRequest | InstructionChange) -> InstructionFields:
    return InstructionFields(**{name: getattr(body, name) for name in body.model_fields_set})


def _answer(instruction: Instruction, *, status: int = 200) -> web.Response:
    return answer(to_instruction_detail(instruction), status=status, headers=etag_header(instruction.etag))
