"""What a caller can reach: of their own organization, and of it what is not another team's or person's alone."""

from dataclasses import dataclass
from uuid import UUID

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import NotFound, OwnersOnly
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.sources.sources import Source, find_source
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a base is to a caller who can see it.

    Attributes:
        is_own: whether the caller can change it, as it is the organization's, their team's or their own.
        for_all: whether all of the organization can see it; of others the audit log, which all read, has no names.
    """

    is_own: bool
    for_all: bool


async def require_base(connection: Connection, caller: Caller, base_id: UUID) -> Reach:
    """Raises NotFound where the caller can see no such base."""
    parameters = {
        "organization_id": caller.organization_id,
        "base_id": base_id,
        "member_id": caller.member_id,
    }
    row = await require_row(connection, _SQL["reach"], parameters)
    return Reach(*row)


async def require_own_base(connection: Connection, caller: Caller, base_id: UUID) -> Reach:
    """Raises NotFound where the caller can see no such base, and OwnersOnly where others have published it."""
    reach = await require_base(connection, caller, base_id)
    if not reach.is_own:
        raise OwnersOnly
    return reach


async def source_within(connection: Connection, caller: Caller, base_id: UUID, source_id: UUID) -> Source:
    """The source of a base. Raises NotFound where the caller can see no such base, or it has no such source."""
    await require_base(connection, caller, base_id)
    return await _source(connection, caller, base_id, source_id)


async def own_source_within(
    connection: Connection, caller: Caller, base_id: UUID, source_id: UUID
) -> tuple[Source, Reach]:
    """The same to be changed, and what its base is to the caller. Raises OwnersOnly where it is others'."""
    reach = await require_own_base(connection, caller, base_id)
    return await _source(connection, caller, base_id, source_id), reach


async def _source(connection: Connection, caller: Caller, base_id: UUID, source_id: UUID) -> Source:
    source = await find_source(connection, caller.organization_id, source_id)
    if source.base_id != base_id:
        raise NotFound
    return source
