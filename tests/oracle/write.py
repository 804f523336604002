"""Puts a world into the database: rows in bulk, passages by the sidecar's own indexing, then what changes later."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from psycopg import sql

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.sql import load as load_sql
from tests.oracle.rows import Table, Written, contact_segments, organization_tables, shared_id
from tests.oracle.world import Change, IndexedAs, Organization, World

_INGEST = load_sql("retrieval_sidecar.ingest")
_AS: dict[IndexedAs, str] = {
    "open": (
        "servable = true, reserved = false, valid_from = '-infinity', valid_to = 'infinity', open_minutes = null,"
        " segment_ids = null"
    ),
    "closed": (
        "servable = false, reserved = true, valid_to = valid_from, segment_ids = array[999], folder_id = null,"
        " base_key = null"
    ),
}
# What a document's row comes to say; a removed one has none.
_CHANGES: dict[Change, str] = {
    "draft": "status = 'draft'",
    "internal": "visibility = 'internal'",
    "chat only": "channels = array['chat']",
    "deleted": "deleted_at = '2026-01-01'",
}


class RememberingEmbedder(FakeEmbedder):
    """Knows what it embedded before: all worlds say much the same."""

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return _embedded(tuple(texts)).copy()


@cache
def _embedded(texts: tuple[str, ...]) -> Vectors:
    return FakeEmbedder()._embed(texts)


async def write(connection: Connection, world: World, number: int, token_id: UUID) -> Written:
    """Write a world, as it is once everything has changed.

    Args:
        number: a different one for each world of a database.
        token_id: of the voice token that may answer for both organizations.
    """
    written = Written(number, world)
    for place, organization in enumerate(world.organizations):
        organization_id = written.organization_id(place)
        async with connection.transaction():
            for table in organization_tables(written, place):
                await _copy(connection, organization_id, table)
            await _copy(connection, organization_id, Table("voice_token_grant", ["token_id"], [[token_id]]))
        # The sidecar's own splitting, centring and facts: nothing of that is done again here.
        await index_organization(connection, RememberingEmbedder(), organization_id)
        async with connection.transaction():
            await _hold_to_the_rows(connection, organization_id, organization)
            await _change(connection, written, place)
    return written


async def _copy(connection: Connection, organization_id: UUID, table: Table) -> None:
    # COPY, because it sets generated keys as well.
    names = sql.SQL(", ").join(map(sql.Identifier, ["organization_id", *table.columns]))
    statement = sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(table.name), names)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in table.rows:
            await copy.write_row([organization_id, *row])


async def _hold_to_the_rows(connection: Connection, organization_id: UUID, organization: Organization) -> None:
    """As if it had been indexed when the rows said something else, and then they came to say what they do."""
    if organization.indexed_as is not None:
        statement = sql.SQL("update passage_vector set {} where organization_id = %s")
        await connection.execute(statement.format(sql.SQL(_AS[organization.indexed_as])), [organization_id])
        await connection.execute(_INGEST["refresh_facts"], {"organization_id": organization_id})


async def _change(connection: Connection, written: Written, place: int) -> None:
    """What operators do while calls are on. Nothing but the rows changes, as when somebody edits them by hand."""
    organization_id, organization = written.organization_id(place), written.world.organizations[place]
    for table, key, change in _changes(written, place):
        what = sql.SQL("delete from {}" if change == "removed" else f"update {{}} set {_CHANGES[change]}")
        column = "item_id" if table == "knowledge_item" else "instruction_id"
        await _execute(connection, what.format(sql.Identifier(table)), organization_id, column, key)
    for table, column, key in _removals(organization):
        await _execute(
            connection, sql.SQL("delete from {}").format(sql.Identifier(table)), organization_id, column, key
        )
    known = {n: contact.segments for n, contact in enumerate(organization.contacts) if not contact.removed}
    await _copy(connection, organization_id, contact_segments(known))


async def _execute(connection: Connection, what: sql.Composed, organization_id: UUID, column: str, key: Any) -> None:
    where = sql.SQL(" where organization_id = %s and {} = %s").format(sql.Identifier(column))
    await connection.execute(what + where, [organization_id, key])


def _changes(written: Written, place: int) -> Iterator[tuple[str, UUID, Change]]:
    organization = written.world.organizations[place]
    for number, item in enumerate(organization.items):
        change = "removed" if organization.removed_folders[item.folder] else item.change
        if change is not None:
            yield "knowledge_item", written.document_id(place, ("item", number)), change
    for number, instruction in enumerate(organization.instructions):
        if instruction.change is not None:
            yield "instruction", written.document_id(place, ("instruction", number)), instruction.change


def _removals(organization: Organization) -> Iterator[tuple[str, str, Any]]:
    """Rows that take with them what hangs on them, selections included."""
    for number, removed in enumerate(organization.removed_folders):
        if removed:
            yield "folder", "folder_id", number
    for number, base in enumerate(organization.bases):
        if base.removed:
            yield "knowledge_base", "base_id", shared_id("base", number)
    for number, directory in enumerate(organization.directories):
        if directory.removed:
            yield "instruction_directory", "directory_id", shared_id("directory", number)
    for number, contact in enumerate(organization.contacts):
        table = "contact" if contact.removed else "contact_segment"
        yield table, "contact_id", shared_id("contact", number)
