"""One change of an organization at a time: two at once would each miss the other's rows. Interleaved by locks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest_asyncio

from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import load_organization
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sql import load as load_sql
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, until, value
from tests.support.sidecar import connected, load, running_sidecar, token_for, write_files
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

_SQL = load_sql("retrieval_sidecar.ingest")
BICYCLE = item("bike", "Bicycle", "The bicycle rental opens at nine.")
Connection = psycopg.AsyncConnection[Any]


@pytest_asyncio.fixture
async def first(database: TestDatabase) -> AsyncIterator[Connection]:
    async with connected(database, "manage") as connection:
        yield connection


@pytest_asyncio.fixture
async def second(database: TestDatabase) -> AsyncIterator[Connection]:
    async with connected(database, "manage") as connection:
        yield connection


@asynccontextmanager
async def locked(database: TestDatabase, table: LiteralString) -> AsyncIterator[None]:
    """Nobody writes to a table meanwhile."""
    async with connected(database, "owner") as connection, connection.transaction():
        await connection.execute(
            psycopg.sql.SQL("lock table {} in exclusive mode").format(psycopg.sql.Identifier(table))
        )
        yield


async def waiting(database: TestDatabase, count: int) -> None:
    """Until so many connections wait for a lock."""

    async def found() -> bool | None:
        blocked = await rows(
            database,
            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            role="superuser",
        )
        return len(blocked) >= count or None

    await until(found, seconds=30)


async def servable(database: TestDatabase, title: str) -> list[tuple[bool, list[int] | None]]:
    """What the search reads of an item's passages."""
    found = await rows(
        database,
        "select v.servable, v.segment_ids from passage_vector v join passage p using (organization_id, passage_id)"
        " join knowledge_item i using (organization_id, item_id) where i.title = %s",
        [title],
    )
    return [(row[0], row[1]) for row in found]


async def test_what_is_closed_while_its_passages_wait_to_be_written_is_written_closed(
    database: TestDatabase, first: Connection, second: Connection, tmp_path: Path
) -> None:
    await load_organization(first, *write_files(tmp_path, organization(), [*items(), BICYCLE]))
    async with change(first, ORGANIZATION_ID):
        await first.execute("update knowledge_item set status = 'draft' where title = 'Bicycle'")
        await first.execute(_SQL["refresh_facts"], {"organization_id": ORGANIZATION_ID})
        indexing = asyncio.create_task(index_organization(second, FakeEmbedder(), ORGANIZATION_ID))
        await waiting(database, 1)
    await indexing
    assert await servable(database, "Bicycle") == [(False, None)]


async def test_what_is_closed_while_its_passages_are_being_written_is_closed(
    database: TestDatabase, first: Connection, second: Connection, tmp_path: Path
) -> None:
    bicycle = BICYCLE | {"content": "The bicycle rental opens with BIKE-7-X."}
    await load_organization(first, *write_files(tmp_path, organization(), [*items(), bicycle]))
    async with locked(database, "passage_code"):
        # It has written the passages and their words, and nobody sees them yet.
        indexing = asyncio.create_task(index_organization(second, FakeEmbedder(), ORGANIZATION_ID))
        await waiting(database, 1)
        changed = [*items(), bicycle | {"segments": ["staff"], "visibility": "internal"}]
        closing = asyncio.create_task(
            load_organization(first, *write_files(tmp_path / "closed", organization(), changed))
        )
        await waiting(database, 2)
    await asyncio.gather(indexing, closing)
    staff = await value(database, "select segment_id from segment where key = 'staff'")
    assert await servable(database, "Bicycle") == [(False, [staff])]


async def test_two_loads_of_one_organization_take_turns_and_calls_go_on(
    database: TestDatabase, first: Connection, second: Connection, tmp_path: Path
) -> None:
    token = await token_for(database, ORGANIZATION_ID)
    async with connected(database, "manage") as third, running_sidecar(database, token) as client:
        async with change(first, ORGANIZATION_ID):
            # In opposite orders, which would be a deadlock if each took the rows of its items as it came to them.
            loads = [
                asyncio.create_task(load_organization(connection, *write_files(tmp_path / name, organization(), lines)))
                for connection, name, lines in ((second, "a", items()), (third, "b", items()[::-1]))
            ]
            await waiting(database, 2)
            session = await client.open(OPEN_NUMBER)
            assert (await session.search("parking garage"))["status"] == "ok"
            assert (await session.end()).status == 200
        loaded = await asyncio.gather(*loads)
    assert [each.items for each in loaded] == [len(items())] * 2


async def test_two_first_loads_of_an_organization_are_as_good_as_one(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    async def load_first(name: str) -> None:
        (tmp_path / name).mkdir()
        await load(empty_database, tmp_path / name, organization(), items())

    async with locked(empty_database, "contact"):
        loads = [asyncio.create_task(load_first(name)) for name in ("a", "b")]
        # One for the table, the other for the one.
        await waiting(empty_database, 2)
    await asyncio.gather(*loads)
    assert await value(empty_database, "select count(*) from knowledge_item") == len(items())
    assert await value(empty_database, "select count(*) from passage") == len(items()) + 3
    assert await rows(empty_database, "select active, filling from embedding_space") == [(True, False)]


async def test_what_was_embedded_of_a_document_that_says_something_else_by_now_is_not_written(
    database: TestDatabase, first: Connection, tmp_path: Path
) -> None:
    slow = GatedEmbedder(is_open=False)
    await load_organization(first, *write_files(tmp_path / "old", organization(), [*items(), BICYCLE]))
    indexing = asyncio.create_task(index_organization(first, slow, ORGANIZATION_ID))
    await slow.asked.wait()
    newer = BICYCLE | {"content": "The bicycle rental opens at ten."}
    await load(database, tmp_path, organization(), [*items(), newer])
    slow.gate.set()
    await indexing
    assert await rows(
        database, "select p.content from passage p join knowledge_item i using (item_id) where i.title = 'Bicycle'"
    ) == [("The bicycle rental opens at ten.",)]
    assert await value(database, "select count(*) from passage") == await value(
        database, "select count(*) from passage_vector"
    )


async def test_two_who_index_the_same_documents_write_them_once(
    database: TestDatabase, first: Connection, second: Connection, tmp_path: Path
) -> None:
    await load_organization(first, *write_files(tmp_path, organization(), [*items(), BICYCLE]))
    async with locked(database, "passage_vector"):
        indexing = [
            asyncio.create_task(index_organization(connection, FakeEmbedder(), ORGANIZATION_ID))
            for connection in (first, second)
        ]
        await waiting(database, 2)
    counts = await asyncio.gather(*indexing)
    assert counts == [len(items()) + 4] * 2
    assert await value(database, "select count(*) from passage_vector") == len(items()) + 4
