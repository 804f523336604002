"""What the search reads of the rows that its passages come from, held to those rows."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")


async def refresh_facts(connection: Connection, organization_id: UUID, source_id: UUID | None = None) -> None:
    """Bring folder, base, segments, validity, hours, region and whether it may be returned up to date.

    Belongs into the transaction of a `change` that touches items, segments of theirs, instructions, sources or bases,
    so that what is closed is closed at once, without waiting for anything to be embedded again.

    Args:
        source_id: the one whose items were changed; None for any of the organization's rows.
    """
    scope = {"organization_id": organization_id}
    if source_id is None:
        await connection.execute(_SQL["refresh_facts"], scope)
    else:
        await connection.execute(_SQL["refresh_facts_of_source"], scope | {"source_id": source_id})
    await count_vectors(connection, organization_id)
