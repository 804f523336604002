"""Holds what the sidecar finds against what the oracle allows."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import NoReturn
from uuid import UUID
from zoneinfo import ZoneInfo

from contracts.voice import SearchRequest
from retrieval_sidecar.database import Connection, Pool
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.scope.resolve import Scope, SessionKey, scope_of_agent, scope_of_session
from retrieval_sidecar.search.service import SearchService
from tests.oracle.rows import WORDS, Written, code, phone_number, shared_id
from tests.oracle.rules import Document, Judgement, judge, segments_of
from tests.oracle.world import Call, Case, Leg

STRANGER = "+15555550199"
# Words of every passage, or of none, so that vectors alone find anything.
_QUERIES: dict[Leg, str] = {"meaning": "xylophone quartet", "words": WORDS}


class Discrepancy(AssertionError):
    """The sidecar and the oracle disagree."""


class EmbedderDown(FakeEmbedder):
    """Its service cannot be reached."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable


def query_of(judgement: Judgement, leg: Leg) -> str:
    """A query that one leg alone answers, and answers with all that there is.

    Codes stand in one piece in it and are nobody's words then.
    """
    if leg == "codes":
        return " ".join(code(document).replace("-", "").lower() for document in judgement.refusals)
    return _QUERIES[leg]


@dataclass(slots=True)
class Tally:
    """What the cases were made of.

    Attributes:
        statuses: what the sidecar answered.
        decided_alone: how often a rule was the only one to refuse a document.
    """

    cases: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    decided_alone: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        self.cases += 1
        for (kind, _), reasons in judgement.refusals.items():
            if len(reasons) == 1:
                self.decided_alone[f"{kind}: {reasons[0]}"] += 1


class Examiner:
    """Runs cases through `SearchService` as the voice role, as a call's search does.

    What is held against the oracle is `Outcome.considered`: all that the one statement of a search let through. Every
    leg of it takes more candidates than an organization here has passages, so that nothing is cut off and nothing may
    be missing either; relevance only decides which of them become results.
    """

    def __init__(self, pool: Pool, token_id: UUID, tally: Tally) -> None:
        self._token_id = token_id
        self._tally = tally
        self._now = datetime.now(UTC)
        self._with_vectors = SearchService(pool, FakeEmbedder(), lambda: self._now)
        self._without = SearchService(pool, EmbedderDown(), lambda: self._now)

    async def examine(self, written: Written, case: Case) -> None:
        """Raises Discrepancy."""
        call = written.world.calls[case.call]
        judgement = judge(written.world.organizations[call.organization], call, case.moment)
        self._tally.add(judgement)
        self._now = case.moment
        service = self._with_vectors if case.leg == "meaning" else self._without
        request = SearchRequest(
            org_id=written.organization_id(call.organization),
            agent_id=shared_id("agent", call.agent),
            query=query_of(judgement, case.leg),
        )
        outcome = await service.search(self._scope(written, case), request, Deadline.after(LONGEST_S))
        given = [result.ranked for result in outcome.results]
        found = [(ranked.candidate.is_instruction, ranked.candidate.id) for ranked in [*outcome.considered, *given]]
        expect(written, case, call, judgement, found, complete=True)
        self._tally.statuses[outcome.status] += 1
        expected = "ok" if given else judgement.empty_status
        if outcome.status != expected:
            fail(f"STATUS {outcome.status} where the oracle says {expected}", written, case, call)

    def _scope(self, written: Written, case: Case) -> Callable[[Connection, datetime], Awaitable[Scope]]:
        """By the session; of a call that was not narrowed, now and then, as the command line reads it."""
        call = written.world.calls[case.call]
        organization_id, agent_id = written.organization_id(call.organization), shared_id("agent", call.agent)
        if call.narrowing is None and case.leg == "codes":
            number = STRANGER if call.contact is None else phone_number(call.contact)
            return partial(scope_of_agent, organization_id, agent_id, number)
        key = SessionKey(organization_id, agent_id, written.session_id(case.call), self._token_id)
        return partial(scope_of_session, key)


def expect(
    written: Written,
    case: Case,
    call: Call,
    judgement: Judgement,
    found: Iterable[tuple[bool, UUID]],
    *,
    complete: bool,
) -> None:
    """Hold what was found, each as whether it is an instruction and its id, against a judgement.

    Args:
        complete: whether all that is allowed had to be found.

    Raises:
        Discrepancy: with the one document.
    """
    names = {written.document_id(call.organization, document): document for document in judgement.refusals}
    seen: set[Document] = set()
    for is_instruction, found_id in found:
        document = names.get(found_id)
        if document is None:
            fail("LEAK of what is not this organization's", written, case, call)
        if is_instruction != (document[0] == "instruction"):
            fail(f"{document} came as the other type", written, case, call)
        if reasons := judgement.refusals[document]:
            fail(f"LEAK, refused as {', '.join(reasons)}:\n  {_told(written, call, document)}", written, case, call)
        seen.add(document)
    if complete and (missing := judgement.allowed - seen):
        fail(f"MISSING:\n  {_told(written, call, min(missing))}", written, case, call)


def fail(problem: str, written: Written, case: Case, call: Call) -> NoReturn:
    """Raise Discrepancy with the call and the clock: with the document, all that the verdict follows from."""
    organization = written.world.organizations[call.organization]
    local = case.moment.astimezone(ZoneInfo(organization.time_zone))
    lines = (
        problem,
        f"  in world {written.number}, indexed as {organization.indexed_as or 'it is'}, {call}",
        f"  to {organization.agents[call.agent]}",
        f"  by a caller of segments {sorted(segments_of(organization, call.contact))}",
        f"  at {case.moment.astimezone(UTC).isoformat()}, in {organization.time_zone} {local:%a %F %T.%f %Z}",
        f"  found by {case.leg}",
    )
    raise Discrepancy("\n".join(lines))


def _told(written: Written, call: Call, document: Document) -> str:
    organization = written.world.organizations[call.organization]
    kind, number = document
    if kind == "instruction":
        return f"instruction {number}: {organization.instructions[number]} below {organization.directories}"
    source = organization.sources[organization.items[number].source]
    return f"item {number}: {organization.items[number]} of {source} of {organization.bases[source.base]}"
