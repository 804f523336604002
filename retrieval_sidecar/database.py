"""Connections to PostgreSQL: the pool, its settings, and what its errors mean."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, errors
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from retrieval_sidecar.errors import DeadlineExceeded, Unavailable

Connection = AsyncConnection[TupleRow]
Pool = AsyncConnectionPool[Connection]

# A parallel plan costs more than it saves at this size (measured: 3.6, 6.2 and 8.6 ms with 0, 1 and 2 workers), and
# compiling the short statements costs more than running them.
_SESSION_SETTINGS = "-c max_parallel_workers_per_gather=0 -c jit=off -c application_name=answerline"


async def _configure(connection: Connection) -> None:
    await register_vector_async(connection)


def create_pool(conninfo: str, size: int) -> Pool:
    """A pool that is not open yet; every connection of it speaks autocommit and knows pgvector's types."""
    return AsyncConnectionPool(
        conninfo,
        min_size=size,
        max_size=size,
        open=False,
        configure=_configure,
        check=AsyncConnectionPool.check_connection,
        kwargs={"autocommit": True, "options": _SESSION_SETTINGS, "prepare_threshold": 0},
        timeout=3.0,
        name="voice",
    )


@asynccontextmanager
async def translated_errors() -> AsyncIterator[None]:
    """The one place where PostgreSQL's errors become ours.

    Raises:
        DeadlineExceeded: the statement ran into `statement_timeout`.
        Unavailable: the database cannot be reached, or every connection is in use.
    """
    try:
        yield
    except errors.QueryCanceled as error:
        raise DeadlineExceeded from error
    except (PoolTimeout, PoolClosed, errors.TooManyConnections) as error:
        raise Unavailable("Every database connection is in use.") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise Unavailable("The database cannot be reached.") from error
