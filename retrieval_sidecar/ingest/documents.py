"""The one knowledge item of a source that is one document: a file, a web page, a pasted text."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.ingest.facts import refresh_facts
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest", "documents.sql")


async def put_document(  # noqa: PLR0913 - a document has so many parts, and each is named
    connection: Connection,
    organization_id: UUID,
    source_id: UUID,
    *,
    title: str,
    content: str,
    language: str,
    folder_key: str,
    source_url: str | None,
    content_hash: bytes,
) -> None:
    """Write what a source says, as a change of its own; its passages say so once they are indexed.

    A new item is published, public and for the phone, in the organization's default region. One that is there keeps
    what its owner has made of it (status, visibility, channels, segments, hours, validity, region); one that was
    deleted comes back. What says the same already is not written.

    Args:
        title, content: neither is empty; Markdown.
        language: ISO 639-1.
        folder_key: the folder that it stands in, canonical, made when it is new.
        content_hash: of the bytes that it was read from.

    Raises:
        NotFound: the source has been deleted; nothing is written.
    """
    scope = {"organization_id": organization_id, "source_id": source_id}
    async with change(connection, organization_id):
        cursor = await connection.execute(_SQL["upsert_folder"], scope | {"folder_key": folder_key})
        folder = await cursor.fetchone()
        if folder is None:
            raise NotFound
        values = {
            "folder_id": folder[0],
            "title": title,
            "content": content,
            "language": language,
            "source_url": source_url,
            "source_hash": content_hash.hex(),
        }
        await connection.execute(_SQL["put_document"], scope | values)
        await refresh_facts(connection, organization_id, source_id)
