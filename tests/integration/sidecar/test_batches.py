"""Documents are indexed some at a time: in bounded memory, resumable, and to the same end as all at once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.embeddings.centering import TOLERANCE
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.ingest import indexing, plan
from retrieval_sidecar.ingest.cut import Cut, read_and_cut
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import load_organization
from retrieval_sidecar.ingest.plan import in_batches
from retrieval_sidecar.ingest.reembedding import reembed
from retrieval_sidecar.ingest.stored_centers import recenter
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, value
from tests.support.sidecar import connected, load, running_sidecar, token_for, write_files
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

LOCKERS = [item(f"locker-{n}", f"Locker {n}", f"Locker {n} is on floor {n % 7}.") for n in range(60)]
EVERYTHING = [*items(), *LOCKERS]
DOCUMENTS = len(EVERYTHING) + 3  # instructions
SAMPLES = 224


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "BATCH_DOCUMENTS", 8)


@pytest_asyncio.fixture
async def manage(empty_database: TestDatabase, tmp_path: Path) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """A connection to an organization of which nothing is indexed."""
    async with connected(empty_database, "manage") as connection:
        await load_organization(connection, *write_files(tmp_path, organization(), EVERYTHING))
        yield connection


async def without_vector(database: TestDatabase) -> int:
    """How many passages some complete space lacks."""
    found = await value(
        database,
        "select count(*) from passage p cross join embedding_space e where not e.filling and not exists (select from"
        " passage_vector v where v.passage_id = p.passage_id and v.space_id = e.space_id)",
    )
    return int(found)


async def vectors(database: TestDatabase) -> dict[str, np.ndarray[Any, Any]]:
    async with connected(database, "owner") as connection:
        found = await connection.execute(
            "select p.content, v.embedding from passage p join passage_vector v using (organization_id, passage_id)"
        )
        return {content: embedding.to_numpy() async for content, embedding in found}


def test_batches_are_bounded_by_documents_and_by_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "BATCH_CHARACTERS", 100)
    lengths = [10] * 9 + [60, 50, 1000, 1, 99, 1]
    documents = [(UUID(int=number), length) for number, length in enumerate(lengths)]
    batches = list(in_batches(documents))
    assert [document_id for batch in batches for document_id in batch.document_ids] == [each for each, _ in documents]
    assert [len(batch.document_ids) for batch in batches] == [8, 2, 1, 1, 2, 1]
    assert [batch.characters for batch in batches] == [80, 70, 50, 1000, 100, 1]
    assert list(in_batches([])) == []


async def test_no_more_than_a_batch_is_read_at_once(
    manage: psycopg.AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cuts: list[int] = []

    async def counted(*args: Any, **options: Any) -> Cut:
        cut = await read_and_cut(*args, **options)
        cuts.append(len(cut.documents))
        return cut

    monkeypatch.setattr(indexing, "read_and_cut", counted)
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID)
    assert max(cuts) == 8
    assert sum(cuts) == DOCUMENTS


async def test_in_batches_it_comes_to_what_it_is_at_once(
    empty_database: TestDatabase,
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID)
    monkeypatch.undo()
    await load(database, tmp_path, organization(), EVERYTHING)
    batches, at_once = await vectors(empty_database), await vectors(database)
    assert batches.keys() == at_once.keys()
    assert min(float(batches[content] @ at_once[content]) for content in batches) > 1 - 5 * TOLERANCE**2
    for statement in (
        "select language, passages from language_center order by 1",
        "select c.code, p.content from passage_code c join passage p using (passage_id) order by 1, 2",
        "select p.content, w.words::text from passage_words w join passage p using (passage_id) order by 1",
        "select word, passages from common_word order by 1",
    ):
        assert await rows(empty_database, statement) == await rows(database, statement), statement
    off = await value(
        empty_database,
        "select count(*) from passage p join passage_vector v using (organization_id, passage_id)"
        " join language_center m on m.organization_id = p.organization_id and m.language = p.language"
        " join embedding_cache c on c.organization_id = p.organization_id and c.text_hash = p.text_hash"
        " where v.embedding <=> l2_normalize(c.embedding::vector - m.of_passages)::halfvec > 0.0001",
    )
    assert off == 0


async def test_interrupted_between_batches_what_is_there_answers_and_the_rest_follows(
    empty_database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    embedder = GatedEmbedder()
    embedder.fails_after = SAMPLES + 20
    with pytest.raises(EmbedderUnavailable):
        await index_organization(manage, embedder, ORGANIZATION_ID)
    written = await value(empty_database, "select count(*) from passage")
    assert 0 < written < DOCUMENTS
    assert await without_vector(empty_database) == 0
    ((title, words),) = await rows(
        empty_database,
        "select i.title, p.content from passage p join knowledge_item i using (organization_id, item_id)"
        " join passage_vector v using (organization_id, passage_id) where i.title like 'Locker%%' limit 1",
    )
    token = await token_for(empty_database, ORGANIZATION_ID)
    async with running_sidecar(empty_database, token) as client:
        answer = await (await client.open(OPEN_NUMBER)).search(words)
    assert answer["results"][0]["title"] == title
    embedder.fails_after = None
    assert await index_organization(manage, embedder, ORGANIZATION_ID) == DOCUMENTS
    assert embedder.passages == SAMPLES + DOCUMENTS
    assert await without_vector(empty_database) == 0


async def test_what_passages_have_in_common_is_worked_out_as_they_double(
    manage: psycopg.AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    async def counted(connection: Connection, *args: Any) -> int:
        cursor = await connection.execute("select count(*) from passage")
        sizes.extend(await cursor.fetchone() or ())
        return await recenter(connection, *args)

    monkeypatch.setattr(indexing, "recenter", counted)
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID)
    assert sizes == [8, 24, 56, DOCUMENTS]


async def test_completion_comes_with_the_last_batch(
    empty_database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    seen = []

    async def complete(connection: Connection) -> None:
        cursor = await connection.execute("select count(*) from passage_vector")
        seen.append(await cursor.fetchone())

    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, complete=complete)
    assert seen == [(DOCUMENTS,)]


async def test_a_document_that_changes_in_another_batch_makes_nothing_start_over(
    empty_database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    slow = GatedEmbedder(is_open=False)
    slow.fails_after = 10_000
    running = asyncio.create_task(index_organization(manage, slow, ORGANIZATION_ID))
    await slow.asked.wait()
    # While the first is embedded: it is read again when its own batch comes.
    await rows(
        empty_database,
        "update knowledge_item set content = 'Locker X is nowhere.' where item_id = (select item_id"
        " from knowledge_item order by 1 desc limit 1)",
    )
    slow.gate.set()
    assert await running == DOCUMENTS
    assert await value(empty_database, "select count(*) from passage where content = 'Locker X is nowhere.'") == 1
    assert slow.passages == SAMPLES + DOCUMENTS


async def test_a_new_model_is_given_batches_of_documents_that_are_too_long_for_it(
    empty_database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    old, new = GatedEmbedder("fake-words"), GatedEmbedder("fake-new", 96)
    await index_organization(manage, old, ORGANIZATION_ID)
    new.max_tokens = 12
    await reembed(manage, Embedders(new, old), ORGANIZATION_ID)
    assert await without_vector(empty_database) == 0
    assert await rows(empty_database, "select model, active, filling from embedding_space order by 1") == [
        ("fake-new", True, False),
        ("fake-words", False, False),
    ]
    contents = await rows(
        empty_database,
        "select i.title || '. ' || p.content from passage p join knowledge_item i using (organization_id, item_id)",
    )
    assert max(new.count_tokens(content) for (content,) in contents) <= 12


async def test_a_model_is_given_up_for_one_that_takes_less_at_once(
    empty_database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID)
    new = GatedEmbedder("fake-new", 96)
    new.max_tokens = 12
    await rows(empty_database, "update knowledge_item set content = 'Locker X is nowhere.' where title = 'Locker 7'")
    await index_organization(manage, new, ORGANIZATION_ID, forget=["fake-words"])
    assert await without_vector(empty_database) == 0
    assert await rows(empty_database, "select model, active, filling from embedding_space") == [
        ("fake-new", True, False)
    ]
    assert await value(empty_database, "select count(*) from passage where content = 'Locker X is nowhere.'") == 1


async def test_progress_ends_where_it_said(manage: psycopg.AsyncConnection[Any]) -> None:
    steps: list[tuple[int, int]] = []
    await index_organization(
        manage, FakeEmbedder(), ORGANIZATION_ID, progress=lambda done, total: steps.append((done, total))
    )
    assert steps[-1] == (DOCUMENTS, DOCUMENTS)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert all(done <= total for done, total in steps)
