"""The search for operators: what a call would be given, and what came near."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from aiohttp import web

from contracts.management import SearchRequest
from contracts.voice import SearchRequest as Asked
from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.http.requests import read_body, read_id
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import Origin, to_search
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.reach import require_base
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.scope.resolve import Scope, scope_of_agent, scope_of_base
from retrieval_sidecar.search.service import Resolve, SearchService
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")
_USUAL_LIMIT = 5
_NO_AGENT = UUID(int=0)


class SearchHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, search: SearchService) -> None:
        self._transactions = transactions
        self._search = search

    def operations(self) -> list[Operation]:
        return [Operation("POST", "/knowledge-bases/{kb_id}/search", "agents.view", self.search_knowledge)]

    async def search_knowledge(self, request: web.Request, caller: Caller) -> web.Response:
        base_id = read_id(request, "kb_id")
        deadline = Deadline.after(LONGEST_S)
        body = await read_body(request, SearchRequest, deadline)
        await self._transactions.read(partial(require_base, caller=caller, base_id=base_id))
        # The scope is the resolver's; what is asked names no agent that the search would read.
        asked = Asked(org_id=caller.organization_id, agent_id=body.agent_id or _NO_AGENT, query=body.query)
        outcome = await self._search.search(_resolver(caller, base_id, body), asked, deadline)
        items = [
            each.candidate.id
            for each in (*(found.ranked for found in outcome.results), *outcome.considered)
            if not each.candidate.is_instruction
        ]
        origins = await self._transactions.read(
            partial(origins_of, organization_id=caller.organization_id, item_ids=items)
        )
        return answer(to_search(outcome, origins, body.limit or _USUAL_LIMIT))


def _resolver(caller: Caller, base_id: UUID, body: SearchRequest) -> Resolve:
    organization_id = caller.organization_id
    if body.agent_id is None:
        return partial(scope_of_base, organization_id, base_id, body.contact_id, member_id=caller.member_id)

    async def of_call(connection: Connection, now: datetime) -> Scope:
        number = None
        if body.contact_id is not None:
            number = await number_of(connection, organization_id, body.contact_id)
        assert body.agent_id is not None  # noqa: S101 - looked at above
        return await scope_of_agent(organization_id, body.agent_id, number, connection, now)

    return of_call


async def number_of(connection: Connection, organization_id: UUID, contact_id: UUID) -> str:
    parameters = {"organization_id": organization_id, "contact_id": contact_id}
    row = await require_row(connection, _SQL["number_of_contact"], parameters)
    return str(row[0])


async def origins_of(connection: Connection, organization_id: UUID, item_ids: Sequence[UUID]) -> dict[UUID, Origin]:
    parameters = {"organization_id": organization_id, "item_ids": list(item_ids)}
    cursor = await connection.execute(_SQL["origins"], parameters)
    return {row[0]: (row[1], row[2], row[3]) async for row in cursor}
