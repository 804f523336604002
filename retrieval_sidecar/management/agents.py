"""Operations on phone agents and what each may search."""

from uuid import UUID

from aiohttp import web

from contracts.management import KnowledgeSourcesRequest, PhoneAgentPage
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_body, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_named_place, read_page
from retrieval_sidecar.management.preconditions import etag_header, read_etag
from retrieval_sidecar.management.scope_answers import Tree, to_agent, to_knowledge_sources
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.scope.configuration import Wanted, configure, read_selection
from retrieval_sidecar.scope.selectable import (
    FIRST,
    Agent,
    directories_of_agent,
    find_agent,
    folders_of_agent,
    list_agents,
)

_MOST_SUMMARIES = 1_000


class AgentHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, *, max_bases: int) -> None:
        """Make them; `max_bases` is how many an agent may select."""
        self._transactions = transactions
        self._max_bases = max_bases

    def operations(self) -> list[Operation]:
        agent = "/phone-agents/{agent_id}"
        return [
            Operation("GET", "/phone-agents", "agents.view", self.list_phone_agents),
            Operation("GET", agent, "agents.view", self.get_phone_agent),
            Operation("GET", f"{agent}/knowledge-sources", "agents.view", self.get_knowledge_sources),
            Operation("PUT", f"{agent}/knowledge-sources", "agents.edit", self.set_knowledge_sources),
        ]

    async def list_phone_agents(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_named_place)
        after = FIRST if asked.after is None else (asked.after[0], UUID(asked.after[1]))

        async def listed(connection: Connection) -> list[Agent]:
            return await list_agents(connection, caller.organization_id, after=after, limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda agent: agent.place)
        return answer(PhoneAgentPage(items=[to_agent(each) for each in page.rows], next_cursor=page.next_cursor))

    async def get_phone_agent(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Agent:
            return await find_agent(connection, caller.organization_id, agent_id)

        return answer(to_agent(await self._transactions.read(found)))

    async def get_knowledge_sources(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Tree:
            return await _tree(connection, caller.organization_id, agent_id)

        return _answer(await self._transactions.read(found))

    async def set_knowledge_sources(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        etag = read_etag(request)
        body = await read_body(request, KnowledgeSourcesRequest, deadline_in(READ_S))
        wanted = Wanted(
            body.instruction_ids, body.instruction_directory_ids, body.knowledge_item_ids, body.knowledge_folder_keys
        )

        async def configured(connection: Connection) -> tuple[Tree, Change]:
            before, after = await configure(
                connection, caller.organization_id, agent_id, wanted, etag=etag, max_bases=self._max_bases
            )
            tree = await _tree(connection, caller.organization_id, agent_id)
            return tree, Change(
                "update", "knowledge_sources", agent_id, before=before.as_record(), after=after.as_record()
            )

        return _answer(await self._transactions.change(caller, configured))


async def _tree(connection: Connection, organization_id: UUID, agent_id: UUID) -> Tree:
    return Tree(
        await read_selection(connection, organization_id, agent_id),
        await directories_of_agent(connection, organization_id, agent_id, limit=_MOST_SUMMARIES),
        await folders_of_agent(connection, organization_id, agent_id, limit=_MOST_SUMMARIES),
    )


def _answer(tree: Tree) -> web.Response:
    return answer(to_knowledge_sources(tree), headers=etag_header(tree.selection.etag))
