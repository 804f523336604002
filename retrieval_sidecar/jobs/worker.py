"""A process that works on the queue until it is told to stop."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status

from retrieval_sidecar.errors import Unavailable
from retrieval_sidecar.jobs.documents import index_documents
from retrieval_sidecar.jobs.process import Workshop, process_source
from retrieval_sidecar.jobs.queue import DOCUMENTS, DOCUMENTS_TASK, QUEUES, SOURCE_TASK, SOURCES, JobQueue
from retrieval_sidecar.metrics import INGEST_LAG, INGEST_OLDEST, JOBS

_KEPT_HOURS = 24
_GRACE_S = 10.0
_REST_S = 5.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often what is done, in seconds.

    Attributes:
        heartbeat: a sign of life.
        stalled: after so long without one a worker counts as dead, and its jobs are taken up by others.
        sweep: what is lost is looked for.
        measure: how the queue stands is noted.
        poll: the queue is looked into, should no notification come.
        grace: when it is told to stop, a worker ends what it can in so long; the rest goes back into the queue.
    """

    heartbeat: float = 10.0
    stalled: float = 30.0
    sweep: float = 60.0
    measure: float = 15.0
    poll: float = 5.0
    grace: float = _GRACE_S


async def work(
    queue: JobQueue, workshop: Workshop, stop: asyncio.Event, *, concurrency: int = 2, pace: Pace | None = None
) -> None:
    """Work on the queue until `stop` is set; what is under way then is ended or put back.

    A database that goes away is waited for.

    Args:
        queue: open; a worker of its own.
        workshop: what the jobs share.
        stop: when to end.
        concurrency: how many sources at once.
        pace: None for the usual one.
    """
    pace = pace or Pace()
    if SOURCE_TASK not in queue.app.tasks:
        queue.app.task(name=SOURCE_TASK, queue=SOURCES)(_source_task(queue, workshop))
        queue.app.task(name=DOCUMENTS_TASK, queue=DOCUMENTS)(_documents_task(queue, workshop))
    while not stop.is_set():
        try:
            await _until(stop, queue, concurrency, pace)
        except (ConnectorException, Unavailable) as error:
            log.warning("the queue cannot be reached", cause=type(error.__cause__ or error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _REST_S)


async def sweep(queue: JobQueue, *, stalled_s: float = 30.0) -> None:
    """Find what was lost: jobs of dead workers, what waits without a job. Again and again changes nothing.

    Raises Unavailable and ConnectorException where the database is away.
    """
    manager = queue.app.job_manager
    await manager.prune_stalled_workers(stalled_s)
    for name in QUEUES:
        for job in await manager.get_stalled_jobs(queue=name, seconds_since_heartbeat=stalled_s):
            await _take_over(queue, job)
        await manager.delete_old_jobs(
            _KEPT_HOURS, queue=name, include_failed=True, include_cancelled=True, include_aborted=True
        )
    for organization_id, source_id in await queue.rows("waiting_without_job", {}):
        await queue.request(organization_id, source_id)
    for (organization_id,) in await queue.rows("documents_without_job", {}):
        await queue.request_documents(organization_id)
    await queue.query("level_priorities", {"queue": SOURCES})


async def measure(queue: JobQueue) -> None:
    """Note how the queue stands, for the metrics. Raises Unavailable where the database is away."""
    due, paused, under_way, lag_s, oldest_s = await queue.query("queue_state", {"queues": list(QUEUES)})
    for state, count in (("due", due), ("paused", paused), ("under_way", under_way)):
        JOBS.labels(state).set(count)
    INGEST_LAG.set(lag_s)
    INGEST_OLDEST.set(oldest_s)


async def _until(stop: asyncio.Event, queue: JobQueue, concurrency: int, pace: Pace) -> None:
    """Work until told to stop or until the worker ends by itself, which it does where the database is away."""
    await sweep(queue, stalled_s=pace.stalled)
    worker = asyncio.create_task(
        queue.app.run_worker_async(
            queues=list(QUEUES),
            concurrency=concurrency,
            install_signal_handlers=False,
            shutdown_graceful_timeout=pace.grace,
            update_heartbeat_interval=pace.heartbeat,
            stalled_worker_timeout=pace.stalled,
            fetch_job_polling_interval=pace.poll,
        )
    )
    side = [
        asyncio.create_task(stop.wait()),
        asyncio.create_task(_sweeping(queue, pace)),
        asyncio.create_task(_measuring(queue, pace)),
    ]
    try:
        await asyncio.wait([worker, *side], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (worker, *side):
            task.cancel()
        ended = await asyncio.gather(worker, *side, return_exceptions=True)
    for outcome in ended:
        if isinstance(outcome, Exception):
            raise outcome


async def _sweeping(queue: JobQueue, pace: Pace) -> None:
    while True:
        await asyncio.sleep(pace.sweep)
        await sweep(queue, stalled_s=pace.stalled)


async def _measuring(queue: JobQueue, pace: Pace) -> None:
    while True:
        await measure(queue)
        await asyncio.sleep(pace.measure)


async def _take_over(queue: JobQueue, job: Job) -> None:
    """Put the job of a dead worker into the queue again, as a new one: there may be a newer one already."""
    try:
        await queue.app.job_manager.finish_job(job, status=Status.ABORTED, delete_job=False)
    except ConnectorException:
        return  # another worker's sweep was quicker
    arguments: dict[str, Any] = job.task_kwargs
    ids = {name: arguments[name] for name in ("organization_id", "source_id") if name in arguments}
    log.warning("a worker has died", **ids)
    past = {"failures": arguments["failures"], "deaths": arguments["deaths"] + 1}
    if job.task_name == DOCUMENTS_TASK:
        await queue.request_documents(UUID(ids["organization_id"]), **past)
    else:
        await queue.request(*map(UUID, ids.values()), **past)


def _documents_task(queue: JobQueue, workshop: Workshop) -> Callable[..., Coroutine[Any, Any, None]]:
    async def run(*, organization_id: str, failures: int, deaths: int) -> None:
        organization = UUID(organization_id)
        try:
            again = await index_documents(workshop, organization, failures=failures, deaths=deaths)
        except asyncio.CancelledError:
            await asyncio.shield(queue.request_documents(organization, failures=failures, deaths=deaths))
            raise
        if again is not None:
            await queue.request_documents(organization, failures=again.failures, deaths=deaths, in_s=again.in_s)

    return run


def _source_task(queue: JobQueue, workshop: Workshop) -> Callable[..., Coroutine[Any, Any, None]]:
    async def run(*, organization_id: str, source_id: str, failures: int, deaths: int) -> None:
        ids = UUID(organization_id), UUID(source_id)
        # The next attempt is a job of its own: the library's retries would fail where another one waits already.
        try:
            again = await process_source(workshop, *ids, failures=failures, deaths=deaths)
        except asyncio.CancelledError:
            await asyncio.shield(queue.request(*ids, failures=failures, deaths=deaths))
            raise
        if again is not None:
            await queue.request(*ids, failures=again.failures, deaths=deaths, in_s=again.in_s)

    return run
