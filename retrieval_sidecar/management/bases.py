"""Operations on knowledge bases."""

from aiohttp import web

from contracts.management import KnowledgeBasePage, KnowledgeBaseRequest
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_base
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_name, read_page
from retrieval_sidecar.management.reach import require_base
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.sources.bases import Base, create_base, delete_base, find_base, list_bases, rename_base
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
            Operation("PATCH", base, "agents.edit", self.rename_knowledge_base),
            Operation("DELETE", base, "agents.edit", self.delete_knowledge_base),
        ]

    async def list_knowledge_bases(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Base]:
            return await list_bases(connection, caller.organization_id, after=asked.after or "", limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda base: base.name)
        return answer(
            KnowledgeBasePage(
                items=[to_base(base) for base in page.rows if base.owner_type == "organization"],
                next_cursor=page.next_cursor,
            )
        )

    async def create_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, KnowledgeBaseRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Base, Change]:
            base = await create_base(connection, caller.organization_id, body.name, self._limits)
            return base, Change("create", "knowledge_base", base.base_id, after={"name": base.name})

        return answer(to_base(await self._transactions.change(caller, create)), status=201)

    async def get_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Base:
            await require_base(connection, caller, base_id)
            return await find_base(connection, caller.organization_id, base_id)

        return answer(to_base(await self._transactions.read(found)))

    async def rename_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        body = await read_body(request, KnowledgeBaseRequest, deadline_in(READ_S))

        async def rename(connection: Connection) -> tuple[Base, Change]:
            await require_base(connection, caller, base_id)
            async with change(connection, caller.organization_id):  # so that it is the name before this change
                before = await find_base(connection, caller.organization_id, base_id)
                base = await rename_base(connection, caller.organization_id, base_id, body.name)
            return base, Change(
                "update", "knowledge_base", base_id, before={"name": before.name}, after={"name": base.name}
            )

        return answer(to_base(await self._transactions.change(caller, rename)))

    async def delete_knowledge_base(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            await require_base(connection, caller, base_id)
            async with change(connection, caller.organization_id):
                base = await find_base(connection, caller.organization_id, base_id)
                await delete_base(connection, caller.organization_id, base_id)
            gone = {"name": base.name, "sources": base.sources, "items": base.items}
            return None, Change("delete", "knowledge_base", base_id, before=gone)

        await self._transactions.change(caller, delete)
        return web.Response(status=204)
