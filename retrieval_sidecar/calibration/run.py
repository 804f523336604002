"""From an organization's corpus, or from labelled questions, to the calibration of its embedding space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from retrieval_sidecar.calibration.fit import at_operating_point, fit, log_odds, with_codes_of
from retrieval_sidecar.calibration.observe import Observer
from retrieval_sidecar.calibration.questions import Labelled
from retrieval_sidecar.calibration.refusal import Refusal, refusal_of
from retrieval_sidecar.calibration.samples import Made, Sampled, are_lines, made_from, unrelated
from retrieval_sidecar.calibration.stored import Coefficients, StoredCalibration
from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.errors import FieldProblem, InvalidRequest, NotFound
from retrieval_sidecar.ingest.spaces import read_centers
from retrieval_sidecar.knowledge.validity import minute_of_week
from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.search.relevance import Calibration, Evidence, calibration_of
from retrieval_sidecar.search.statement import SQL as SEARCH_SQL
from retrieval_sidecar.search.statement import scope_parameters
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.calibration")
_BATCH = 16
_SEED = 4
# Fewer questions say more about themselves than about the corpus.
_FEWEST_ANSWERABLE, _FEWEST_UNANSWERABLE = 20, 10
# What is made of the corpus names codes as the corpus does, and asks in its own languages.
_NOT_OF_THE_CORPUS = ("code", "foreign")
# Below it, what was made has nothing to do with what is asked.
_LEAST_AUROC = 0.8

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a calibration does to the questions.

    Attributes:
        lost: the share of answerable ones that it refuses.
        refused: the share of the others that it refuses.
    """

    calibration: Calibration
    refusal: Refusal
    lost: float
    refused: float


@dataclass(frozen=True, slots=True)
class Report:
    """What came of it.

    Attributes:
        answerable, unanswerable: the questions that the search found anything for.
        kept: why the model's own calibration stays; None where another was fitted.
        before, after: figures of the model's own calibration and of the fitted one; None where there are too few
            questions to tell.
    """

    model: str | None
    made_from: Literal["questions", "corpus"]
    answerable: int = 0
    unanswerable: int = 0
    kept: str | None = None
    before: Figures | None = None
    after: Figures | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to calibrate.

    Attributes:
        questions: labelled; None to make questions of the corpus.
        passages: at most so many are sampled to make questions of.
        lost: the share of answerable questions that may be refused, 0..1.
    """

    questions: Sequence[Labelled] | None = None
    passages: int = 300
    lost: float = 0.05


async def calibrate(
    connection: Connection,
    embedders: Embedder | Embedders,
    organization_id: UUID,
    wanted: Wanted = Wanted(),
    *,
    store: bool = True,
    now: datetime | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Report:
    """Fit the no-match decision to an organization and store it in one statement; nothing is held open meanwhile.

    Args:
        connection: of the management role, in autocommit.
        embedders: one for the model of the active space; where there is none, nothing is fitted.
        store: False to write nothing.
        progress: called with (questions observed, questions in all).

    Raises:
        NotFound: there is no such organization.
        InvalidRequest: a labelled question expects an item that the organization does not have.
    """
    scope = await _everything(connection, organization_id, now or datetime.now(UTC))
    nothing = Report(scope.model, "corpus" if wanted.questions is None else "questions")
    if scope.space_id is None:
        return replace(nothing, kept="nothing is indexed yet")
    embedder = Embedders.of(embedders).get(scope.model)
    if embedder is None:
        return replace(nothing, kept=f"what is stored was embedded by {scope.model}, which is not configured here")
    centers = await read_centers(connection, organization_id, scope.space_id)
    sampled = await _sample(connection, scope, wanted.passages)
    if not sampled or not centers:
        return replace(nothing, kept="there is no passage that a call may hear")
    observer = Observer(connection, embedder, scope, centers)
    observed = await _observe(connection, observer, scope, sampled, wanted.questions, progress)
    # Lines of one list are nearer to each other than callers' words are (CLINC: 4.7 % of them lost, 10 % of questions).
    is_easy = wanted.questions is None and are_lines(sampled)
    report = _fitted(nothing, scope.calibration, observed, wanted.lost / 2 if is_easy else wanted.lost)
    if store and report.kept is None:
        await _store(connection, scope, report)
    return report


async def _everything(connection: Connection, organization_id: UUID, now: datetime) -> Scope:
    """All that any call to the organization may hear, under the model's own calibration."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL["space"], {"organization_id": organization_id})
        row = await cursor.fetchone()
    if row is None:
        raise NotFound
    return Scope(
        organization_id=organization_id,
        instruction_keys=None,
        knowledge=None,
        narrowed_base_keys=None,
        segment_ids=row["segment_ids"],
        now=now,
        minute=minute_of_week(now, ZoneInfo(row["time_zone"])),
        language=row["default_language"],
        region_code=row["default_region"],
        language_fallbacks={},
        space_id=row["space_id"],
        model=row["model"],
        calibration=calibration_of(row["model"]),
        partition_id=row["partition_id"],
        dimensions=row["dimensions"],
    )


async def _sample(connection: Connection, scope: Scope, passages: int) -> list[Sampled]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        statement = sql.SQL(SEARCH_SQL["sample"]).format(
            partition_id=sql.Literal(scope.partition_id), or_reserved=sql.SQL("")
        )
        await cursor.execute(statement, scope_parameters(scope) | {"passages": passages})
        return [Sampled(**row) for row in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class _Observed:
    evidence: list[Evidence]
    answerable: list[bool]


async def _observe(
    connection: Connection,
    observer: Observer,
    scope: Scope,
    sampled: Sequence[Sampled],
    questions: Sequence[Labelled] | None,
    progress: Progress,
) -> _Observed:
    observed = _Observed([], [])
    expected = await _expected(connection, scope, questions or ())
    labels = [bool(question.expected) for question in questions or ()]
    made = made_from(sampled, seed=_SEED) if questions is None else _completing(labels, sampled)
    total, done = len(labels) + len(made), 0
    progress(done, total)

    def add(evidence: Sequence[Evidence | None], answerable: Sequence[bool]) -> None:
        nonlocal done
        for each, is_good in zip(evidence, answerable, strict=True):
            if each is not None:
                observed.evidence.append(each)
                observed.answerable.append(is_good)
        done += len(evidence)
        progress(done, total)

    asked = list(questions or ())
    for start in range(0, len(asked), _BATCH):
        some = slice(start, start + _BATCH)
        texts, languages = [each.query for each in asked[some]], [each.language for each in asked[some]]
        add(await observer.asked(texts, languages, expected[some]), labels[some])
    for start in range(0, len(made), _BATCH):
        batch = made[start : start + _BATCH]
        add(await observer.made(batch), [each.answerable for each in batch])
    return observed


def _completing(labels: Sequence[bool], sampled: Sequence[Sampled]) -> list[Made]:
    """What labelled questions lack: those without an answer are seldom written down."""
    return unrelated(sampled) if labels.count(False) < _FEWEST_UNANSWERABLE else []


async def _expected(connection: Connection, scope: Scope, questions: Sequence[Labelled]) -> list[frozenset[UUID]]:
    """The items that each question names. Raises InvalidRequest for one that the organization does not have."""
    names = sorted({name for question in questions for name in question.expected})
    parameters: dict[str, Any] = {"organization_id": scope.organization_id, "external_ids": names}
    cursor = await connection.execute(_SQL["items_named"], parameters)
    items = {name: frozenset(ids) async for name, ids in cursor}
    problems = [
        FieldProblem(f"question {number}: expected", "must name items of the organization")
        for number, question in enumerate(questions, start=1)
        if not set(question.expected) <= items.keys()
    ]
    if problems:
        raise InvalidRequest(problems[:10])
    return [frozenset().union(*(items[name] for name in question.expected)) for question in questions]


def _fitted(report: Report, default: Calibration, observed: _Observed, lost: float) -> Report:
    good, bad = observed.answerable.count(True), observed.answerable.count(False)
    report = replace(report, answerable=good, unanswerable=bad)
    if good < _FEWEST_ANSWERABLE or bad < _FEWEST_UNANSWERABLE:
        needed = f"it takes {_FEWEST_ANSWERABLE} and {_FEWEST_UNANSWERABLE}"
        return replace(report, kept=f"{good} questions with an answer and {bad} without are too few: {needed}")
    held = _NOT_OF_THE_CORPUS if report.made_from == "corpus" else ()
    fitted = fit(observed.evidence, observed.answerable, default, held=held)
    fitted = at_operating_point(fitted, observed.evidence, observed.answerable, lost=lost)
    if "code" in held:
        fitted = with_codes_of(default, fitted)
    after = _figures(fitted, observed)
    report = replace(report, before=_figures(default, observed), after=after)
    if after.refusal.auroc < _LEAST_AUROC:
        return replace(report, kept="questions with an answer cannot be told from those without in this corpus")
    if not fitted.is_sound():
        return replace(report, kept="what was fitted would give passages that are nothing like the question")
    return report


def _figures(calibration: Calibration, observed: _Observed) -> Figures:
    odds, is_good = log_odds(observed.evidence, calibration), np.asarray(observed.answerable, bool)
    return Figures(
        calibration,
        refusal_of(list(odds), observed.answerable),
        lost=float((odds[is_good] < 0).mean()),
        refused=float((odds[~is_good] < 0).mean()),
    )


async def _store(connection: Connection, scope: Scope, report: Report) -> None:
    assert report.after is not None  # noqa: S101 - there is one where none is kept
    stored = StoredCalibration(
        coefficients=Coefficients.of(report.after.calibration),
        made_from=report.made_from,
        answerable=report.answerable,
        unanswerable=report.unanswerable,
        auroc=report.after.refusal.auroc,
        lost=report.after.lost,
        refused=report.after.refused,
        made_at=scope.now,
    )
    parameters = {"organization_id": scope.organization_id, "space_id": scope.space_id}
    value = Jsonb(stored.model_dump(mode="json"))
    await connection.execute(_SQL["store"], parameters | {"calibration": value})
