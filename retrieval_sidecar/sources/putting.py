"""Adding what may be there already."""

from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, InvalidRequest
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.sources import (
    NewSource,
    Source,
    add_source,
    find_page,
    find_source,
    find_source_by_name,
    replace_content,
    request_reprocess,
)


class Put(NamedTuple):
    """A source, and whether there is anything about it to be done now."""

    source: Source
    has_changed: bool
    is_new: bool = False


async def put_source(
    connection: Connection,
    organization_id: UUID,
    base_id: UUID,
    new: NewSource,
    content: AsyncIterator[bytes] | None,
    limits: SourceLimits,
) -> Put:
    """Add a source, or give the one of its name, or of its address, this content instead.

    A page that is there is fetched again. The same content again changes nothing.

    Raises what `add_source` does, and Conflict where the one of the name is of another kind.
    """
    if new.kind == "url":
        page = await find_page(connection, organization_id, base_id, new.url or "")
        if page is None:
            return Put(
                await add_source(connection, organization_id, base_id, new, None, limits), has_changed=True, is_new=True
            )
        return Put(await request_reprocess(connection, organization_id, page.source_id), has_changed=True)
    if content is None or new.name is None:
        raise InvalidRequest.of("content" if content is None else "name", "must be there")
    there = await find_source_by_name(connection, organization_id, base_id, new.name)
    if there is None:
        return Put(
            await add_source(connection, organization_id, base_id, new, content, limits), has_changed=True, is_new=True
        )
    if there.kind != new.kind:
        raise Conflict(
            f"The knowledge base has a source of this name, of the kind {there.kind}. Choose another name, or remove"
            " that one.",
            field="name",
        )
    has_changed = await replace_content(
        connection, organization_id, there.source_id, content, limits, content_type=new.content_type
    )
    return Put(await find_source(connection, organization_id, there.source_id), has_changed)
