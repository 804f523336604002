"""Moves an organization's vectors to a partition of their own, with an index, and back; calls go on meanwhile.

Both ways are the same. What is to be searched is copied, indexed and analyzed beside the original; then writers are
kept out for a moment, the copy is brought up to date and one row (`embedding_space.partition_id`) says that it counts.
Searches read one or the other, each complete. The original is removed once no search can be left that began before.
Interrupted anywhere, one of the two answers, and the next run goes on from there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import errors, sql
from psycopg.rows import class_row
from tenacity import AsyncRetrying, RetryError, retry_if_exception_type, stop_after_delay, wait_fixed

from retrieval_sidecar.database import Connection
from retrieval_sidecar.deadline import LONGEST_S
from retrieval_sidecar.errors import ConfigurationError, NotFound, Unavailable
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.partitions")

_PATIENCE_S, _PAUSE_S = 600.0, 0.2
# A writer has the tables; or it has just removed what was being copied.
_IN_THE_WAY = (errors.LockNotAvailable, errors.ForeignKeyViolation, errors.DeadlockDetected)
_SHARED = 0

Report = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much of it is; of nothing where that cannot be said."""


async def _until_no_search_is_left() -> None:
    await asyncio.sleep(LONGEST_S + 0.5)


@dataclass(frozen=True, slots=True)
class _Space:
    """An embedding space, and the partition that counts."""

    space_id: int
    dimensions: int
    partition_id: int

    @property
    def own_partition(self) -> str:
        return f"passage_vector_{self.space_id}"

    @property
    def index(self) -> str:
        return f"{self.own_partition}_hnsw"


async def place_organization(
    connection: Connection,
    watch: Connection,
    organization_id: UUID,
    *,
    own_partition: bool,
    report: Report = lambda _step, _done, _total: None,
    settle: Callable[[], Awaitable[None]] = _until_no_search_is_left,
) -> bool:
    """Have an organization's vectors in partitions of their own, one for each embedding space, or in the shared one.

    Args:
        connection: of the schema's owner, in autocommit.
        watch: another one, which sees how far the index is.
        settle: waits until every search that began before is over.

    Returns:
        Whether anything had to be moved.

    Raises:
        NotFound: there is no such organization, or it has no vectors.
        ConfigurationError: the connection is not the owner's.
        Unavailable: passages were being written all the time, or another move is under way.
    """
    mover = _Mover(connection, watch, organization_id, report, settle)
    async with _as_owner(), mover.alone():
        cursor = connection.cursor(row_factory=class_row(_Space))
        await cursor.execute(_SQL["spaces"], {"organization_id": organization_id})
        spaces = await cursor.fetchall()
        if not spaces:
            raise NotFound
        moved = [await mover.place(space, space.space_id if own_partition else _SHARED) for space in spaces]
        await mover.drop_abandoned()
    return any(moved)


@asynccontextmanager
async def _as_owner() -> AsyncIterator[None]:
    try:
        yield
    except errors.InsufficientPrivilege as error:
        raise ConfigurationError("Set ANSWERLINE_OWNER_DATABASE_URL: the tables' owner moves them.") from error


class _Mover:
    def __init__(
        self,
        connection: Connection,
        watch: Connection,
        organization_id: UUID,
        report: Report,
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        self._connection = connection
        self._watch = watch
        self._organization_id = organization_id
        self._report = report
        self._settle = settle

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nobody else moves anything in this database. Raises Unavailable."""
        if not await self._value("begin_moving"):
            raise Unavailable("Another organization is being moved.")
        try:
            yield
        finally:
            await self._connection.execute(_SQL["end_moving"])

    async def place(self, space: _Space, target: int) -> bool:
        """Whether the space had to be moved."""
        of_copy = self._of(space) | {"source": space.partition_id, "target": target}
        moving = space.partition_id != target
        if target != _SHARED:
            await self._ensure_partition(space)
        if moving:
            self._report("copying", 0, 0)
            await self._undisturbed(partial(self._synchronize, of_copy))
        if target != _SHARED:
            await self._ensure_index(space)
        if moving:
            await self._run("analyze", partition=space.own_partition if target else "passage_vector_shared")
            self._report("switching", 0, 0)
            await self._undisturbed(partial(self._switch, of_copy))
        await self._clean_up(space, target)
        return moving

    async def drop_abandoned(self) -> None:
        cursor = await self._connection.execute(_SQL["abandoned"])
        for (name,) in await cursor.fetchall():
            await self._undisturbed(partial(self._drop, name))

    async def _ensure_partition(self, space: _Space) -> None:
        async def create() -> None:
            await self._connection.execute(_SQL["lock_writers"])
            await self._run("create_partition", partition=space.own_partition)
            await self._run("expect_few_of_each", partition=space.own_partition)
            await self._run("attach_partition", partition=space.own_partition, partition_id=space.space_id)
            if await self._value("may_grant_maintain"):
                await self._run("grant_maintain", partition=space.own_partition)

        if not await self._value("has_partition", partition=space.own_partition):
            await self._undisturbed(create)

    async def _synchronize(self, of_copy: dict[str, Any]) -> None:
        await self._connection.execute(_SQL["remove_outdated_copies"], of_copy)
        await self._connection.execute(_SQL["copy_missing"], of_copy)

    async def _ensure_index(self, space: _Space) -> None:
        self._report("indexing", 0, 0)
        is_valid = await self._value("index_state", index=space.index)
        if is_valid:
            return
        if is_valid is not None:
            await self._run("drop_index", index=space.index)
        rows = await self._value("count_rows", **self._of(space), partition_id=space.space_id)
        # Half floats, twice to be sure, and half a kilobyte of neighbours.
        await self._value("room_to_build", kilobytes=rows * (4 * space.dimensions + 512) // 1024)
        watching = asyncio.create_task(self._watch_index(space.own_partition, rows))
        try:
            await self._run(
                "build_index", index=space.index, partition=space.own_partition, dimensions=space.dimensions
            )
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch_index(self, partition: str, rows: int) -> None:
        while True:
            cursor = await self._watch.execute(_SQL["how_far"], {"partition": partition})
            row = await cursor.fetchone()
            self._report("indexing", row[0] if row else 0, rows)
            await asyncio.sleep(_PAUSE_S)

    async def _switch(self, of_copy: dict[str, Any]) -> None:
        await self._connection.execute(_SQL["lock_writers"])
        await self._synchronize(of_copy)
        await self._connection.execute(_SQL["switch"], of_copy)
        await count_vectors(self._connection, self._organization_id)

    async def _clean_up(self, space: _Space, target: int) -> None:
        of_rest = self._of(space) | {"partition_id": target}
        has_partition = await self._value("has_partition", partition=space.own_partition)
        if target == _SHARED and not has_partition:
            return
        if target != _SHARED and not await self._value("has_rows_elsewhere", **of_rest):
            return
        self._report("waiting for searches that began before", 0, 0)
        await self._settle()
        self._report("removing the original", 0, 0)
        if target == _SHARED:
            await self._undisturbed(partial(self._drop, space.own_partition))
        else:
            await self._undisturbed(partial(self._remove_rows_elsewhere, of_rest))
            await self._run("analyze", partition="passage_vector_shared")

    async def _remove_rows_elsewhere(self, of_rest: dict[str, Any]) -> None:
        await self._connection.execute(_SQL["lock_writers"])
        await self._connection.execute(_SQL["remove_rows_elsewhere"], of_rest)

    async def _drop(self, partition: str) -> None:
        await self._connection.execute(_SQL["lock_patience"])
        await self._run("drop_partition", partition=partition)

    async def _undisturbed(self, step: Callable[[], Awaitable[None]]) -> None:
        """A step in one transaction, tried again while writers are in its way. Raises Unavailable."""
        again = AsyncRetrying(
            retry=retry_if_exception_type(_IN_THE_WAY),
            stop=stop_after_delay(_PATIENCE_S),
            wait=wait_fixed(_PAUSE_S),
            before_sleep=lambda _: self._report("waiting for others", 0, 0),
        )
        try:
            async for attempt in again:
                with attempt:
                    async with self._connection.transaction():
                        await step()
        except RetryError as error:
            raise Unavailable("The tables were in use all the time. Run this again: it goes on from here.") from error

    def _of(self, space: _Space) -> dict[str, Any]:
        return {"organization_id": self._organization_id, "space_id": space.space_id}

    async def _run(self, name: str, *, dimensions: int = 0, partition_id: int = 0, **names: str) -> None:
        identifiers = {key: sql.Identifier(value) for key, value in names.items()}
        statement = sql.SQL(_SQL[name]).format(
            dimensions=sql.Literal(dimensions), partition_id=sql.Literal(partition_id), **identifiers
        )
        await self._connection.execute(statement)

    async def _value(self, statement_name: str, **values: Any) -> Any:
        cursor = await self._connection.execute(_SQL[statement_name], values)
        row = await cursor.fetchone()
        return row[0] if row else None
