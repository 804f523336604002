"""Operations on phone agents and what each may search."""

from uuid import UUID

from aiohttp import web

from contracts.management import KnowledgeSourcesRequest, PhoneAgentChange, PhoneAgentPage, PhoneAgentRequest
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_body, read_change, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_named_place, read_page
from retrieval_sidecar.management.preconditions import etag_header, read_etag
from retrieval_sidecar.management.scope_answers import Tree, to_agent, to_knowledge_sources
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.agents import create_agent, delete_agent, find_profile, update_agent
from retrieval_sidecar.scope.configuration import Wanted, configure, read_selection
from retrieval_sidecar.scope.selectable import (
    FIRST,
    Agent,
    directories_of_agent,
    find_agent,
    folders_of_agent,
    list_agents,
)
from retrieval_sidecar.search.service import Clock

_MOST_SUMMARIES = 1_000


class AgentHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, clock: Clock, *, max_bases: int) -> None:
        """Make them; `max_bases` is how many an agent may select."""
        self._transactions = transactions
        self._clock = clock
        self._max_bases = max_bases

    def operations(self) -> list[Operation]:
        agent = "/phone-agents/{agent_id}"
        return [
            Operation("GET", "/phone-agents", "agents.view", self.list_phone_agents),
            Operation("POST", "/phone-agents", "agents.edit", self.create_phone_agent),
            Operation("GET", agent, "agents.view", self.get_phone_agent),
            Operation("PATCH", agent, "agents.edit", self.update_phone_agent),
            Operation("DELETE", agent, "agents.edit", self.delete_phone_agent),
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

        async def found(connection: Connection) -> web.Response:
            return await _agent(connection, caller.organization_id, agent_id)

        return await self._transactions.read(found)

    async def create_phone_agent(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, PhoneAgentRequest, deadline_in(READ_S))
        wanted = body.model_dump(exclude_unset=True)

        async def create(connection: Connection) -> tuple[web.Response, Change]:
            agent_id, profile = await create_agent(connection, caller.organization_id, wanted)
            made = await _agent(connection, caller.organization_id, agent_id, status=201)
            return made, Change("create", "phone_agent", agent_id, after=profile.as_record())

        return await self._transactions.change(caller, create)

    async def update_phone_agent(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        etag = read_etag(request)
        wanted = await read_change(request, PhoneAgentChange, deadline_in(READ_S))

        async def update(connection: Connection) -> tuple[web.Response, Change]:
            before, after = await update_agent(connection, caller.organization_id, agent_id, wanted, etag=etag)
            told = await _agent(connection, caller.organization_id, agent_id)
            records = {"before": before.as_record(), "after": after.as_record()}
            return told, Change("update", "phone_agent", agent_id, **records)

        return await self._transactions.change(caller, update)

    async def delete_phone_agent(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            profile, numbers = await delete_agent(connection, caller.organization_id, agent_id, self._clock())
            gone = profile.as_record() | {"numbers": numbers}
            return None, Change("delete", "phone_agent", agent_id, before=gone)

        await self._transactions.change(caller, delete)
        return web.Response(status=204)

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


async def _agent(connection: Connection, organization_id: UUID, agent_id: UUID, *, status: int = 200) -> web.Response:
    agent = await find_agent(connection, organization_id, agent_id)
    profile = await find_profile(connection, organization_id, agent_id)
    return answer(to_agent(agent, profile), status=status, headers=etag_header(profile.etag))


async def _tree(connection: Connection, organization_id: UUID, agent_id: UUID) -> Tree:
    return Tree(
        await read_selection(connection, organization_id, agent_id),
        await directories_of_agent(connection, organization_id, agent_id, limit=_MOST_SUMMARIES),
        await folders_of_agent(connection, organization_id, agent_id, limit=_MOST_SUMMARIES),
    )


def _answer(tree: Tree) -> web.Response:
    return answer(to_knowledge_sources(tree), headers=etag_header(tree.selection.etag))
