"""Watching sources until each is ready or has failed; and working on them, where nobody else does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Self
from uuid import UUID

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from retrieval_sidecar.cli.shared import err, started
from retrieval_sidecar.cli.work import work_until
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sources.sources import Source, find_source

_LOOK_S = 0.3
_LOOKS_FOR_WORKERS = 15  # every so many looks


async def follow(
    settings: Settings, connection: Connection, organization_id: UUID, source_ids: Sequence[UUID], *, quiet: bool
) -> list[Source]:
    """Wait until nothing is to be done about these sources any more; as they are then, without those that are gone.

    Where no process works on the queue, this one does meanwhile.

    Args:
        settings: for the queue, and for working on it.
        connection: to look by.
        organization_id, source_ids: which.
        quiet: show no bars.
    """
    waiting = dict.fromkeys(source_ids)
    done: dict[UUID, Source] = {}
    looks = 0
    async with JobQueue(settings.conninfo("manage")) as queue, AsyncExitStack() as stack:
        bars = stack.enter_context(_Bars(quiet=quiet))
        own: asyncio.Task[None] | None = None
        while waiting:
            for source_id in list(waiting):
                try:
                    source = await find_source(connection, organization_id, source_id)
                except NotFound:
                    del waiting[source_id]
                    bars.gone(source_id)
                    continue
                bars.show(source)
                if source.status != "processing":
                    del waiting[source_id]
                    done[source_id] = source
            if not waiting:
                break
            if own is not None and own.done():
                own.result()
            if own is None and looks % _LOOKS_FOR_WORKERS == 0 and not await queue.has_worker():
                own = await stack.enter_async_context(_working(settings))
            looks += 1
            await asyncio.sleep(_LOOK_S)
    return [done[source_id] for source_id in source_ids if source_id in done]


@asynccontextmanager
async def _working(settings: Settings) -> AsyncIterator["asyncio.Task[None]"]:
    stop = asyncio.Event()
    async with started(settings) as embedders:
        task = asyncio.create_task(work_until(stop, settings, embedders))
        try:
            yield task
        finally:
            stop.set()
            await task


class _Bars:
    """A bar for each source."""

    def __init__(self, *, quiet: bool) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[state]}"))
        self._progress = Progress(*columns, TimeElapsedColumn(), console=err, disable=quiet)
        self._tasks: dict[UUID, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, source: Source) -> None:
        state, done, total = _state(source)
        if source.source_id not in self._tasks:
            self._tasks[source.source_id] = self._progress.add_task(source.name, total=None, state=state)
        self._progress.update(
            self._tasks[source.source_id], description=source.name, completed=done, total=total, state=state
        )

    def gone(self, source_id: UUID) -> None:
        if source_id in self._tasks:
            self._progress.update(self._tasks[source_id], completed=1, total=1, state="removed")


def _state(source: Source) -> tuple[str, int, int | None]:
    """What is being done, how much of it is done, and of how much."""
    run = source.run
    if source.status != "processing":
        return source.status, 1, 1
    if source.error_code is not None:
        return f"{source.error_code}, to be tried again", 0, None
    if run is None or run.status != "running":
        return "waiting", 0, None
    if run.texts:
        return f"embedding {run.texts_embedded:,} of {run.texts:,}", run.texts_embedded, run.texts
    if source.kind == "jsonl":
        return f"{run.lines_read:,} lines read", run.bytes_read, source.size_bytes or None
    return "reading", 0, None
