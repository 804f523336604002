"""Looking into a test's database from outside."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import sql

from tests.support.database import TestDatabase

_T = TypeVar("_T")


async def rows(
    database: TestDatabase, statement: LiteralString, parameters: Sequence[Any] = (), *, role: str = "owner"
) -> list[tuple[Any, ...]]:
    """What a statement returns; nothing of one that returns no rows."""
    url = database.server.url("postgres", database.name) if role == "superuser" else database.url(role)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        cursor = await connection.execute(statement, parameters or None)
        return await cursor.fetchall() if cursor.description else []


async def value(database: TestDatabase, statement: LiteralString, parameters: Sequence[Any] = ()) -> Any:
    """The one value that a statement returns."""
    ((found,),) = await rows(database, statement, parameters)
    return found


async def row_counts(connection: psycopg.AsyncConnection[Any]) -> dict[str, int]:
    """How many rows each table has; the queue's are not counted."""
    cursor = await connection.execute(
        "select relname from pg_stat_user_tables where schemaname = 'public' order by relname"
    )
    count = sql.SQL("select {}, count(*) from {}")
    counts = [count.format(sql.Literal(table), sql.Identifier(table)) for (table,) in await cursor.fetchall()]
    cursor = await connection.execute(sql.SQL(" union all ").join(counts))
    return dict(await cursor.fetchall())


async def until(condition: Callable[[], Awaitable[_T | None]], *, seconds: float = 5.0) -> _T:
    """Ask again and again until there is something for an answer; TimeoutError when there is not in time."""
    async with asyncio.timeout(seconds):
        while not (found := await condition()):
            pass
    return found


async def running_statements(database: TestDatabase) -> list[str]:
    """What the voice API's connections to this database are executing or waiting in."""
    found = await rows(
        database,
        "select query from pg_stat_activity"
        " where datname = current_database() and usename = 'answerline_voice' and state = 'active'",
        role="superuser",
    )
    return [query for (query,) in found]
