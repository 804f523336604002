"""What the search reads of the rows that its passages come from, held to those rows."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")
_FEW = 1_000  # passages that are looked up one by one; to read all that an organization has is quicker for more


async def refresh_facts(
    connection: Connection, organization_id: UUID, source_id: UUID | None = None, *, base_id: UUID | None = None
) -> None:
    """Bring folder, base, segments, validity, hours, region and whether it may be returned up to date.

    Belongs into the transaction of a `change` that touches items, segments of theirs, instructions, sources or bases,
    so that what is closed is closed at once, without waiting for anything to be embedded again.

    Args:
        source_id: the one whose items were changed; None, of both, for any of the organization's rows.
        base_id: the base that was changed.
    """
    scope = {"organization_id": organization_id}
    passage_ids: list[int] | None = None
    if source_id is not None:
        passage_ids = await _some_passages(connection, "passages_of_source", scope | {"source_id": source_id})
    elif base_id is not None:
        passage_ids = await _some_passages(connection, "passages_of_base", scope | {"base_id": base_id})
    if passage_ids is None:
        await connection.execute(_SQL["plan_in_bulk"])
        await connection.execute(_SQL["refresh_facts"], scope)
    elif passage_ids:
        await connection.execute(_SQL["plan_by_key"])
        await connection.execute(_SQL["refresh_facts_of"], scope | {"passage_ids": passage_ids})
    await count_vectors(connection, organization_id)


async def refresh_facts_of_items(connection: Connection, organization_id: UUID, item_ids: Sequence[UUID]) -> None:
    """The same for some items of many, whose changes are written a batch at a time. Vectors are counted in the end."""
    scope = {"organization_id": organization_id}
    cursor = await connection.execute(_SQL["passages_of_items"], scope | {"item_ids": list(item_ids)})
    passage_ids = [row[0] async for row in cursor]
    if passage_ids:
        await connection.execute(_SQL["plan_by_key"])
        await connection.execute(_SQL["refresh_facts_of"], scope | {"passage_ids": passage_ids})


async def refresh_facts_of_documents(
    connection: Connection, organization_id: UUID, document_ids: Sequence[UUID]
) -> None:
    """The same for a few items or instructions, changed one by one: each of their passages is looked up by its key.

    Vectors are not counted: of so few it would take longer than what it could spare a search.
    """
    scope = {"organization_id": organization_id}
    cursor = await connection.execute(_SQL["passages_of_documents"], scope | {"document_ids": list(document_ids)})
    passage_ids = [row[0] async for row in cursor]
    if passage_ids:
        await connection.execute(_SQL["plan_by_key"])
        await connection.execute(_SQL["refresh_facts_of"], scope | {"passage_ids": passage_ids})


async def forget_passages(connection: Connection, organization_id: UUID, document_ids: Sequence[UUID]) -> None:
    """Take away all that searches have of documents, within the change that takes these away."""
    scope = {"organization_id": organization_id, "document_ids": list(document_ids)}
    cursor = await connection.execute(_SQL["texts_of_documents"], scope)
    hashes = [row[0] async for row in cursor]
    await connection.execute(_SQL["forget_passages"], scope)
    await forget_texts(connection, organization_id, hashes)


async def forget_texts(connection: Connection, organization_id: UUID, hashes: Sequence[bytes]) -> None:
    """Take away the kept vectors of texts that no passage has any more, of any space."""
    await connection.execute(_SQL["forget_texts"], {"organization_id": organization_id, "hashes": list(hashes)})


async def _some_passages(connection: Connection, statement: str, of: Mapping[str, UUID]) -> list[int] | None:
    """The passages of a source or a base; None where there are many."""
    cursor = await connection.execute(_SQL[statement], {**of, "limit": _FEW + 1})
    passage_ids = [row[0] async for row in cursor]
    return passage_ids if len(passage_ids) <= _FEW else None
