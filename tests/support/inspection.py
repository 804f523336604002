"""Looking into a test's database from outside, as its owner."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import sql

from tests.support.database import TestDatabase

_T = TypeVar("_T")


async def rows(
    database: TestDatabase, statement: LiteralString, parameters: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """What a statement returns; nothing of one that returns no rows."""
    async with await psycopg.AsyncConnection.connect(database.url("owner"), autocommit=True) as connection:
        cursor = await connection.execute(statement, parameters or None)
        return await cursor.fetchall() if cursor.description else []


async def value(database: TestDatabase, statement: LiteralString, parameters: Sequence[Any] = ()) -> Any:
    """The one value that a statement returns."""
    ((found,),) = await rows(database, statement, parameters)
    return found


async def row_counts(database: TestDatabase) -> dict[str, int]:
    """How many rows each table has."""
    tables = await rows(database, "select relname from pg_stat_user_tables order by relname")
    async with await psycopg.AsyncConnection.connect(database.url("owner"), autocommit=True) as connection:
        counts = {}
        for (table,) in tables:
            cursor = await connection.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table)))
            counts[table] = (await cursor.fetchone() or (0,))[0]
    return counts


async def until(condition: Callable[[], Awaitable[_T]], *, seconds: float = 5.0) -> _T:
    """Ask again and again until the answer is true; TimeoutError when it is not in time."""
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
    )
    return [query for (query,) in found]
