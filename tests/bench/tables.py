"""The rows of an organization, table by table, for COPY.

A table that indexing fills and that is not here leaves the bench without it: add it to `TABLES`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.rows import TupleRow

from retrieval_sidecar.ingest.common_words import COMMON
from retrieval_sidecar.ingest.indexing import _SQL as INGEST
from tests.bench.tenant import (
    SELECTIONS,
    Tenant,
    agent_id,
    base_id,
    item_id,
    organization_id,
    phone_number,
    source_id,
)
from tests.bench.texts import FOLDERS, LANGUAGE, Fillers, codes_of, words_of

Row = tuple[Any, ...]


# Python's datetime has no end of time. In binary it is a whole number of microseconds, as PostgreSQL keeps it.
_ALWAYS, _ALWAYS_IN_BINARY = ("-infinity", "infinity"), (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Table:
    """A table to fill.

    Attributes:
        rows: of an organization; the columns' values, in their order.
        types: the columns' types where the rows are sent in binary, which vectors need.
    """

    name: str
    columns: tuple[str, ...]
    rows: Callable[[Tenant], Iterable[Row]]
    types: tuple[str, ...] | None = None


class Writer:
    """Writes organizations into a migrated database, through one connection of a superuser."""

    def __init__(self, connection: psycopg.Connection[TupleRow], model: str, dimensions: int) -> None:
        register_vector(connection)
        self._connection = connection
        self._tables = tables(model, dimensions)

    def write(self, tenant: Tenant) -> None:
        """All rows of an organization, in one transaction."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            for table in self._tables:
                columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
                form = sql.SQL("(format binary)" if table.types else "(format text)")
                statement = sql.SQL("copy {} ({}) from stdin {}").format(sql.Identifier(table.name), columns, form)
                with cursor.copy(statement) as copy:
                    if table.types:
                        copy.set_types(table.types)
                    for row in table.rows(tenant):
                        copy.write_row(row)
            common = sql.SQL("insert into common_word (organization_id, word, passages) {}")
            found = common.format(sql.SQL(INGEST["common_words"]))
            cursor.execute(found, {"organization_id": tenant.id, "common": COMMON})


def tables(model: str, dimensions: int) -> tuple[Table, ...]:
    """Every table that a search reads, in the order of their references."""
    return (
        Table("organization", ("organization_id", "name"), lambda t: [(t.id, f"Organization {t.number}")]),
        Table("knowledge_base", ("organization_id", "base_id", "base_key", "name"), _base),
        Table("source", ("organization_id", "source_id", "base_id", "kind", "name", "status"), _source),
        Table("folder", ("organization_id", "folder_id", "folder_key"), _folders),
        Table(
            "knowledge_item",
            ("organization_id", "item_id", "item_key", "source_id", "folder_id", "external_id", "title", "content",
             "source_hash", "language", "status", "channels", "valid_from", "valid_to"),
            _items,
        ),
        Table(
            "phone_agent",
            ("organization_id", "agent_id", "name", "language", "prompt", "greeting", "knowledge_scope_mode"),
            _agents,
        ),
        Table("agent_item", ("organization_id", "agent_id", "item_id"), _selected_items),
        Table("number_route", ("phone_number", "organization_id", "agent_id"), _routes),
        Table(
            "embedding_space",
            ("organization_id", "space_id", "model", "dimensions", "active"),
            lambda t: [(t.id, t.number, model, dimensions, True)],
        ),
        Table(
            "language_center",
            ("organization_id", "space_id", "language", "passages", "of_passages", "of_queries"),
            _centers,
            ("uuid", "int4", "text", "int4", "vector", "vector"),
        ),
        Table(
            "passage",
            ("organization_id", "passage_id", "item_id", "chunk_index", "language", "content", "text_hash"),
            _passages,
        ),
        Table(
            "passage_vector",
            ("organization_id", "space_id", "partition_id", "passage_id", "is_instruction", "owner_key", "folder_id",
             "base_key", "servable", "valid_from", "valid_to", "language", "region_code", "embedding"),
            _vectors,
            ("uuid", "int4", "int4", "int8", "bool", "int4", "int4",
             "int4", "bool", "int8", "int8", "text", "text", "halfvec"),
        ),
        Table("passage_words", ("organization_id", "passage_id", "words"), _words),
        Table("passage_code", ("organization_id", "code", "passage_id"), _codes),
    )  # fmt: skip


_FILLERS = Fillers()


def _folder(tenant: Tenant, place: int) -> int:
    return tenant.number * FOLDERS + place % FOLDERS


def _base(tenant: Tenant) -> Iterator[Row]:
    yield tenant.id, base_id(tenant.number), tenant.number, "All"


def _source(tenant: Tenant) -> Iterator[Row]:
    yield tenant.id, source_id(tenant.number), base_id(tenant.number), "jsonl", "items", "ready"


def _folders(tenant: Tenant) -> Iterator[Row]:
    for number in range(FOLDERS):
        yield tenant.id, _folder(tenant, number), f"upload:{number}"


def _items(tenant: Tenant) -> Iterator[Row]:
    for place, item in enumerate(tenant.items):
        yield (
            tenant.id, item_id(item), item.number, source_id(tenant.number), _folder(tenant, place),
            f"item-{item.number}", item.title, " ".join(item.facts), str(item.number), LANGUAGE, item.status,
            list(item.channels), *_ALWAYS,
        )  # fmt: skip


def _agents(tenant: Tenant) -> Iterator[Row]:
    for selection in SELECTIONS:
        mode = "all" if tenant.selections[selection] is None else "selected"
        yield tenant.id, agent_id(tenant.number, selection), selection, LANGUAGE, "You answer.", "Hello.", mode


def _selected_items(tenant: Tenant) -> Iterator[Row]:
    for selection, places in tenant.selections.items():
        for place in sorted(places or ()):
            yield tenant.id, agent_id(tenant.number, selection), item_id(tenant.items[place])


def _routes(tenant: Tenant) -> Iterator[Row]:
    for selection in SELECTIONS:
        yield (
            phone_number(tenant.number, selection),
            organization_id(tenant.number),
            agent_id(tenant.number, selection),
        )


def _centers(tenant: Tenant) -> Iterator[Row]:
    for language, found in tenant.centers.items():
        yield tenant.id, tenant.number, language, found.passages, found.of_passages, found.of_queries


def _passages(tenant: Tenant) -> Iterator[Row]:
    for each in tenant.passages:
        content = f"{each.fact} {_FILLERS[each.id].text}"
        text_hash = blake2b(content.encode(), digest_size=16).digest()
        yield tenant.id, each.id, item_id(tenant.items[each.place]), each.index, LANGUAGE, content, text_hash


def _vectors(tenant: Tenant) -> Iterator[Row]:
    for each, vector in zip(tenant.passages, tenant.stored, strict=True):
        item = tenant.items[each.place]
        yield (
            tenant.id, tenant.number, 0, each.id, False, item.number, _folder(tenant, each.place), tenant.number,
            item.is_told, *_ALWAYS_IN_BINARY, LANGUAGE, "GLOBAL", HalfVector(vector),
        )  # fmt: skip


def _words(tenant: Tenant) -> Iterator[Row]:
    for each in tenant.passages:
        words = words_of(tenant.items[each.place].title, each.fact, _FILLERS[each.id])
        yield tenant.id, each.id, " ".join(f"'{word}'" for word in words)


def _codes(tenant: Tenant) -> Iterator[Row]:
    for each in tenant.passages:
        for code in codes_of(tenant.items[each.place].title, each.fact):
            yield tenant.id, code, each.id
