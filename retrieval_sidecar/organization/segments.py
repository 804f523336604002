"""Segments: groups of contacts, by which knowledge is kept from all others."""

from dataclasses import dataclass
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.organization.rows import all_rows, found_row, one_row, run


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment.

    Attributes:
        key: by which contacts, files and items name it; it stays as it is.
        contacts: in it.
        items, instructions: that are for it, whether or not for others too.
    """

    segment_id: UUID
    key: str
    name: str
    contacts: int
    items: int
    instructions: int


async def list_segments(connection: Connection, organization_id: UUID, *, after: str, limit: int) -> list[Segment]:
    """By key, those after a key."""
    rows = await all_rows(connection, "list_segments", organization_id, after=after, limit=limit)
    return [Segment(*row) for row in rows]


async def find_segment(connection: Connection, organization_id: UUID, segment_id: UUID) -> Segment:
    """Raises NotFound."""
    return Segment(*await found_row(connection, "find_segment", organization_id, segment_id=segment_id))


async def create_segment(connection: Connection, organization_id: UUID, key: str, name: str) -> Segment:
    """Raises InvalidRequest, and Conflict where the key is taken."""
    values = {"key": name_of(key, "key"), "name": name_of(name)}
    async with change(connection, organization_id):
        made = await one_row(connection, "add_segment", organization_id, **values)
        if made is None:
            raise Conflict("There is a segment of this key already. Choose another key.", field="key")
        return await find_segment(connection, organization_id, made[0])


async def rename_segment(
    connection: Connection, organization_id: UUID, segment_id: UUID, name: str
) -> tuple[Segment, Segment]:
    """The segment before and after. Raises InvalidRequest and NotFound."""
    name = name_of(name)
    async with change(connection, organization_id):
        before = await find_segment(connection, organization_id, segment_id)
        await run(connection, "rename_segment", organization_id, segment_id=segment_id, name=name)
        return before, await find_segment(connection, organization_id, segment_id)


async def delete_segment(connection: Connection, organization_id: UUID, segment_id: UUID) -> Segment:
    """Remove a segment; contacts lose it. The segment as it was.

    Raises:
        NotFound: there is no such segment.
        Conflict: items or instructions are for it, and with it they would be for everybody.
    """
    async with change(connection, organization_id):
        segment = await find_segment(connection, organization_id, segment_id)
        if segment.items or segment.instructions:
            raise Conflict(
                f"The segment is used by {segment.items} knowledge items and {segment.instructions} instructions, which"
                " without it would be for everybody. Change or remove them first."
            )
        await run(connection, "delete_segment", organization_id, segment_id=segment_id)
    return segment
