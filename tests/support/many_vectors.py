"""A large organization amid 100,000 passages of others, whose vectors are all nearer to every question than its own.

Written by COPY, with vectors that are drawn and not embedded: there is nothing to be read in these passages.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import sql
from psycopg.rows import TupleRow
from psycopg.types.multirange import Int4Multirange
from psycopg.types.range import Int4Range

from retrieval_sidecar.scope.resolve import KnowledgeSelection, Scope
from tests.support.database import TestDatabase

Floats = NDArray[np.float32]

LARGE = UUID("1a59e000-0000-4000-8000-000000000001")
OTHERS = [uuid5(LARGE, f"other {number}") for number in range(20)]
DIMENSIONS = 16
MODEL = "drawn"
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
MINUTE = 1 * 1440 + 12 * 60
SEGMENT = 7

ITEMS, PASSAGES_AN_ITEM, INSTRUCTIONS = 1_600, 5, 20
OTHERS_ITEMS, OTHERS_PASSAGES_AN_ITEM = 50, 100
FOLDERS = 10
QUESTIONS = 40
# Times as they are stored, microseconds from 2000: Python has no infinite ones.
_BEGINNING, _NEVER = -(2**63), 2**63 - 1
_NOW = (NOW - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Row:
    """What the predicate and the legs read of a passage, as plain facts."""

    passage_id: int
    is_instruction: bool
    owner_key: int
    folder_id: int | None
    base_key: int | None
    servable: bool = True
    expired: bool = False
    closed: bool = False
    for_segment: bool = False

    def may_be_given(self, segments: Sequence[int]) -> bool:
        return self.servable and not self.expired and not self.closed and (not self.for_segment or SEGMENT in segments)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The large organization's passages and their vectors, and the questions' vectors."""

    rows: Sequence[Row]
    vectors: Floats
    questions: Floats
    others: Floats = field(repr=False)


@cache
def drawn() -> Drawn:
    """The same each time."""
    chance = np.random.default_rng(20261201)
    rows = [
        Row(
            passage_id=number * PASSAGES_AN_ITEM + index + 1,
            is_instruction=False,
            owner_key=number + 1,
            folder_id=number % FOLDERS + 1,
            # Of twenty items: sixteen, three and one.
            base_key=1 if number % 20 < 16 else 2 if number % 20 < 19 else 3,
            servable=number % 12 != 1,
            expired=number % 25 == 2,
            closed=number % 25 == 3,
            for_segment=number % 10 == 4,
        )
        for number in range(ITEMS)
        for index in range(PASSAGES_AN_ITEM)
    ]
    rows += [
        Row(len(rows) + number + 1, is_instruction=True, owner_key=number + 1, folder_id=None, base_key=None)
        for number in range(INSTRUCTIONS)
    ]
    questions = _unit(chance.standard_normal((QUESTIONS, DIMENSIONS)))
    beside = np.repeat(questions, OTHERS_ITEMS * OTHERS_PASSAGES_AN_ITEM * len(OTHERS) // QUESTIONS, axis=0)
    others = _unit(beside + 0.1 * chance.standard_normal(beside.shape))
    return Drawn(rows, _unit(chance.standard_normal((len(rows), DIMENSIONS))), questions, others)


def _unit(rows: NDArray[np.float64]) -> Floats:
    # As they are stored, so that brute force measures the same distances.
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    stored: Floats = unit.astype(np.float16).astype(np.float32)
    return stored


def scope_of(
    space_id: int,
    partition_id: int,
    *,
    instructions: Sequence[int] | None = (),
    knowledge: KnowledgeSelection | None = None,
    narrowed: Sequence[int] | None = None,
    segments: Sequence[int] = (),
) -> Scope:
    """A scope of the large organization; of all its knowledge and no instructions, if nothing is said."""
    return Scope(
        organization_id=LARGE,
        instruction_keys=instructions,
        knowledge=knowledge,
        narrowed_base_keys=narrowed,
        segment_ids=segments,
        now=NOW,
        minute=MINUTE,
        language="en",
        region_code="GLOBAL",
        language_fallbacks={},
        space_id=space_id,
        model=MODEL,
        partition_id=partition_id,
        dimensions=DIMENSIONS,
    )


def allowed(scope: Scope) -> NDArray[np.intp]:
    """Which rows a scope holds, in plain Python."""
    return np.array([place for place, row in enumerate(drawn().rows) if _is_allowed(row, scope)], np.intp)


def _is_allowed(row: Row, scope: Scope) -> bool:
    if not row.may_be_given(scope.segment_ids):
        return False
    if row.is_instruction:
        return scope.instruction_keys is None or row.owner_key in scope.instruction_keys
    if scope.narrowed_base_keys is not None and row.base_key not in scope.narrowed_base_keys:
        return False
    knowledge = scope.knowledge
    return knowledge is None or (
        row.owner_key in knowledge.item_keys
        or row.folder_id in knowledge.folder_ids
        or row.base_key in knowledge.base_keys
    )


def nearest(question: Floats, places: NDArray[np.intp], count: int) -> list[int]:
    """The passages of the nearest vectors among these, by brute force."""
    similarity = drawn().vectors[places] @ question / np.linalg.norm(drawn().vectors[places], axis=1)
    return [drawn().rows[places[n]].passage_id for n in np.argsort(-similarity)[:count]]


async def write_many(database: TestDatabase) -> dict[UUID, int]:
    """Fill an empty database; each organization's embedding space."""
    async with _bulk(database) as connection:
        spaces = {}
        everything = drawn()
        spaces[LARGE] = await _organization(connection, LARGE, 3, ITEMS, INSTRUCTIONS)
        await _passages(connection, LARGE, spaces[LARGE], everything.rows, everything.vectors)
        each = OTHERS_ITEMS * OTHERS_PASSAGES_AN_ITEM
        for number, other in enumerate(OTHERS):
            spaces[other] = await _organization(connection, other, 1, OTHERS_ITEMS, 0)
            rows = [
                # Keys that nobody else has, as the database gives them.
                Row(n + 1, is_instruction=False, owner_key=(number + 1) * 10_000 + n // OTHERS_PASSAGES_AN_ITEM,
                    folder_id=1_000 + number, base_key=1_000 + number)
                for n in range(each)
            ]  # fmt: skip
            vectors = everything.others[number :: len(OTHERS)]
            await _passages(connection, other, spaces[other], rows, vectors)
        await connection.execute("vacuum analyze")
    return spaces


@asynccontextmanager
async def _bulk(database: TestDatabase) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
    url = database.server.url("postgres", database.name)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await register_vector_async(connection)
        # What is written here refers to what is written here: no need to look it up for each row.
        await connection.execute("set session_replication_role = replica")
        yield connection


async def _organization(
    connection: psycopg.AsyncConnection[TupleRow], organization_id: UUID, bases: int, items: int, instructions: int
) -> int:
    key = {"o": organization_id, "model": MODEL, "dimensions": DIMENSIONS}
    await connection.execute("insert into organization values (%(o)s, 'Drawn')", key)
    cursor = await connection.execute(
        "insert into embedding_space (organization_id, model, dimensions, active)"
        " values (%(o)s, %(model)s, %(dimensions)s, true) returning space_id",
        key,
    )
    row = await cursor.fetchone()
    assert row is not None
    nothing = "[" + ",".join(["0"] * DIMENSIONS) + "]"
    await connection.execute(
        "insert into language_center values (%(o)s, %(space)s, '*', 0, %(nothing)s, %(nothing)s)",
        key | {"space": row[0], "nothing": nothing},
    )
    ids = [_id(organization_id, "base", n) for n in range(bases)]
    await _copy(connection, "knowledge_base", ["organization_id", "base_id", "base_key", "name"],
                ((organization_id, id_, n + 1, str(n)) for n, id_ in enumerate(ids)))  # fmt: skip
    await _copy(connection, "source", ["organization_id", "source_id", "base_id", "kind", "name", "status"],
                ((organization_id, id_, id_, "text", "text", "ready") for id_ in ids))  # fmt: skip
    await _copy(connection, "folder", ["organization_id", "folder_id", "folder_key"],
                ((organization_id, n + 1, f"upload:{n}") for n in range(FOLDERS)))  # fmt: skip
    await _copy(
        connection,
        "knowledge_item",
        ["organization_id", "item_id", "item_key", "source_id", "folder_id", "external_id", "title", "content",
         "source_hash", "language", "status"],
        ((organization_id, _id(organization_id, "item", n + 1), n + 1, ids[0], n % FOLDERS + 1, str(n), "An item", "",
          "", "en", "published") for n in range(items)),
    )  # fmt: skip
    directory = _id(organization_id, "directory", 0)
    await _copy(connection, "instruction_directory", ["organization_id", "directory_id", "name"],
                [(organization_id, directory, "All")])  # fmt: skip
    await _copy(
        connection,
        "instruction",
        ["organization_id", "instruction_id", "instruction_key", "directory_id", "title", "content", "language",
         "status"],
        ((organization_id, _id(organization_id, "instruction", n + 1), n + 1, directory, "An instruction", "", "en",
          "published") for n in range(instructions)),
    )  # fmt: skip
    return int(row[0])


async def _passages(
    connection: psycopg.AsyncConnection[TupleRow],
    organization_id: UUID,
    space_id: int,
    rows: Sequence[Row],
    vectors: Floats,
) -> None:
    def owner(row: Row) -> tuple[UUID | None, UUID | None]:
        if row.is_instruction:
            return None, _id(organization_id, "instruction", row.owner_key)
        return _id(organization_id, "item", row.owner_key), None

    await _copy(
        connection,
        "passage",
        ["organization_id", "passage_id", "item_id", "instruction_id", "chunk_index", "language", "content",
         "text_hash"],
        ((organization_id, row.passage_id, *owner(row), row.passage_id, "en", "", b"") for row in rows),
    )  # fmt: skip
    hours = Int4Multirange([Int4Range(0, 60)])
    statement = sql.SQL(
        "copy passage_vector (organization_id, space_id, partition_id, passage_id, valid_from, valid_to, owner_key,"
        " is_instruction, servable, embedding, segment_ids, open_minutes, folder_id, base_key, language, region_code)"
        " from stdin with (format binary)"
    )
    types = ["uuid", "int4", "int4", "int8", "int8", "int8", "int4", "bool", "bool", "halfvec", "int4[]",
             "int4multirange", "int4", "int4", "text", "text"]  # fmt: skip
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row, vector in zip(rows, vectors, strict=True):
            await copy.write_row(
                (organization_id, space_id, 0, row.passage_id, _BEGINNING, _NOW if row.expired else _NEVER,
                 row.owner_key, row.is_instruction, row.servable, HalfVector(vector),
                 [SEGMENT] if row.for_segment else None, hours if row.closed else None, row.folder_id, row.base_key,
                 "en", "GLOBAL")
            )  # fmt: skip


async def _copy(
    connection: psycopg.AsyncConnection[TupleRow], table: str, columns: Sequence[str], rows: Iterator[Any] | list[Any]
) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(table), names)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            await copy.write_row(row)


@cache
def _id(organization_id: UUID, kind: str, number: int) -> UUID:
    return uuid5(organization_id, f"{kind} {number}")
