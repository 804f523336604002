"""Documents whose passages do not say yet what they say: asked for in the transaction that changes them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.content", "waiting.sql")


async def wait_for_passages(connection: Connection, organization_id: UUID, document_id: UUID) -> None:
    """Have an item or an instruction indexed; the job is `JobQueue.request_documents`, after this."""
    await connection.execute(_SQL["wait"], {"organization_id": organization_id, "document_id": document_id})


async def wait_no_more(connection: Connection, organization_id: UUID, document_id: UUID) -> None:
    """It is deleted."""
    await connection.execute(_SQL["forget"], {"organization_id": organization_id, "document_id": document_id})


async def waiting(connection: Connection, organization_id: UUID) -> dict[UUID, int]:
    """What waits, each with its revision: that of when it was read."""
    cursor = await connection.execute(_SQL["waiting"], {"organization_id": organization_id})
    return {document_id: revision async for document_id, revision in cursor}


async def settle(connection: Connection, organization_id: UUID, indexed: Mapping[UUID, int]) -> None:
    """These are indexed, but for those that have changed since their revision was read."""
    await connection.execute(_SQL["settle"], _revisions(organization_id, indexed))


async def note(
    connection: Connection,
    organization_id: UUID,
    failed: Mapping[UUID, int],
    *,
    code: str,
    sentence: str,
    is_given_up: bool,
) -> None:
    """Say why these are not indexed yet, or will not be until they change again."""
    values = {"code": code, "sentence": sentence, "is_given_up": is_given_up}
    await connection.execute(_SQL["note"], _revisions(organization_id, failed) | values)


def _revisions(organization_id: UUID, revisions: Mapping[UUID, int]) -> dict[str, Any]:
    document_ids: Sequence[UUID] = list(revisions)
    return {
        "organization_id": organization_id,
        "document_ids": document_ids,
        "revisions": [revisions[each] for each in document_ids],
    }
