"""Adding sources in tests."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sources.bases import create_base
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.sources import Kind, NewSource, Source, add_source
from tests.support.database import TestDatabase
from tests.support.inspection import rows

FIRST, SECOND = UUID(int=0xA1, version=4), UUID(int=0xB2, version=4)


async def organizations(database: TestDatabase, *organization_ids: UUID) -> None:
    """Organizations with nothing in them."""
    for organization_id in organization_ids:
        await rows(
            database,
            "insert into organization (organization_id, name) values (%s, 'Shop') on conflict do nothing",
            [organization_id],
        )


async def pieces(content: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    """A content as it comes from the net."""
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def a_base(connection: Connection, organization_id: UUID = FIRST, name: str = "Help") -> UUID:
    return (await create_base(connection, organization_id, name, SourceLimits())).base_id


async def a_source(
    connection: Connection,
    base_id: UUID,
    content: bytes | str = "# Hours\n\nWe open at nine.",
    *,
    kind: Kind = "file",
    name: str | None = "hours.md",
    organization_id: UUID = FIRST,
    limits: SourceLimits | None = None,
    **fields: Any,
) -> Source:
    """Add a source; of a page, the content is left out."""
    encoded = content if isinstance(content, bytes) else content.encode()
    new = NewSource(kind, name, **fields)
    given = None if kind == "url" else pieces(encoded)
    return await add_source(connection, organization_id, base_id, new, given, limits or SourceLimits())
