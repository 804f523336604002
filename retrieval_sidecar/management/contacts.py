"""Operations on contacts and on the segments that they are in."""

from uuid import UUID

from aiohttp import web

from contracts.management import (
    ContactChange,
    ContactPage,
    ContactRequest,
    SegmentChange,
    SegmentPage,
    SegmentRequest,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_body, read_change, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.organization_answers import to_contact, to_segment
from retrieval_sidecar.management.pages import is_name, is_named_place, read_page
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.contacts import (
    Contact,
    create_contact,
    delete_contact,
    find_contact,
    list_contacts,
    update_contact,
)
from retrieval_sidecar.organization.rows import FIRST
from retrieval_sidecar.organization.segments import (
    Segment,
    create_segment,
    delete_segment,
    find_segment,
    list_segments,
    rename_segment,
)


class ContactHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        contact = "/contacts/{contact_id}"
        return [
            Operation("GET", "/contacts", "agents.view", self.list_contacts),
            Operation("POST", "/contacts", "agents.edit", self.create_contact),
            Operation("GET", contact, "agents.view", self.get_contact),
            Operation("PATCH", contact, "agents.edit", self.update_contact),
            Operation("DELETE", contact, "agents.edit", self.delete_contact),
        ]

    async def list_contacts(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_named_place)
        after = FIRST if asked.after is None else (asked.after[0], UUID(asked.after[1]))

        async def listed(connection: Connection) -> list[Contact]:
            return await list_contacts(connection, caller.organization_id, after=after, limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda contact: contact.place)
        return answer(ContactPage(items=[to_contact(each) for each in page.rows], next_cursor=page.next_cursor))

    async def create_contact(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, ContactRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Contact, Change]:
            contact = await create_contact(
                connection,
                caller.organization_id,
                phone_number=body.phone_number,
                name=body.name,
                language=body.language,
                segments=body.segments or [],
            )
            return contact, Change("create", "contact", contact.contact_id, after=contact.as_record())

        return answer(to_contact(await self._transactions.change(caller, create)), status=201)

    async def get_contact(self, request: web.Request, caller: Caller) -> web.Response:
        contact_id = read_id(request, "contact_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Contact:
            return await find_contact(connection, caller.organization_id, contact_id)

        return answer(to_contact(await self._transactions.read(found)))

    async def update_contact(self, request: web.Request, caller: Caller) -> web.Response:
        contact_id = read_id(request, "contact_id")
        wanted = await read_change(request, ContactChange, deadline_in(READ_S))

        async def update(connection: Connection) -> tuple[Contact, Change]:
            before, after = await update_contact(connection, caller.organization_id, contact_id, wanted)
            return after, Change("update", "contact", contact_id, before=before.as_record(), after=after.as_record())

        return answer(to_contact(await self._transactions.change(caller, update)))

    async def delete_contact(self, request: web.Request, caller: Caller) -> web.Response:
        contact_id = read_id(request, "contact_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            gone = await delete_contact(connection, caller.organization_id, contact_id)
            return None, Change("delete", "contact", contact_id, before=gone.as_record())

        await self._transactions.change(caller, delete)
        return web.Response(status=204)


class SegmentHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        segment = "/segments/{segment_id}"
        return [
            Operation("GET", "/segments", "agents.view", self.list_segments),
            Operation("POST", "/segments", "agents.edit", self.create_segment),
            Operation("GET", segment, "agents.view", self.get_segment),
            Operation("PATCH", segment, "agents.edit", self.rename_segment),
            Operation("DELETE", segment, "agents.edit", self.delete_segment),
        ]

    async def list_segments(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Segment]:
            return await list_segments(connection, caller.organization_id, after=asked.after or "", limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda segment: segment.key)
        return answer(SegmentPage(items=[to_segment(each) for each in page.rows], next_cursor=page.next_cursor))

    async def create_segment(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, SegmentRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Segment, Change]:
            segment = await create_segment(connection, caller.organization_id, body.key, body.name)
            made = {"key": segment.key, "name": segment.name}
            return segment, Change("create", "segment", segment.segment_id, after=made)

        return answer(to_segment(await self._transactions.change(caller, create)), status=201)

    async def get_segment(self, request: web.Request, caller: Caller) -> web.Response:
        segment_id = read_id(request, "segment_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Segment:
            return await find_segment(connection, caller.organization_id, segment_id)

        return answer(to_segment(await self._transactions.read(found)))

    async def rename_segment(self, request: web.Request, caller: Caller) -> web.Response:
        segment_id = read_id(request, "segment_id")
        body = await read_body(request, SegmentChange, deadline_in(READ_S))

        async def rename(connection: Connection) -> tuple[Segment, Change]:
            before, after = await rename_segment(connection, caller.organization_id, segment_id, body.name)
            names = {"before": {"name": before.name}, "after": {"name": after.name}}
            return after, Change("update", "segment", segment_id, **names)

        return answer(to_segment(await self._transactions.change(caller, rename)))

    async def delete_segment(self, request: web.Request, caller: Caller) -> web.Response:
        segment_id = read_id(request, "segment_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            segment = await delete_segment(connection, caller.organization_id, segment_id)
            gone = {"key": segment.key, "name": segment.name, "contacts": segment.contacts}
            return None, Change("delete", "segment", segment_id, before=gone)

        await self._transactions.change(caller, delete)
        return web.Response(status=204)
