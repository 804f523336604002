"""Holds what the sidecar finds against what the oracle allows."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

from contracts.voice import SearchRequest
from retrieval_sidecar.database import Connection, Pool
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.scope.resolve import Scope, SessionKey, scope_of_agent, scope_of_session
from retrieval_sidecar.search.service import Outcome, SearchService
from tests.oracle.rows import WORDS, Written, code, phone_number, shared_id
from tests.oracle.rules import Document, Judgement, judge, segments_of
from tests.oracle.world import Case, Leg

# By words of every passage, or of none, so that vectors alone find anything.
_QUERIES: dict[Leg, str] = {"meaning": "xylophone quartet", "words": WORDS}
STRANGER = "+15555550199"


class Discrepancy(AssertionError):
    """The sidecar and the oracle disagree."""


def query_of(judgement: Judgement, leg: Leg) -> str:
    """A query that one leg alone answers, and answers with all that there is.

    Codes stand in one piece in it and are nobody's words then.
    """
    if leg == "codes":
        return " ".join(code(document).replace("-", "").lower() for document in judgement.refusals)
    return _QUERIES[leg]


class EmbedderDown(FakeEmbedder):
    """Its service cannot be reached."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable


@dataclass(slots=True)
class Tally:
    """What the cases were made of.

    Attributes:
        decided_alone: how often a rule was the only one to refuse a document.
    """

    cases: int = 0
    allowed: int = 0
    empty: Counter[str] = field(default_factory=Counter)
    decided_alone: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        self.cases += 1
        self.allowed += len(judgement.allowed)
        if not judgement.allowed:
            self.empty[judgement.empty_status] += 1
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
        judgement = judge(written.world, case)
        self._tally.add(judgement)
        self._now = case.moment
        service = self._with_vectors if case.leg == "meaning" else self._without
        request = SearchRequest(
            org_id=written.organization_id(written.world.calls[case.call].organization),
            agent_id=shared_id("agent", written.world.calls[case.call].agent),
            query=query_of(judgement, case.leg),
        )
        outcome = await service.search(self._scope(written, case), request, Deadline.after(LONGEST_S))
        if problem := _problem(written, case, judgement, outcome):
            raise Discrepancy(f"{problem}\n{describe(written, case)}")

    def _scope(self, written: Written, case: Case) -> Callable[[Connection, datetime], Awaitable[Scope]]:
        """By the session; of a call that was not narrowed, now and then, as the command line reads it."""
        call = written.world.calls[case.call]
        organization_id, agent_id = written.organization_id(call.organization), shared_id("agent", call.agent)
        if call.narrowing is None and case.leg == "codes":
            number = STRANGER if call.contact is None else phone_number(call.contact)
            return partial(scope_of_agent, organization_id, agent_id, number)
        key = SessionKey(organization_id, agent_id, written.session_id(case.call), self._token_id)
        return partial(scope_of_session, key)


def _problem(written: Written, case: Case, judgement: Judgement, outcome: Outcome) -> str | None:
    call = written.world.calls[case.call]
    names = {written.document_id(call.organization, document): document for document in judgement.refusals}
    found: set[Document] = set()
    for ranked in [*outcome.considered, *(result.ranked for result in outcome.results)]:
        candidate = ranked.candidate
        document = names.get(candidate.id)
        if document is None:
            return f"LEAK of another organization: {candidate.title}"
        if document[0] != ("instruction" if candidate.is_instruction else "item"):
            return f"{document} was taken for the other type"
        if judgement.refusals[document]:
            reasons = ", ".join(judgement.refusals[document])
            return f"LEAK of {_document(written, case, document)}\n  which the oracle refuses: {reasons}"
        found.add(document)
    if missing := judgement.allowed - found:
        return f"MISSING {_document(written, case, min(missing))}"
    expected = "ok" if outcome.results else judgement.empty_status
    if outcome.status != expected:
        return f"STATUS {outcome.status} where the oracle says {expected}"
    return None


def _document(written: Written, case: Case, document: Document) -> str:
    organization = written.world.organizations[written.world.calls[case.call].organization]
    kind, number = document
    if kind == "instruction":
        return f"instruction {number}: {organization.instructions[number]}"
    item = organization.items[number]
    source = organization.sources[item.source]
    return f"item {number}: {item}\n  of {source}\n  of {organization.bases[source.base]}"


def describe(written: Written, case: Case) -> str:
    """The one call and the clock of a case: with the document, all that its verdict follows from."""
    call = written.world.calls[case.call]
    organization = written.world.organizations[call.organization]
    local = case.moment.astimezone(ZoneInfo(organization.time_zone))
    return "\n".join(
        (
            f"  world {written.number}, call {case.call}: {call}",
            f"  {organization.agents[call.agent]}",
            f"  caller's segments: {sorted(segments_of(organization, call.contact)) or 'none'}",
            f"  clock: {case.moment.astimezone(UTC).isoformat()}, in {organization.time_zone} {local:%a %F %T.%f %Z}",
            f"  directories: {organization.directories}",
            f"  leg: {case.leg}; indexed as: {organization.indexed_as or 'it is'}",
        )
    )
