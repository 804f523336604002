"""Workers on the queue: turns, what is lost and found again, and how they stop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.jobs import worker
from retrieval_sidecar.jobs.process import Again
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.jobs.worker import Pace, sweep, work
from retrieval_sidecar.sources import sources
from tests.support.added import FIRST, SECOND, a_base, a_source, organizations
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, until, value
from tests.support.jobs import workshop
from tests.support.sidecar import connected

QUICK = Pace(heartbeat=0.2, stalled=60, sweep=60, poll=0.1, grace=0)


@pytest_asyncio.fixture
async def connection(empty_database: TestDatabase) -> AsyncIterator[Connection]:
    await organizations(empty_database, FIRST, SECOND)
    async with connected(empty_database, "manage") as connection:
        yield connection


@pytest_asyncio.fixture
async def queue(empty_database: TestDatabase, connection: Connection) -> AsyncIterator[JobQueue]:
    async with JobQueue(empty_database.url("manage")) as queue:
        yield queue


@asynccontextmanager
async def working(
    database: TestDatabase, embedder: Embedder | None = None, *, concurrency: int = 2, pace: Pace = QUICK
) -> AsyncIterator[None]:
    """A worker beside the test; it has stopped when the block is left."""
    stop = asyncio.Event()
    async with JobQueue(database.url("manage"), connections=4) as queue:
        task = asyncio.create_task(work(queue, workshop(database, embedder), stop, concurrency=concurrency, pace=pace))
        try:
            yield
        finally:
            stop.set()
            await task


async def jobs(database: TestDatabase) -> list[tuple[Any, ...]]:
    return await rows(
        database, "select (args->>'source_id')::uuid, status::text, priority from jobs.procrastinate_jobs order by id"
    )


async def all_done(database: TestDatabase) -> None:
    async def idle() -> bool | None:
        waiting = await value(
            database,
            "select (select count(*) from source where is_processing)"
            " + (select count(*) from jobs.procrastinate_jobs where status in ('todo', 'doing'))",
        )
        return waiting == 0 or None

    await until(idle, seconds=30)


async def test_what_is_asked_for_is_done_and_asked_for_once_while_it_waits(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    for _ in range(3):
        await queue.request(FIRST, source.source_id)
    assert await jobs(empty_database) == [(source.source_id, "todo", 0)]
    assert not await queue.has_worker()
    async with working(empty_database):
        await all_done(empty_database)
        assert await queue.has_worker()
    assert not await queue.has_worker()
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"


async def test_organizations_take_turns_however_much_one_has_waiting(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue, monkeypatch: Any
) -> None:
    order: list[UUID] = []

    async def processed(_workshop: object, organization_id: UUID, source_id: UUID, **_past: int) -> Again | None:
        order.append(organization_id)
        await rows(empty_database, "update source set is_processing = false where source_id = %s", [source_id])
        return None

    monkeypatch.setattr(worker, "process_source", processed)
    bases = {organization: await a_base(connection, organization) for organization in (FIRST, SECOND)}
    for organization, count in ((FIRST, 4), (SECOND, 2)):
        for number in range(count):
            source = await a_source(
                connection, bases[organization], name=f"{number}", organization_id=organization, kind="text"
            )
            await queue.request(organization, source.source_id)
    async with working(empty_database, concurrency=1):
        await all_done(empty_database)
    assert order == [FIRST, SECOND, FIRST, SECOND, FIRST, FIRST]


async def test_a_job_that_was_far_back_moves_up_with_the_sweep(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    base_id = await a_base(connection)
    ids = []
    for number in range(4):
        source = await a_source(connection, base_id, name=f"{number}")
        await queue.request(FIRST, source.source_id)
        ids.append(source.source_id)
    assert [priority for *_, priority in await jobs(empty_database)] == [0, -1, -2, -3]
    for (job_id,) in await rows(empty_database, "select id from jobs.procrastinate_jobs where priority > -2"):
        await queue.app.job_manager.cancel_job_by_id_async(job_id, delete_job=True)
    await rows(empty_database, "update source set is_processing = false where name < '2'")
    await sweep(queue)
    assert await jobs(empty_database) == [(ids[2], "todo", 0), (ids[3], "todo", -1)]


async def test_a_source_that_waits_without_a_job_gets_one(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await sweep(queue)
    await sweep(queue)
    assert await jobs(empty_database) == [(source.source_id, "todo", 0)]


async def test_what_is_asked_for_again_does_not_wait_out_a_pause(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id, failures=5, in_s=3600)
    await queue.request(FIRST, source.source_id, failures=6, in_s=3600)
    assert await value(empty_database, "select args->>'failures' from jobs.procrastinate_jobs") == "5"
    assert await value(empty_database, "select scheduled_at > now() from jobs.procrastinate_jobs")
    await queue.request(FIRST, source.source_id)
    assert await value(empty_database, "select args->>'failures' from jobs.procrastinate_jobs") == "0"
    assert await value(empty_database, "select scheduled_at is null from jobs.procrastinate_jobs")


async def test_a_job_of_a_worker_that_died_is_taken_up_once(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    manager = queue.app.job_manager
    dead = await manager.register_worker()
    assert await manager.fetch_job(queues=None, worker_id=dead) is not None
    await sweep(queue)
    assert [status for _, status, _ in await jobs(empty_database)] == ["doing"]  # it may well be alive
    await rows(empty_database, "update jobs.procrastinate_workers set last_heartbeat = now() - interval '1 minute'")
    await queue.request(FIRST, source.source_id)  # and somebody has asked for it meanwhile
    await asyncio.gather(sweep(queue), sweep(queue))
    assert [status for _, status, _ in await jobs(empty_database)] == ["aborted", "todo"]
    async with working(empty_database):
        await all_done(empty_database)
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"


async def test_each_death_is_counted(empty_database: TestDatabase, connection: Connection, queue: JobQueue) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id, failures=2)
    dead = await queue.app.job_manager.register_worker()
    await queue.app.job_manager.fetch_job(queues=None, worker_id=dead)
    await queue.app.job_manager.unregister_worker(dead)
    await sweep(queue)
    assert await value(
        empty_database,
        "select array[args->>'failures', args->>'deaths'] from jobs.procrastinate_jobs where status = 'todo'",
    ) == ["2", "1"]


async def test_a_worker_that_is_told_to_stop_puts_back_what_it_has_not_finished(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    embedder = GatedEmbedder(is_open=False)
    async with working(empty_database, embedder):
        await asyncio.wait_for(embedder.asked.wait(), 30)
    assert [status for _, status, _ in await jobs(empty_database)] == ["aborted", "todo"]
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "processing"
    async with working(empty_database):
        await all_done(empty_database)
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"


async def test_a_worker_that_is_told_to_stop_ends_what_it_can(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    embedder = GatedEmbedder(is_open=False)
    async with working(empty_database, embedder, pace=Pace(poll=0.1, grace=30)):
        await asyncio.wait_for(embedder.asked.wait(), 30)
        asyncio.get_running_loop().call_later(0.1, embedder.gate.set)
    assert [status for _, status, _ in await jobs(empty_database)] == ["succeeded"]
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"


class Crowd(GatedEmbedder):
    """Counts how many ask at the same time."""

    def __init__(self) -> None:
        super().__init__(is_open=False)
        self.now = self.most = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().embed_passages(texts)
        finally:
            self.now -= 1


async def test_so_many_sources_are_worked_on_at_once_and_no_more(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    base_id = await a_base(connection)
    for number in range(4):
        source = await a_source(connection, base_id, f"Text number {number}.", name=f"{number}", kind="text")
        await queue.request(FIRST, source.source_id)
    embedder = Crowd()

    async def both() -> bool | None:
        await asyncio.sleep(0)
        return embedder.now == 2 or None

    async with working(empty_database, embedder, concurrency=2):
        await until(both, seconds=30)
        embedder.gate.set()
        await all_done(empty_database)
    assert embedder.most == 2


async def test_a_job_that_fails_for_now_is_a_job_for_later(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    embedder = GatedEmbedder()
    embedder.fails_after = 0

    async def later() -> bool | None:
        found = await rows(
            empty_database,
            "select args->>'failures', scheduled_at > now() from jobs.procrastinate_jobs where status = 'todo'",
        )
        return found == [("1", True)] or None

    async with working(empty_database, embedder):
        await until(later, seconds=30)
        embedder.fails_after = None
        await queue.request(FIRST, source.source_id)
        await all_done(empty_database)
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"


async def test_old_jobs_are_deleted(empty_database: TestDatabase, connection: Connection, queue: JobQueue) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    async with working(empty_database):
        await all_done(empty_database)
    await sweep(queue)
    assert len(await jobs(empty_database)) == 1
    await rows(empty_database, "update jobs.procrastinate_events set at = at - interval '25 hours'")
    await sweep(queue)
    assert await jobs(empty_database) == []


async def test_a_worker_outlives_the_connections_that_it_had(
    empty_database: TestDatabase, connection: Connection, queue: JobQueue
) -> None:
    source = await a_source(connection, await a_base(connection))
    await queue.request(FIRST, source.source_id)
    embedder = GatedEmbedder(is_open=False)
    async with working(empty_database, embedder, pace=Pace(heartbeat=0.2, stalled=2, sweep=0.5, poll=0.1, grace=0)):
        await asyncio.wait_for(embedder.asked.wait(), 30)
        await rows(
            empty_database,
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and usename = 'answerline_manage'",
            role="superuser",
        )
        embedder.gate.set()
        await all_done(empty_database)
    async with connected(empty_database, "manage") as fresh:
        assert (await sources.find_source(fresh, FIRST, source.source_id)).status == "ready"
