"""Another model, without a gap: the old space answers until the new one has every passage, and one switch decides."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from retrieval_sidecar.deadline import LONGEST_S
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.errors import ConfigurationError, EmbedderUnavailable
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.reembedding import reembed
from retrieval_sidecar.ingest.spaces import describe_spaces, drop_space, switch_to
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, value
from tests.support.sidecar import Session, connected, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

OLD, NEW = "fake-words", "fake-new"
BICYCLE = item("bike", "Bicycle", "The bicycle rental opens at nine.")


@pytest.fixture
def old() -> GatedEmbedder:
    return GatedEmbedder(OLD)


@pytest.fixture
def new() -> GatedEmbedder:
    """Of another length of vectors."""
    return GatedEmbedder(NEW, 96)


@pytest.fixture
def both(old: GatedEmbedder, new: GatedEmbedder) -> Embedders:
    return Embedders(new, old)


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with connected(database, "manage") as connection:
        yield connection


@pytest_asyncio.fixture
async def call(database: TestDatabase, both: Embedders) -> AsyncIterator[Session]:
    """A call at a sidecar that has both models."""
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID), embedder=both) as client:
        yield await client.open(OPEN_NUMBER)


async def answered_by(call: Session, query: str = "parking garage") -> str | None:
    """The title of the best result; fails the test unless it was found by meaning."""
    answer = await call.search(query)
    assert not answer["degraded"]
    return answer["results"][0]["title"] if answer["results"] else None


async def passages_without_vector(database: TestDatabase, model: str) -> int:
    found = await value(
        database,
        "select count(*) from passage p where not exists (select from passage_vector v join embedding_space e"
        " using (organization_id, space_id) where v.passage_id = p.passage_id and e.model = %s)",
        [model],
    )
    return int(found)


async def test_the_old_space_answers_until_the_new_one_is_complete_and_can_answer_again(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    call: Session,
    both: Embedders,
    old: GatedEmbedder,
    new: GatedEmbedder,
) -> None:
    new.gate.clear()
    moving = asyncio.create_task(reembed(manage, both, ORGANIZATION_ID))
    await new.asked.wait()
    for _ in range(2):
        assert await answered_by(call) == "Parking garage"
    # The first time it did not know yet which model answers; from then on no question is embedded twice.
    assert (old.questions, new.questions) == (2, 1)
    new.gate.set()
    await moving
    assert await answered_by(call, "gift voucher") == "Gift voucher"
    assert await answered_by(call, "card terminal") == "Card terminal"
    questions_of_new = new.questions - 224  # the language samples, as questions
    assert (old.questions, questions_of_new) == (3, 3)
    await switch_to(manage, ORGANIZATION_ID, OLD)
    assert await answered_by(call) == "Parking garage"
    states = await describe_spaces(manage, ORGANIZATION_ID)
    assert [(each.model, each.dimensions, each.active, each.is_complete) for each in states] == [
        (OLD, 64, True, True),
        (NEW, 96, False, True),
    ]


async def test_what_is_loaded_while_the_space_is_filled_is_in_it_when_it_answers(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    call: Session,
    both: Embedders,
    old: GatedEmbedder,
    new: GatedEmbedder,
    tmp_path: Path,
) -> None:
    new.gate.clear()
    moving = asyncio.create_task(reembed(manage, both, ORGANIZATION_ID))
    await new.asked.wait()
    # A process that knows nothing of the new model may load meanwhile: the space is not complete, so it loses nothing.
    await load(database, tmp_path, organization(), [*items(), BICYCLE], old)
    assert await answered_by(call, "bicycle rental opens") == "Bicycle"
    new.gate.set()
    await moving
    assert await passages_without_vector(database, NEW) == 0
    assert await answered_by(call, "bicycle rental opens") == "Bicycle"


async def test_what_is_loaded_later_is_written_to_both_or_not_at_all(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    both: Embedders,
    old: GatedEmbedder,
    new: GatedEmbedder,
    tmp_path: Path,
) -> None:
    await reembed(manage, both, ORGANIZATION_ID, switch=False)
    assert await value(database, "select model from embedding_space where active") == OLD
    await load(database, tmp_path, organization(), [*items(), BICYCLE], both)
    for model in (OLD, NEW):
        assert await passages_without_vector(database, model) == 0
    changed = [item("parking", "Parking garage", "Parking costs nothing now."), *items()[1:], BICYCLE]
    before = await rows(database, "select passage_id from passage order by 1")
    for one in (old, new):
        with pytest.raises(ConfigurationError, match=r"ANSWERLINE_PREVIOUS_EMBEDDER… to it, .*--forget-space"):
            await load(database, tmp_path, organization(), changed, one)
        assert await rows(database, "select passage_id from passage order by 1") == before
    await load(database, tmp_path, organization(), changed, both)
    for model in (OLD, NEW):
        assert await passages_without_vector(database, model) == 0
    assert await rows(database, "select count(*) from passage where content = 'Parking costs nothing now.'") == [(1,)]


async def test_a_space_that_lacks_a_passage_is_not_switched_to(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], both: Embedders, new: GatedEmbedder
) -> None:
    with pytest.raises(ConfigurationError, match="There are no vectors of fake-new"):
        await switch_to(manage, ORGANIZATION_ID, NEW)
    new.fails_after = 0
    with pytest.raises(EmbedderUnavailable):
        await reembed(manage, both, ORGANIZATION_ID)
    with pytest.raises(ConfigurationError, match=r"not complete: 0 of 14 passages .* 0 of 14 texts"):
        await switch_to(manage, ORGANIZATION_ID, NEW)
    with pytest.raises(psycopg.errors.CheckViolation):
        await rows(database, "update embedding_space set active = (model = 'fake-new')")
    new.fails_after = None
    await reembed(manage, both, ORGANIZATION_ID, switch=False)
    await rows(
        database,
        "delete from passage_vector where (space_id, passage_id) = (select e.space_id, min(v.passage_id)"
        " from embedding_space e join passage_vector v using (space_id) where model = 'fake-new' group by 1)",
    )
    with pytest.raises(ConfigurationError, match="13 of 14 passages"):
        await switch_to(manage, ORGANIZATION_ID, NEW)
    await reembed(manage, both, ORGANIZATION_ID)
    assert await value(database, "select model from embedding_space where active") == NEW


async def test_interrupted_it_goes_on_where_it_was(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    both: Embedders,
    old: GatedEmbedder,
    new: GatedEmbedder,
    tmp_path: Path,
) -> None:
    lockers = [item(f"item-{n}", f"Locker {n}", f"Locker number {n} is on floor {n % 7}.") for n in range(68)]
    await load(database, tmp_path, organization(), [*items(), *lockers], old)
    samples = 224
    new.fails_after = samples + 64
    with pytest.raises(EmbedderUnavailable):
        await reembed(manage, both, ORGANIZATION_ID)
    assert new.passages == samples + 64
    (state,) = [each for each in await describe_spaces(manage, ORGANIZATION_ID) if each.model == NEW]
    assert (state.embedded, state.texts, state.vectors, state.filling) == (64, 82, 0, True)
    new.fails_after = None
    steps: list[tuple[int, int]] = []
    await reembed(manage, both, ORGANIZATION_ID, progress=lambda done, total: steps.append((done, total)))
    assert new.passages == samples + 82
    assert steps == [(0, 18), (18, 18)]
    assert old.passages == 68
    await reembed(manage, both, ORGANIZATION_ID)
    assert new.passages == samples + 82


async def test_without_the_model_that_answers_words_are_searched_and_the_log_says_so_once(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], both: Embedders, old: GatedEmbedder
) -> None:
    await reembed(manage, both, ORGANIZATION_ID)
    with capture_logs() as logs:
        async with running_sidecar(database, await token_for(database, ORGANIZATION_ID), embedder=old) as client:
            session = await client.open(OPEN_NUMBER)
            for _ in range(3):
                answer = await session.search("parking garage")
                assert (answer["status"], answer["degraded"]) == ("ok", True)
    told = [entry for entry in logs if entry["event"].startswith("embedding model is not configured")]
    assert [(entry["model"], entry["configured"]) for entry in told] == [(NEW, [OLD])]
    # Once it is known that it would be in vain, nothing is embedded.
    assert old.questions == 1


async def test_what_answers_is_not_dropped_and_what_does_not_goes_once_no_search_can_look_for_it(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], both: Embedders
) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    await reembed(manage, both, ORGANIZATION_ID)
    with pytest.raises(ConfigurationError, match="searched by fake-new"):
        await drop_space(manage, ORGANIZATION_ID, NEW, wait)
    with pytest.raises(ConfigurationError, match="no vectors of nobody's"):
        await drop_space(manage, ORGANIZATION_ID, "nobody's", wait)

    async def switch_back(_seconds: float) -> None:
        await switch_to(manage, ORGANIZATION_ID, OLD)

    with pytest.raises(ConfigurationError, match="or they answer again"):
        await drop_space(manage, ORGANIZATION_ID, OLD, switch_back)
    await switch_to(manage, ORGANIZATION_ID, NEW)
    await drop_space(manage, ORGANIZATION_ID, OLD, wait)
    assert waited == [LONGEST_S, LONGEST_S]
    for table in ("passage_vector", "language_center", "embedding_cache"):
        count = psycopg.sql.SQL("select count(distinct space_id) from {}").format(psycopg.sql.Identifier(table))
        assert await (await manage.execute(count)).fetchone() == (1,), table


async def test_a_model_that_is_no_more_is_given_up_in_the_transaction_that_brings_the_other(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    call: Session,
    new: GatedEmbedder,
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigurationError, match="no vectors of another"):
        await index_organization(manage, new, ORGANIZATION_ID, forget=["another"])
    new.gate.clear()
    moving = asyncio.create_task(index_organization(manage, new, ORGANIZATION_ID, forget=[OLD]))
    await new.asked.wait()
    assert await answered_by(call) == "Parking garage"
    new.gate.set()
    await moving
    assert await answered_by(call) == "Parking garage"
    assert await rows(database, "select model, active, filling from embedding_space") == [(NEW, True, False)]


async def test_documents_are_cut_again_where_a_passage_is_longer_than_the_new_model_takes(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], both: Embedders, new: GatedEmbedder
) -> None:
    long = await value(database, "select passage_id from passage where content like 'The card terminal%%'")
    before = {row[0] for row in await rows(database, "select passage_id from passage")}
    new.max_tokens = 12
    shortest = max(
        new.count_tokens(f"{title}. {content}")
        for title, content in await rows(
            database,
            "select i.title, p.content from passage p join knowledge_item i using (organization_id, item_id)"
            " where p.passage_id <> %s",
            [long],
        )
    )
    assert shortest > 0
    await reembed(manage, both, ORGANIZATION_ID)
    after = {row[0] for row in await rows(database, "select passage_id from passage")}
    assert long not in after
    assert before & after
    assert await passages_without_vector(database, NEW) == await passages_without_vector(database, OLD) == 0
