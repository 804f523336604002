"""What a caller can reach: of their own organization, and of it what is not a team's or a person's."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.sources.sources import Source, find_source
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")


async def require_base(connection: Connection, caller: Caller, base_id: UUID) -> None:
    """Raises NotFound where the caller can reach no such base."""
    parameters = {"organization_id": caller.organization_id, "base_id": base_id}
    row = await (await connection.execute(_SQL["is_reachable"], parameters)).fetchone()
    if row is None or not row[0]:
        raise NotFound


async def source_within(connection: Connection, caller: Caller, base_id: UUID, source_id: UUID) -> Source:
    """The source of a base. Raises NotFound where the caller can reach no such base, or it has no such source."""
    await require_base(connection, caller, base_id)
    source = await find_source(connection, caller.organization_id, source_id)
    if source.base_id != base_id:
        raise NotFound
    return source
