"""One reading of a source, from its beginning to its end. Each step belongs to a run that nobody has ended."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection, connected
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.jobs.failures import Failure
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sources.names import name_of
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.jobs")
_LOOK_S = 2.0  # how often a run that makes no progress is looked for


class Ended(Exception):
    """The run is not wanted any more: its source is deleted, has another content, or is asked for anew."""


class Busy(Exception):
    """Somebody else is at work on it."""


@dataclass(frozen=True, slots=True)
class Run:
    """A reading that has begun, and what it is of.

    Attributes:
        language: the organization's own.
        texts: how many had to be embedded, as far as an interrupted attempt has told.
    """

    organization_id: UUID
    source_id: UUID
    run_id: UUID
    kind: str
    name: str
    url: str | None
    language: str
    texts: int

    @property
    def parameters(self) -> dict[str, Any]:
        """How statements name it."""
        return {"organization_id": self.organization_id, "source_id": self.source_id, "run_id": self.run_id}


@dataclass(frozen=True, slots=True)
class Found:
    """What a source turned out to be; None is as it was known before."""

    content_type: str | None = None
    size_bytes: int | None = None
    content_hash: bytes | None = None
    title: str | None = None


async def begin(connection: Connection, organization_id: UUID, source_id: UUID) -> Run | None:
    """Begin to read a source, or go on where somebody was interrupted; None where there is nothing to do.

    The source is held until the connection ends. Raises Busy.
    """
    parameters = {"organization_id": organization_id, "source_id": source_id}
    await hold(connection, str(source_id))
    async with change(connection, organization_id):
        row = await (await connection.execute(_SQL["begin"], parameters)).fetchone()
        if row is None:
            return None
        kind, name, url, _, is_processing, language = row
        if not is_processing:
            return None
        await connection.execute(_SQL["add_run"], parameters)
        run = await (await connection.execute(_SQL["running"], parameters)).fetchone()
        assert run is not None  # noqa: S101 - it was there or has been added
    return Run(organization_id, source_id, run[0], kind, name, url, language, run[1])


async def hold(connection: Connection, lock: str) -> None:
    """Be the only one at work on something until the connection ends. Raises Busy."""
    if await (await connection.execute(_SQL["hold"], {"lock": lock})).fetchone() != (True,):
        raise Busy


async def make_searchable(connection: Connection, run: Run) -> None:
    """What the source yields may be returned, from the transaction that swaps the last of it in. Raises Ended."""
    await _hold(connection, run)
    await connection.execute(_SQL["make_searchable"], run.parameters)


async def complete(connection: Connection, run: Run, found: Found, texts: int) -> None:
    """All is done, also what is worked out of all passages after the last one is searchable. Raises Ended."""
    cursor = await connection.execute(_SQL["count_characters"], run.parameters)
    ((characters,),) = await cursor.fetchall()
    parameters = run.parameters | {
        "characters": characters,
        "content_type": found.content_type,
        "size_bytes": found.size_bytes,
        "content_hash": found.content_hash,
    }
    async with change(connection, run.organization_id):
        await _hold(connection, run)
        await connection.execute(_SQL["complete_source"], parameters)
        await connection.execute(_SQL["set_progress"], parameters | {"done": texts, "total": texts})
        await connection.execute(_SQL["end_run"], parameters | {"status": "done"})


async def name_page(connection: Connection, run: Run, title: str) -> None:
    """Call a page by its title, where the title is a name and nobody else in the base has it."""
    with suppress(InvalidRequest):
        parameters = run.parameters | {"name": run.name, "title": name_of(title[:200])}
        async with change(connection, run.organization_id):
            await connection.execute(_SQL["name_page"], parameters)


async def note(connection: Connection, run: Run, failure: Failure) -> None:
    """Show a failure that will be tried again. Raises Ended."""
    await _fail(connection, run, failure, "note_failure")


async def fail(connection: Connection, run: Run, failure: Failure) -> None:
    """Give a reading up. Raises Ended."""
    await _fail(connection, run, failure, "fail_source")


async def _fail(connection: Connection, run: Run, failure: Failure, statement: str) -> None:
    parameters = run.parameters | {"code": failure.code, "sentence": failure.sentence}
    async with change(connection, run.organization_id):
        await _hold(connection, run)
        await connection.execute(_SQL[statement], parameters)
        if statement == "fail_source":
            await connection.execute(_SQL["forget_taken"], parameters)
            await connection.execute(_SQL["end_run"], parameters | {"status": "failed"})


async def _hold(connection: Connection, run: Run) -> None:
    if await (await connection.execute(_SQL["hold_run"], run.parameters)).fetchone() is None:
        raise Ended


@asynccontextmanager
async def watched(conninfo: str, run: Run, *, every_s: float = 0.5) -> AsyncIterator[Callable[[int, int], None]]:
    """Work on a run: cancelled as soon as the run is ended by somebody else; what it yields shows how far it is.

    Args:
        conninfo: for a connection of its own; the other one is busy.
        run: the run.
        every_s: how often progress is written, at most.

    Raises:
        Ended: instead of the cancellation.
    """
    latest: tuple[int, int] | None = None
    is_new = asyncio.Event()

    def progress(done: int, total: int) -> None:
        nonlocal latest
        latest = done, total
        is_new.set()

    async def watch() -> None:
        async with connected(conninfo) as connection:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(is_new.wait(), _LOOK_S)
                is_new.clear()
                if latest is not None:
                    values = {"done": latest[0], "total": latest[1]}
                    await connection.execute(_SQL["set_progress"], run.parameters | values)
                row = await (await connection.execute(_SQL["run_status"], run.parameters)).fetchone()
                if row == ("done",):
                    return  # by us
                if row != ("running",):
                    raise Ended
                await asyncio.sleep(every_s)

    try:
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(watch())
            yield progress
            watcher.cancel()
    except BaseExceptionGroup as failed:
        # One of the two failed and took the other along; a run that is over needs no other reason.
        ended = [error for error in failed.exceptions if isinstance(error, Ended)]
        raise (ended or failed.exceptions)[0] from None
