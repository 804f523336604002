"""Operations on knowledge bases."""

from typing import Any
from uuid import UUID

from aiohttp import web

from contracts.management import KnowledgeBaseChange, KnowledgeBasePage, KnowledgeBaseRequest
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import read_body, read_change, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_base
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_name, read_page
from retrieval_sidecar.management.reach import require_base, require_own_base
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.teams import is_in_team
from retrieval_sidecar.sources.bases import (
    Base,
    OwnerType,
    create_base,
    delete_base,
    find_base,
    list_bases,
    publish_base,
    rename_base,
)
from retrieval_sidecar.sources.limits import SourceLimits


class BaseHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, limits: SourceLimits) -> None:
        self._transactions = transactions
        self._limits = limits

    def operations(self) -> list[Operation]:
        base = "/knowledge-bases/{kb_id}"
        return [
            Operation("GET", "/knowledge-bases", "agents.view", self.list_knowledge_bases),
            Operation("POST", "/knowledge-bases", "agents.edit", self.create_knowledge_base),
            Operation("GET", base, "agents.view", self.get_knowledge_base),
            Operation("PATCH", base, "agents.edit", self.update_knowledge_base),
            Operation("DELETE", base, "agents.edit", self.delete_knowledge_base),
        ]

    async def list_knowledge_bases(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Base]:
            return await list_bases(
                connection,
                caller.organization_id,
                member_id=caller.member_id,
                after=asked.after or "",
                limit=asked.wanted,
            )

        page = asked.of(await self._transactions.read(listed), lambda base: base.name)
        return answer(KnowledgeBasePage(items=[to_base(base) for base in page.rows], next_cursor=page.next_cursor))

    async def create_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, KnowledgeBaseRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Base, Change]:
            async with change(connection, caller.organization_id):  # so that the team stays, and they in it
                owner_type, owner_id = await _owner(connection, caller, body)
                base = await create_base(
                    connection,
                    caller.organization_id,
                    body.name,
                    self._limits,
                    owner_type=owner_type,
                    owner_id=owner_id,
                )
            return base, Change("create", "knowledge_base", base.base_id, after=_known(base))

        return answer(to_base(await self._transactions.change(caller, create)), status=201)

    async def get_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Base:
            await require_base(connection, caller, base_id)
            return await find_base(connection, caller.organization_id, base_id)

        return answer(to_base(await self._transactions.read(found)))

    async def update_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        wanted = await read_change(request, KnowledgeBaseChange, deadline_in(READ_S))

        async def update(connection: Connection) -> tuple[Base, Change]:
            async with change(connection, caller.organization_id):  # so that it is what was before this change
                await require_own_base(connection, caller, base_id)
                before = base = await find_base(connection, caller.organization_id, base_id)
                if "name" in wanted:
                    base = await rename_base(connection, caller.organization_id, base_id, wanted["name"])
                if "published" in wanted:
                    base = await publish_base(
                        connection, caller.organization_id, base_id, published=wanted["published"]
                    )
            return base, Change("update", "knowledge_base", base_id, before=_known(before), after=_known(base))

        return answer(to_base(await self._transactions.change(caller, update)))

    async def delete_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                await require_own_base(connection, caller, base_id)
                base = await find_base(connection, caller.organization_id, base_id)
                await delete_base(connection, caller.organization_id, base_id)
            gone = _known(base) | {"sources": base.sources, "items": base.items}
            return None, Change("delete", "knowledge_base", base_id, before=gone)

        await self._transactions.change(caller, delete)
        return web.Response(status=204)


async def _owner(connection: Connection, caller: Caller, body: KnowledgeBaseRequest) -> tuple[OwnerType, UUID | None]:
    """Whose the new base is. Raises InvalidRequest where the caller cannot give it to them."""
    owner_type: OwnerType = body.owner_type or "organization"
    if (owner_type == "team") != (body.team_id is not None):
        raise InvalidRequest.of("team_id", "must be there where owner_type is team, and nowhere else")
    if owner_type == "organization":
        return owner_type, None
    if caller.member_id is None:
        raise InvalidRequest.of("owner_type", "must be organization: the API key is no member's")
    if body.team_id is None:
        return owner_type, caller.member_id
    if not await is_in_team(connection, caller.organization_id, body.team_id, caller.member_id):
        raise InvalidRequest.of("team_id", "must be a team that you are in")
    return owner_type, body.team_id


def _known(base: Base) -> dict[str, Any]:
    """What the audit log keeps of a base; not how it is called where not all who read the log can see it."""
    if base.owner_type == "organization":
        return {"name": base.name}
    named = {"name": base.name} if base.for_agents else {}
    return {**named, "owner_type": base.owner_type, "published": base.for_agents}
