"""One search: question, scope, embedding, one statement, ranked passages."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID, uuid4

import structlog

from contracts.tracing import step
from contracts.voice import SearchRequest
from retrieval_sidecar.database import Connection, Pool, time_limit, translated_errors
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.embeddings import Embedder, Embedders, Vectors
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.metrics import DEGRADED, SEARCHES
from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.search.candidates import find_candidates
from retrieval_sidecar.search.question import Question, searchable
from retrieval_sidecar.search.ranking import GLOBAL_REGION, Ranked, rank
from retrieval_sidecar.search.selection import MAX_RESULTS, select
from retrieval_sidecar.search.statement import (
    anything_statement,
    scope_parameters,
    shape_of,
)

log = structlog.get_logger()

_FOR_DATABASE_S = 0.4  # kept back from the embedder, so that a slow one still leaves time to search by words

Clock = Callable[[], datetime]
Resolve = Callable[[Connection, datetime], Awaitable[Scope]]
Status = Literal["ok", "no_match", "restricted_empty"]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Found:
    """A result, and which of the question's parts it answers."""

    ranked: Ranked
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a search.

    Attributes:
        results: best first, at most five; empty unless `status` is ok.
        considered: every candidate in its order, for `--explain`; never sent to a caller.
        region: that was asked for.
        vector: of the question as the embedder gave it; None in a degraded search.
    """

    search_id: UUID
    status: Status
    scope: Scope
    question: Question
    results: Sequence[Found]
    degraded: bool
    embed_ms: float
    search_ms: float
    total_ms: float
    considered: Sequence[Ranked] = field(default=(), repr=False)
    region: str = GLOBAL_REGION
    vector: Vectors | None = field(default=None, repr=False)


class SearchService:
    """Searches for the voice API and the command line."""

    def __init__(self, pool: Pool, embedders: Embedder | Embedders, clock: Clock = utc_now) -> None:
        self._pool = pool
        self._embedders = Embedders.of(embedders)
        self._clock = clock
        # The model of each organization when it was searched last: a guess, which the scope puts right.
        self._last_models: dict[UUID, str] = {}

    async def search(self, resolve: Resolve, request: SearchRequest, deadline: Deadline) -> Outcome:
        """Search within a scope.

        Args:
            resolve: reads the scope, afresh, while the query is embedded.

        Raises:
            InvalidRequest: a query or sub-question is blank or too long.
            NotFound: from `resolve`.
            DeadlineExceeded, Unavailable: see `retrieval_sidecar.errors`.
        """
        started = time.perf_counter()
        texts = [searchable(request.query, "query")]
        texts += [searchable(part.root, f"subQuestions.{n}") for n, part in enumerate(request.sub_questions or ())]
        async with deadline.enforced(), translated_errors():
            (vectors, embed_ms), scope = await self._embed_and_resolve(resolve, request.org_id, texts, deadline)
            questions = [
                Question.read(
                    text,
                    utterance=request.utterance if index == 0 else None,
                    language=request.language,
                    default_language=scope.language,
                    fallbacks=scope.language_fallbacks,
                )
                for index, text in enumerate(texts)
            ]
            search_started = time.perf_counter()
            region = request.region_code or scope.region_code
            with step("search", answerline__search__parts=len(texts) - 1) as span:
                status, results, considered = await self._search(scope, questions, vectors, deadline, region=region)
                span.set_attribute("answerline.search.status", status)
                span.set_attribute("answerline.search.results", len(results))
                span.set_attribute("answerline.search.degraded", vectors is None)
        ended = time.perf_counter()
        _measure(
            status,
            is_degraded=vectors is None,
            embed=embed_ms,
            search=(ended - search_started) * 1000,
            total=(ended - started) * 1000,
        )
        return Outcome(
            search_id=uuid4(),
            status=status,
            scope=scope,
            question=questions[0],
            results=results,
            degraded=vectors is None,
            embed_ms=embed_ms,
            search_ms=(ended - search_started) * 1000,
            total_ms=(ended - started) * 1000,
            considered=considered,
            region=region,
            vector=None if vectors is None else vectors[0],
        )

    async def _embed_and_resolve(
        self, resolve: Resolve, organization_id: UUID, texts: Sequence[str], deadline: Deadline
    ) -> tuple[tuple[Vectors | None, float], Scope]:
        """The vectors by the model of the scope's own space, None where there are none; and the scope."""
        # Together: the scope is read in the time that the embedding takes anyway.
        expected = self._last_models.get(organization_id, self._embedders.preferred.model)
        embedding = asyncio.create_task(self._embed(expected, texts, deadline))
        # Nobody may be left to hear of its error, where the scope cannot be read or has another model.
        embedding.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            with step("scope"):
                scope = await self._pool.read(deadline, lambda connection: resolve(connection, self._clock()))
            if scope.model is not None:
                self._remember(organization_id, scope.model)
            if scope.model == expected:
                return await embedding, scope
        finally:
            embedding.cancel()
        # Switched since: vectors of two models are never compared.
        return await self._embed(scope.model, texts, deadline), scope

    def _remember(self, organization_id: UUID, model: str) -> None:
        if self._last_models.get(organization_id) == model:
            return
        self._last_models[organization_id] = model
        if self._embedders.get(model) is None:
            log.warning(
                "embedding model is not configured, searching by words",
                organization_id=str(organization_id),
                model=model,
                configured=self._embedders.models,
            )

    async def _embed(self, model: str | None, texts: Sequence[str], deadline: Deadline) -> tuple[Vectors | None, float]:
        """The vectors and the milliseconds they took; None where the model is not configured, is down or too slow."""
        started = time.perf_counter()
        embedder = self._embedders.get(model)
        vectors: Vectors | None = None
        if embedder is not None:
            try:
                with step("embed"):
                    async with asyncio.timeout(max(0.0, deadline.remaining() - _FOR_DATABASE_S)):
                        vectors = await embedder.embed_queries(texts)
            except (EmbedderUnavailable, TimeoutError) as error:
                log.warning("embedding failed, searching by words", cause=type(error).__name__)
        return vectors, (time.perf_counter() - started) * 1000

    async def _search(
        self, scope: Scope, questions: Sequence[Question], vectors: Vectors | None, deadline: Deadline, *, region: str
    ) -> tuple[Status, Sequence[Found], Sequence[Ranked]]:
        shape = shape_of(scope)
        if not shape:
            return "restricted_empty", (), ()
        if scope.space_id is None or scope.model is None:
            return "no_match", (), ()

        async def found(connection: Connection) -> tuple[Status, Sequence[Found], Sequence[Ranked]]:
            rankings = [
                rank(candidates, question, region=region, calibration=scope.calibration)
                for question, candidates in zip(
                    questions,
                    await find_candidates(connection, scope, shape, questions, vectors, deadline),
                    strict=True,
                )
            ]
            results = _merge(
                [
                    select(ranking, question, region=region)
                    for ranking, question in zip(rankings, questions, strict=True)
                ]
            )
            if results:
                return "ok", results, rankings[0]
            return await self._why_nothing(connection, scope, deadline), (), rankings[0]

        return await self._pool.read(deadline, found)

    async def _why_nothing(self, connection: Connection, scope: Scope, deadline: Deadline) -> Status:
        """restricted_empty where a selection holds nothing now; no_match where there was something to search."""
        parameters = scope_parameters(scope)
        shape = shape_of(scope)
        categories = {
            "instructions": scope.instruction_keys is not None,
            "knowledge": scope.knowledge is not None or scope.narrowed_base_keys is not None,
        }
        for category, restricted in categories.items():
            if not restricted:
                continue
            legs = tuple(leg for leg in shape if ("instructions" in leg) == (category == "instructions"))
            if not legs:
                return "restricted_empty"
            async with time_limit(connection, deadline):
                statement = anything_statement(legs, partition_id=scope.partition_id, with_reserved=scope.with_reserved)
                cursor = await connection.execute(statement, parameters)
            row = await cursor.fetchone()
            if row is None or not row[0]:
                return "restricted_empty"
        return "no_match"


def _measure(status: Status, *, is_degraded: bool, **steps_ms: float) -> None:
    for step_name, ms in steps_ms.items():
        SEARCHES.labels(step_name, status).observe(ms / 1000)
    DEGRADED.inc(is_degraded)


def _merge(selections: Sequence[Sequence[Ranked]]) -> list[Found]:
    """The results of the question and of its parts in turn, each once, at most five."""
    parts: dict[int, set[int]] = {}
    best: dict[int, Ranked] = {}
    longest = max(map(len, selections))
    for place in range(longest):
        for index, selection in enumerate(selections):
            if place < len(selection):
                found = selection[place]
                best.setdefault(found.candidate.passage_id, found)
                if index > 0:
                    parts.setdefault(found.candidate.passage_id, set()).add(index - 1)
    return [Found(ranked, tuple(sorted(parts.get(key, ())))) for key, ranked in best.items()][:MAX_RESULTS]
