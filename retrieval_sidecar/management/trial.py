"""The trial search: what a call would be given, and of what came near why it would not."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from time import perf_counter
from uuid import UUID

from aiohttp import web

from contracts import management as wire
from contracts.voice import SearchRequest as Asked
from retrieval_sidecar.database import Connection
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.errors import DeadlineExceeded, InvalidRequest
from retrieval_sidecar.http.requests import read_body, read_id
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_trial
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.search import number_of, origins_of
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.scope.resolve import Scope, scope_of_agent
from retrieval_sidecar.search.service import Outcome, Resolve, SearchService
from retrieval_sidecar.search.withheld import NotGiven, considered, find_withheld

_USUAL_LIMIT = 20


class TrialHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, search: SearchService) -> None:
        self._transactions = transactions
        self._search = search

    def operations(self) -> list[Operation]:
        return [Operation("POST", "/phone-agents/{agent_id}/search", "agents.view", self.try_question)]

    async def try_question(self, request: web.Request, caller: Caller) -> web.Response:
        agent_id = read_id(request, "agent_id")
        deadline = Deadline.after(LONGEST_S)
        body = await read_body(request, wire.TrialRequest, deadline)
        if body.contact_id is not None and body.caller_number is not None:
            raise InvalidRequest.of("caller_number", "must be left out where contact_id says who calls")
        asked = Asked(org_id=caller.organization_id, agent_id=agent_id, query=body.query, language=body.language)
        outcome = await self._search.search(_resolver(caller.organization_id, agent_id, body), asked, deadline)
        started = perf_counter()
        withheld = await self._withheld(outcome)
        explain_ms = (perf_counter() - started) * 1000
        not_given = _best_first([*considered(outcome), *(withheld or ())], body.limit or _USUAL_LIMIT)
        ranked = [found.ranked for found in outcome.results] + [each.ranked for each in not_given]
        items = [each.candidate.id for each in ranked if not each.candidate.is_instruction]
        origins = await self._transactions.read(
            partial(origins_of, organization_id=caller.organization_id, item_ids=items)
        )
        return answer(to_trial(outcome, not_given, origins, None if withheld is None else explain_ms))

    async def _withheld(self, outcome: Outcome) -> list[NotGiven] | None:
        """What was not searched for this caller; None where looking for it takes too long."""
        deadline = deadline_in(READ_S)
        try:
            return await self._transactions.read(partial(find_withheld, outcome=outcome, deadline=deadline))
        except DeadlineExceeded:
            return None


def _best_first(not_given: Sequence[NotGiven], most: int) -> list[NotGiven]:
    """What would be surest of all that was not given."""
    return sorted(not_given, key=lambda each: (-each.ranked.relevance, -each.ranked.score))[:most]


def _resolver(organization_id: UUID, agent_id: UUID, body: wire.TrialRequest) -> Resolve:
    async def of_call(connection: Connection, now: datetime) -> Scope:
        number = body.caller_number
        if body.contact_id is not None:
            number = await number_of(connection, organization_id, body.contact_id)
        return await scope_of_agent(organization_id, agent_id, number, connection, now)

    return of_call
