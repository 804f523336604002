"""The jobs that index what was changed by hand: asked for once, found when they are lost, one at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, LiteralString

import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar.content.fields import etag_of
from retrieval_sidecar.content.instructions import (
    Instruction,
    InstructionFields,
    InstructionLimits,
    create_instruction,
    find_instruction,
    update_instruction,
)
from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.ingest import indexing
from retrieval_sidecar.jobs.documents import index_documents
from retrieval_sidecar.jobs.process import MOST_DEATHS, Again
from retrieval_sidecar.jobs.queue import JobQueue, lock_of_documents
from retrieval_sidecar.jobs.worker import Pace, sweep, work
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, until, value
from tests.support.jobs import workshop
from tests.support.sidecar import connected
from tests.support.small_organization import ORGANIZATION_ID

QUEUES_OWN: LiteralString = "set search_path = jobs, public"  # its functions name their tables without the schema
QUICK = Pace(heartbeat=0.2, stalled=60, sweep=60, poll=0.1, grace=0)
Connection = psycopg.AsyncConnection[Any]


@pytest_asyncio.fixture
async def connection(database: TestDatabase) -> AsyncIterator[Connection]:
    async with connected(database, "manage") as connection:
        yield connection


async def written(connection: Connection, database: TestDatabase, content: str = "Say sorry first.") -> Instruction:
    directory_id = await value(database, "select directory_id from instruction_directory where name = 'Rules'")
    fields = InstructionFields("Complaints", content, directory_id, "en", "published")
    return await create_instruction(connection, ORGANIZATION_ID, fields, InstructionLimits())


async def again(connection: Connection, instruction: Instruction) -> Instruction:
    return await find_instruction(connection, ORGANIZATION_ID, instruction.instruction_id)


async def jobs(database: TestDatabase) -> list[tuple[Any, ...]]:
    return await rows(
        database, "select queue_name, task_name, lock, status::text, priority from jobs.procrastinate_jobs order by id"
    )


@asynccontextmanager
async def working(database: TestDatabase, embedder: Embedder | None = None) -> AsyncIterator[None]:
    """A worker beside the test; it has stopped when the block is left."""
    stop = asyncio.Event()
    async with JobQueue(database.url("manage"), connections=4) as queue:
        task = asyncio.create_task(work(queue, workshop(database, embedder), stop, pace=QUICK))
        try:
            yield
        finally:
            stop.set()
            await task


async def test_what_is_asked_for_is_done_and_asked_for_once_while_it_waits(
    database: TestDatabase, connection: Connection
) -> None:
    instruction = await written(connection, database)
    assert not instruction.is_indexed
    async with JobQueue(database.url("manage")) as queue:
        for _ in range(3):
            await queue.request_documents(ORGANIZATION_ID)
    lock = lock_of_documents(ORGANIZATION_ID)
    assert await jobs(database) == [("documents", "index_documents", lock, "todo", 0)]

    async def is_indexed() -> bool | None:
        return (await again(connection, instruction)).is_indexed or None

    async with working(database):
        await until(is_indexed, seconds=30)
    assert await value(database, "select count(*) from waiting_document") == 0


async def test_what_waits_without_a_job_is_found(database: TestDatabase, connection: Connection) -> None:
    instruction = await written(connection, database)
    async with JobQueue(database.url("manage")) as queue:
        for _ in range(2):
            await sweep(queue)
        assert [each[1] for each in await jobs(database)] == ["index_documents"]
    # What was given up is left alone until it changes.
    await rows(database, f"{QUEUES_OWN}; update procrastinate_jobs set status = 'failed'")
    await rows(database, "update waiting_document set is_waiting = false, error_code = 'x', error = 'y'")
    async with JobQueue(database.url("manage")) as queue:
        await sweep(queue)
    assert [each[3] for each in await jobs(database)] == ["failed"]
    given_up = await again(connection, instruction)
    assert (given_up.is_indexed, given_up.error) == (False, "y")


async def test_a_job_of_a_worker_that_died_goes_on_and_has_an_end(
    database: TestDatabase, connection: Connection
) -> None:
    instruction = await written(connection, database)
    async with JobQueue(database.url("manage")) as queue:
        await queue.request_documents(ORGANIZATION_ID, deaths=3)
        await rows(database, f"{QUEUES_OWN}; update procrastinate_jobs set status = 'doing'")
        await sweep(queue)
    found = await rows(
        database, "select status::text, (args ->> 'deaths')::int from jobs.procrastinate_jobs order by id"
    )
    assert found == [("aborted", 3), ("todo", 4)]
    assert await index_documents(workshop(database), ORGANIZATION_ID, deaths=MOST_DEATHS + 1) is None
    dead = await again(connection, instruction)
    assert (dead.error_code, dead.is_indexed) == ("worker_died", False)


async def test_two_at_once_are_one(database: TestDatabase, connection: Connection) -> None:
    await written(connection, database)
    embedder = GatedEmbedder(is_open=False)
    first = asyncio.create_task(index_documents(workshop(database, embedder), ORGANIZATION_ID))
    await embedder.asked.wait()
    second = await index_documents(workshop(database), ORGANIZATION_ID, failures=2)
    assert isinstance(second, Again)
    assert second.failures == 2
    embedder.gate.set()
    assert await first is None
    assert embedder.passages == 1


async def test_a_stopped_worker_puts_it_back(database: TestDatabase, connection: Connection) -> None:
    await written(connection, database)
    embedder = GatedEmbedder(is_open=False)
    async with JobQueue(database.url("manage")) as queue:
        await queue.request_documents(ORGANIZATION_ID)
    async with working(database, embedder):
        await embedder.asked.wait()
    assert [each[3] for each in await jobs(database) if each[3] == "todo"] == ["todo"]


async def test_an_unforeseen_error_is_told_without_what_was_written(
    database: TestDatabase, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("sentinel")

    instruction = await written(connection, database)
    monkeypatch.setattr(indexing, "make_plan", fail)
    assert await index_documents(workshop(database), ORGANIZATION_ID) == Again(5, 1)
    assert await index_documents(workshop(database), ORGANIZATION_ID, failures=2) is None
    failed = await again(connection, instruction)
    assert failed.error_code == "internal_error"
    assert failed.error is not None
    assert "sentinel" not in failed.error


async def test_of_a_large_organization_a_few_edits_leave_what_all_have_in_common(
    database: TestDatabase, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forbidden(*_: Any, **__: Any) -> int:
        raise AssertionError("reads all passages")

    centers = "select language, passages from language_center order by 1"
    before = await rows(database, centers)
    monkeypatch.setattr(indexing, "_MANY", 10)
    monkeypatch.setattr(indexing, "_OFF_BY", 0.1)
    instruction = await written(connection, database)
    with monkeypatch.context() as patched:
        patched.setattr(indexing, "recenter", forbidden)
        assert await index_documents(workshop(database), ORGANIZATION_ID) is None
    assert (await again(connection, instruction)).is_indexed
    assert await rows(database, centers) == before
    # More and more of them: then it is worked out again.
    for number in range(3):
        await written(connection, database, f"Another rule, number {number}.")
    assert await index_documents(workshop(database), ORGANIZATION_ID) is None
    assert await rows(database, centers) != before


async def test_the_state_is_of_what_can_be_changed(database: TestDatabase, connection: Connection) -> None:
    instruction = await written(connection, database)
    assert await index_documents(workshop(database), ORGANIZATION_ID) is None
    after = await again(connection, instruction)
    assert (after.etag, after.is_indexed, instruction.is_indexed) == (instruction.etag, True, False)
    changed = {
        "title": "Other",
        "content": "Other.",
        "language": "de",
        "status": "draft",
        "dynamic": True,
        "segments": ["members"],
        "directory_id": await value(database, "select directory_id from instruction_directory where name = 'Returns'"),
    }
    seen = {after.etag}
    for name, new in changed.items():
        fields = InstructionFields(**{name: new})
        _, after = await update_instruction(
            connection, ORGANIZATION_ID, instruction.instruction_id, fields, InstructionLimits(), etag=after.etag
        )
        seen.add(after.etag)
    assert len(seen) == len(changed) + 1
    assert etag_of({"a": 1}) != etag_of({"a": "1"})
