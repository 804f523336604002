"""A document source is one item: its passages take the place of the old ones when they are there, and not before."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable, NotFound
from retrieval_sidecar.ingest.documents import put_document
from retrieval_sidecar.ingest.indexing import index_organization
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, value
from tests.support.sidecar import connected, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization
from tests.support.sources import new_source, statuses

_ITEM = (
    "select title, content, language, region_code, status, visibility, channels, source_url, source_hash, folder_key"
    " from knowledge_item join folder using (organization_id, folder_id) where source_id = %s"
)


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with connected(database, "manage") as connection:
        yield connection


async def put(
    connection: Connection, source_id: UUID, content: str = "The sauna opens at ten.", **changes: Any
) -> None:
    values: dict[str, Any] = {
        "title": "Handbook",
        "content": content,
        "language": "en",
        "folder_key": "upload:Handbook",
        "source_url": None,
        "content_hash": content.encode(),
    }
    await put_document(connection, ORGANIZATION_ID, source_id, **values | changes)


def ready(source_id: UUID, *, fails: bool = False) -> Callable[[Connection], Awaitable[None]]:
    """What a job does in the end."""

    async def complete(connection: Connection) -> None:
        await connection.execute("update source set status = 'ready' where source_id = %s", [source_id])
        if fails:
            raise EmbedderUnavailable("Told to fail.")

    return complete


async def servable(database: TestDatabase, source_id: UUID) -> list[tuple[str, bool]]:
    found = await rows(
        database,
        "select p.content, v.servable from passage p join knowledge_item i using (organization_id, item_id)"
        " join passage_vector v using (organization_id, passage_id) where i.source_id = %s order by 1",
        [source_id],
    )
    return [(row[0], row[1]) for row in found]


async def test_a_document_is_an_item_that_anybody_may_hear(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id, source_url="https://help.example.com/sauna", folder_key="website:help.example.com")
    assert await rows(database, _ITEM, [source_id]) == [
        (
            "Handbook", "The sauna opens at ten.", "en", "DE", "published", "public", ["phone"],
            "https://help.example.com/sauna", b"The sauna opens at ten.".hex(), "website:help.example.com",
        )
    ]  # fmt: skip


async def test_the_same_document_again_writes_nothing(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    where = "select ctid::text, xmin::text from knowledge_item where source_id = %s"
    before = await rows(database, where, [source_id])
    await put(manage, source_id)
    assert await rows(database, where, [source_id]) == before
    await put(manage, source_id, content_hash=b"another file that says the same")
    assert await rows(database, where, [source_id]) != before


async def test_reading_again_opens_nothing_that_was_closed(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    await rows(
        database,
        "update knowledge_item set status = 'draft', visibility = 'internal', channels = '{chat}', region_code = 'FR',"
        " valid_to = '2026-01-01', open_minutes = '{[0,60)}', deleted_at = now() where source_id = %s",
        [source_id],
    )
    await put(manage, source_id, "The sauna opens at eleven.")
    assert await rows(
        database,
        "select content, status, visibility, channels, region_code, isfinite(valid_to), open_minutes is null,"
        " deleted_at from knowledge_item where source_id = %s",
        [source_id],
    ) == [("The sauna opens at eleven.", "draft", "internal", ["chat"], "FR", True, False, None)]


async def test_a_source_that_is_gone_gets_no_item_and_no_folder(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await rows(database, "delete from source where source_id = %s", [source_id])
    with pytest.raises(NotFound):
        await put(manage, source_id)
    assert await value(database, "select count(*) from folder where folder_key = 'upload:Handbook'") == 0


async def test_a_source_becomes_ready_in_the_transaction_that_brings_its_passages(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    token = await token_for(database, ORGANIZATION_ID)
    with suppress(EmbedderUnavailable):
        await index_organization(
            manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id, complete=ready(source_id, fails=True)
        )
    assert await servable(database, source_id) == []
    assert (await statuses(database))["Handbook"] == "processing"
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    assert await servable(database, source_id) == [("The sauna opens at ten.", True)]
    async with running_sidecar(database, token) as client:
        answer = await (await client.open(OPEN_NUMBER)).search("sauna opens")
    assert answer["results"][0]["title"] == "Handbook"


async def test_without_completion_what_a_source_that_never_was_ready_says_is_not_told(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id)
    assert await servable(database, source_id) == [("The sauna opens at ten.", False)]
    # Nothing is left to embed, and it is completed all the same.
    embedder = GatedEmbedder(is_open=False)
    await index_organization(manage, embedder, ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    assert await servable(database, source_id) == [("The sauna opens at ten.", True)]


async def test_the_old_passages_answer_until_the_new_ones_are_there(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    await put(manage, source_id, "The sauna opens at eleven.")
    slow = GatedEmbedder(is_open=False)
    indexing = asyncio.create_task(
        index_organization(manage, slow, ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    )
    await slow.asked.wait()
    assert await servable(database, source_id) == [("The sauna opens at ten.", True)]
    slow.gate.set()
    await indexing
    assert await servable(database, source_id) == [("The sauna opens at eleven.", True)]


async def test_a_source_that_moves_to_another_folder_is_found_there_at_once(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    await put(manage, source_id, folder_key="upload:Rules")
    assert await rows(
        database,
        "select f.folder_key from passage_vector v join folder f using (organization_id, folder_id)"
        " join knowledge_item i on i.item_key = v.owner_key and not v.is_instruction where i.source_id = %s",
        [source_id],
    ) == [("upload:Rules",)]


async def test_of_two_sources_only_the_one_is_indexed(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    first, second = await new_source(database, "Handbook"), await new_source(database, "Rules")
    await put(manage, first)
    await put(manage, second, "The pool is heated.")
    embedder = GatedEmbedder()
    await index_organization(manage, embedder, ORGANIZATION_ID, source_id=first, complete=ready(first))
    assert embedder.passages == 1
    assert await servable(database, second) == []
    assert await statuses(database) == {"items.jsonl": "ready", "Handbook": "ready", "Rules": "processing"}


async def test_two_sources_of_one_organization_are_indexed_side_by_side(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any]
) -> None:
    first, second = await new_source(database, "Handbook"), await new_source(database, "Rules")
    await put(manage, first)
    await put(manage, second, "The pool is heated.")
    slow, quick = GatedEmbedder(is_open=False), GatedEmbedder()
    slow_one = asyncio.create_task(
        index_organization(manage, slow, ORGANIZATION_ID, source_id=first, complete=ready(first))
    )
    await slow.asked.wait()
    async with connected(database, "manage") as other:
        await index_organization(other, quick, ORGANIZATION_ID, source_id=second, complete=ready(second))
    assert await servable(database, second) == [("The pool is heated.", True)]
    slow.gate.set()
    await slow_one
    assert await servable(database, first) == [("The sauna opens at ten.", True)]
    # Each embedded its own, once: the other's change made neither start over.
    assert (slow.passages, quick.passages) == (1, 1)


async def test_what_a_deleted_source_was_indexed_for_leaves_nothing(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], tmp_path: Path
) -> None:
    source_id = await new_source(database)
    await put(manage, source_id)
    slow = GatedEmbedder(is_open=False)
    indexing = asyncio.create_task(
        index_organization(manage, slow, ORGANIZATION_ID, source_id=source_id, complete=ready(source_id))
    )
    await slow.asked.wait()
    await rows(database, "delete from source where source_id = %s", [source_id])
    slow.gate.set()
    await indexing
    assert await value(database, "select count(*) from passage where content like 'The sauna%%'") == 0
    await load(database, tmp_path, organization(), [*items(), item("bike", "Bicycle", "The bicycle rental.")])
    kept = "select count(*) from embedding_cache where text_hash not in (select text_hash from passage)"
    assert await value(database, kept) == 448  # the language samples
