"""How many vectors of a large organization stand where: what the choice between exact and approximate goes by."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.partitions")


async def count_vectors(connection: Connection, organization_id: UUID) -> None:
    """Count an organization's vectors again: belongs into every transaction that changes many of them.

    Costs nothing where there is no partition of its own. Old counts cost time and no answer: an approximate search that
    finds too little is exact after all.
    """
    organization = {"organization_id": organization_id}
    await connection.execute(_SQL["forget_counts"], organization)
    await connection.execute(_SQL["count_vectors"], organization)
