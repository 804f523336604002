"""`retrieval-sidecar calibrate` on a real database: what it stores, for whom, and that the search uses it."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb
from structlog.testing import capture_logs

from retrieval_sidecar.calibration.questions import Labelled, read_questions
from retrieval_sidecar.calibration.run import Wanted, calibrate
from retrieval_sidecar.calibration.stored import Coefficients, StoredCalibration
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import InvalidRequest, NotFound
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.scope.resolve import Scope, scope_of_agent
from retrieval_sidecar.search.relevance import calibration_of
from tests.support.database import TestDatabase, clone
from tests.support.extended_organization import foreign_items, foreign_organization
from tests.support.sidecar import TestClock, connected, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, agent, item, organization

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
DEFAULT = calibration_of("fake-words")
SOME = Wanted(passages=80)
Connection = psycopg.AsyncConnection[TupleRow]


def described(number: int) -> dict[str, Any]:
    """An item that says the same things in each of its sentences, and that no other item says."""
    lamp, wood, shelf, tool, guest = (f"{stem}{chr(97 + number // 26)}{chr(97 + number % 26)}" for stem in STEMS)
    return item(
        f"item-{number}",
        f"{lamp} {wood} {shelf}",
        f"{lamp} {wood} stands beside {shelf} {tool}. {guest} keeps {lamp} near {wood} {shelf}."
        f" Below {shelf} lies {tool} {lamp} {wood}.",
    )


STEMS = ("lamp", "wood", "shelf", "tool", "guest")


@pytest_asyncio.fixture
async def warehouse(postgres: LocalServer, empty_template: str, tmp_path: Path) -> AsyncIterator[TestDatabase]:
    """An organization large enough to be calibrated, and another one."""
    with clone(postgres, empty_template) as database:
        await load(
            database,
            tmp_path,
            organization(agents=[agent("open", 1, OPEN_NUMBER)]),
            [described(number) for number in range(50)],
        )
        await load(database, tmp_path, foreign_organization(), foreign_items())
        yield database


async def stored_of(connection: Connection, organization_id: UUID) -> Any:
    cursor = await connection.execute(
        "select calibration from embedding_space where organization_id = %s and active", [organization_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    return row[0]


async def put(connection: Connection, organization_id: UUID, value: Any) -> None:
    await connection.execute(
        "update embedding_space set calibration = %s where organization_id = %s", [Jsonb(value), organization_id]
    )


def stored(**changes: float) -> Any:
    """A valid value with other coefficients."""
    made = StoredCalibration(
        coefficients=Coefficients.of(DEFAULT).model_copy(update=changes),
        made_from="questions",
        answerable=20,
        unanswerable=20,
        auroc=0.9,
        lost=0.05,
        refused=0.8,
        made_at=NOW,
    )
    return made.model_dump(mode="json")


async def scope_of(database: TestDatabase, organization_id: UUID) -> Scope:
    async with connected(database, "voice") as connection:
        cursor = await connection.execute(
            "select agent_id from phone_agent where organization_id = %s limit 1", [organization_id]
        )
        row = await cursor.fetchone()
        assert row is not None
        return await scope_of_agent(organization_id, row[0], None, connection, NOW)


async def test_what_is_made_of_the_corpus_is_stored_and_searched_with(warehouse: TestDatabase) -> None:
    assert (await scope_of(warehouse, ORGANIZATION_ID)).calibration == DEFAULT
    async with connected(warehouse, "manage") as connection:
        statuses: list[TransactionStatus] = []
        report = await calibrate(
            connection,
            FakeEmbedder(),
            ORGANIZATION_ID,
            SOME,
            now=NOW,
            progress=lambda _done, _total: statuses.append(connection.info.transaction_status),
        )
        value = await stored_of(connection, ORGANIZATION_ID)
        foreign = await stored_of(connection, UUID(foreign_organization()["organization"]["id"]))
    assert report.kept is None
    assert report.after is not None
    assert report.after.lost <= 0.05
    assert set(statuses) == {TransactionStatus.IDLE}, "no transaction is held while questions are asked"
    read = StoredCalibration.model_validate(value)
    assert (read.made_from, read.answerable, read.unanswerable) == ("corpus", report.answerable, report.unanswerable)
    assert (
        (await scope_of(warehouse, ORGANIZATION_ID)).calibration
        == report.after.calibration
        == read.calibration("fake-words")
    )
    assert foreign is None, "another organization keeps its own"


async def test_the_same_corpus_gives_the_same_calibration(warehouse: TestDatabase) -> None:
    async with connected(warehouse, "manage") as connection:
        first, second = [await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, SOME, now=NOW) for _ in range(2)]
    assert first == second


async def test_it_never_reads_what_another_organization_has(warehouse: TestDatabase) -> None:
    async with connected(warehouse, "manage") as connection:
        before = await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, SOME, now=NOW, store=False)
        await connection.execute("delete from passage where organization_id <> %s", [ORGANIZATION_ID])
        assert await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, SOME, now=NOW, store=False) == before


async def test_labelled_questions_are_fitted_on(warehouse: TestDatabase) -> None:
    asked = [f"where is {row['title']} and its tool" for row in map(described, range(30))]
    questions = [Labelled(query=text, expected=[f"item-{number}"]) for number, text in enumerate(asked)]
    questions += [Labelled(query=f"who painted picture number {number}", expected=[]) for number in range(15)]
    nowhere = Labelled(query="a question", expected=["nowhere"])
    async with connected(warehouse, "manage") as connection:
        report = await calibrate(
            connection, FakeEmbedder(), ORGANIZATION_ID, Wanted(questions, lost=0.1), now=NOW, store=False
        )
        assert await stored_of(connection, ORGANIZATION_ID) is None, "nothing was to be stored"
        with pytest.raises(InvalidRequest) as refused:
            await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, Wanted([nowhere]))
    assert report.made_from == "questions"
    assert (report.answerable, report.unanswerable, report.kept) == (30, 15, None)
    assert refused.value.problems[0].field == "question 1: expected"


@pytest.mark.parametrize("count", [0, 1, 5])
async def test_too_small_a_corpus_keeps_the_models_own(
    empty_database: TestDatabase, tmp_path: Path, count: int
) -> None:
    few = [item(f"i{n}", f"Title number {n}", f"Something about subject {n}. And more of it.") for n in range(count)]
    await load(empty_database, tmp_path, organization(instructions=[], agents=[]), few)
    async with connected(empty_database, "manage") as connection:
        report = await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, now=NOW)
        assert report.kept is not None
        cursor = await connection.execute("select calibration from embedding_space")
        assert {row[0] for row in await cursor.fetchall()} <= {None}


async def test_a_corpus_of_one_text_keeps_the_models_own(empty_database: TestDatabase, tmp_path: Path) -> None:
    same = [item(f"i{n}", "Opening hours of the shop", "We open at nine. We close at six.") for n in range(60)]
    await load(empty_database, tmp_path, organization(instructions=[], agents=[]), same)
    async with connected(empty_database, "manage") as connection:
        report = await calibrate(connection, FakeEmbedder(), ORGANIZATION_ID, now=NOW)
    assert report.kept is not None


async def test_an_organization_or_a_model_that_is_not_there(warehouse: TestDatabase) -> None:
    class Another(FakeEmbedder):
        model = "another"

    async with connected(warehouse, "manage") as connection:
        with pytest.raises(NotFound):
            await calibrate(connection, FakeEmbedder(), UUID(int=9))
        report = await calibrate(connection, Another(), ORGANIZATION_ID)
    assert report.kept == "what is stored was embedded by fake-words, which is not configured here"


async def test_a_search_decides_by_what_is_stored(database: TestDatabase) -> None:
    async with (
        connected(database, "owner") as connection,
        running_sidecar(database, await token_for(database, ORGANIZATION_ID), clock=TestClock()) as voice,
    ):
        session = await voice.open(OPEN_NUMBER)
        question = "parking in the garage"
        assert (await session.search(question))["status"] == "ok"
        # Still given what is the question itself, and nothing less.
        await put(connection, ORGANIZATION_ID, stored(intercept=-7.9))
        assert (await session.search(question))["status"] == "no_match"
        await put(connection, ORGANIZATION_ID, stored())
        assert (await session.search(question))["status"] == "ok"


@pytest.mark.parametrize(
    "broken",
    [
        "text",
        [],
        {},
        {"coefficients": {}},
        stored(intercept=5.0),
        stored(meaning=-1.0),
        stored(intercept=-500.0),
        stored() | {"unknown": 1},
        stored() | {"coefficients": stored()["coefficients"] | {"meaning": "many"}},
        stored() | {"coefficients": stored()["coefficients"] | {"meaning": 10**400}},
        stored() | {"made_at": "sentinel-value"},
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_broken_value_neither_stops_searches_nor_opens_the_gate(database: TestDatabase, broken: Any) -> None:
    async with connected(database, "owner") as connection:
        await put(connection, ORGANIZATION_ID, broken)
    with capture_logs() as logs:
        scope = await scope_of(database, ORGANIZATION_ID)
    assert scope.calibration == DEFAULT
    (entry,) = logs
    assert entry["organization_id"] == str(ORGANIZATION_ID)
    assert entry.keys() == {"event", "log_level", "organization_id", "space_id"}
    assert "sentinel" not in str(entry)


def test_labelled_questions_are_read_and_bad_lines_named(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    lines: list[Any] = [{"query": "when?", "language": "en", "expected": ["a"]}, {"query": "why?", "expected": []}]
    file.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [(each.query, each.language, each.expected) for each in read_questions(file)] == [
        ("when?", "en", ["a"]),
        ("why?", None, []),
    ]
    bad = ["{", json.dumps({"query": "x"}), json.dumps({"query": " ", "expected": []}), json.dumps(lines[0]), "[]"]
    file.write_text("\n".join(bad), encoding="utf-8")
    with pytest.raises(InvalidRequest) as refused:
        read_questions(file)
    assert [problem.field for problem in refused.value.problems] == [
        "line 1: line",
        "line 2: expected",
        "line 3: query",
        "line 5: line",
    ]
