"""Connections to PostgreSQL: the pool, its settings, its time limits, and what its errors mean."""

import math
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType
from typing import Any, LiteralString, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, errors
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from contracts.tracing import step
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.errors import DeadlineExceeded, NotFound, Unavailable
from retrieval_sidecar.gate import Gate
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar", "database.sql")

Connection = AsyncConnection[TupleRow]
_T = TypeVar("_T")

_PATIENCE_S = 3.0  # for a free connection; then the load is shed
# A parallel plan costs more than it saves at this size (measured: 3.6, 6.2 and 8.6 ms with 0, 1 and 2 workers), and
# compiling the short statements costs more than running them. So does planning the search anew for each question: one
# plan for each shape of a scope takes 6.4 ms where a plan of its own takes 8.6 (10,000 passages), 14 for 17 among
# 100,000 of others, and is no slower for any selection that was measured.
_SESSION_SETTINGS = (
    "-c max_parallel_workers_per_gather=0 -c jit=off -c plan_cache_mode=force_generic_plan"
    " -c application_name=answerline"
)


async def _configure(connection: Connection) -> None:
    await register_vector_async(connection)


async def _try(connection: Connection) -> None:
    # At rest a server has nothing to say: what has come may be its farewell. Asking it each time is a round trip more.
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        # Not the pool's own check: that one prepares its empty statement anew each time, two round trips and a leak.
        await connection.execute("", prepare=False)


class Pool(AsyncConnectionPool[Connection]):
    """Connections that speak autocommit and know pgvector's types; not open yet when made.

    `within` is for requests. `connection` is for the sidecar's own work, which never waits behind requests that queue.
    """

    def __init__(self, conninfo: str, size: int, *, waiting: int = 64, name: str = "voice") -> None:
        """Make a pool of `size` connections, for which at most so many requests wait.

        Args:
            name: of the pool, in its logs.
        """
        super().__init__(
            conninfo,
            min_size=size,
            max_size=size,
            open=False,
            configure=_configure,
            check=_try,
            kwargs={"autocommit": True, "options": _SESSION_SETTINGS, "prepare_threshold": 0},
            timeout=_PATIENCE_S,
            name=name,
        )
        self._gate = Gate(size, waiting, name="database")

    @asynccontextmanager
    async def within(self, deadline: Deadline) -> AsyncIterator[Connection]:
        """A connection for a request.

        Raises Unavailable where there will be none by the deadline: at once, if the queue already tells.
        """
        patience_s = min(_PATIENCE_S, deadline.remaining())
        async with AsyncExitStack() as held:
            with step("pool_wait"):
                await held.enter_async_context(self._gate.passed(patience_s))
                connection = await held.enter_async_context(self.connection(patience_s))
            yield connection

    async def read(self, deadline: Deadline, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        """What comes of reading on a connection, once more on another where that one broke: it must change nothing.

        The pool tries a connection before it gives it away; one that the server ends right then breaks in use.
        Raises what `work` does, and Unavailable as `within` does.
        """
        used: Connection | None = None
        try:
            async with self.within(deadline) as used:
                return await work(used)
        except psycopg.OperationalError:
            if used is None or not used.broken:
                raise
        async with self.within(deadline) as connection:
            return await work(connection)


async def require_row(connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]) -> TupleRow:
    """The row that a statement gives, its first. Raises NotFound where it gives none."""
    row = await (await connection.execute(statement, parameters)).fetchone()
    if row is None:
        raise NotFound
    return row


@asynccontextmanager
async def time_limit(
    connection: Connection, deadline: Deadline, settings: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[None]:
    """Have PostgreSQL itself stop the statements of this block at the deadline, should nobody be left to cancel them.

    The limit travels with them in one pipeline, which is one transaction and one round trip: fetch their rows after
    the block, or each fetch is a round trip more.

    Args:
        settings: of PostgreSQL, for the statements of this block too.
    """
    # Zero would mean no limit.
    milliseconds = max(1, math.ceil(deadline.remaining() * 1000))
    async with connection.pipeline():
        await connection.execute(_SQL["time_limit"], {"milliseconds": str(milliseconds)})
        for name, value in settings.items():
            await connection.execute(_SQL["setting"], {"name": name, "value": value})
        yield


@asynccontextmanager
async def connected(conninfo: str) -> AsyncIterator[Connection]:
    """One connection for work of some length, that speaks autocommit and knows pgvector's types; no pool's.

    Raises Unavailable where it cannot be had or breaks in use.
    """
    async with translated_errors(), await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await register_vector_async(connection)
        yield connection


@asynccontextmanager
async def translated_errors() -> AsyncIterator[None]:
    """The one place where PostgreSQL's errors become ours.

    Raises:
        DeadlineExceeded: the statement ran into `statement_timeout`.
        Unavailable: there is no connection to be had, or the one in use broke.
    """
    try:
        yield
    except errors.QueryCanceled as error:
        raise DeadlineExceeded from error
    except (PoolTimeout, PoolClosed, errors.TooManyConnections) as error:
        raise Unavailable("No database connection is free.") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise Unavailable("The database cannot be reached.") from error
