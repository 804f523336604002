"""Sources: the files, pages, texts and imports that people add to a base. Those of others are not there."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, InvalidRequest, LimitReached, PayloadTooLarge
from retrieval_sidecar.fetching.failures import PageFailure
from retrieval_sidecar.fetching.urls import parse_url
from retrieval_sidecar.ingest.facts import forget_texts
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sources import contents
from retrieval_sidecar.sources.contents import Upload
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.names import name_of
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text.normalize import for_embedding

_SQL = load_sql("retrieval_sidecar.sources")
_BYTES_A_CHARACTER = 4
_OF_SOURCE = 17  # columns; the rest are of its latest reading

Kind = Literal["file", "url", "text", "jsonl"]
Status = Literal["processing", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class NewSource:
    """What somebody adds.

    Attributes:
        name: unique in its base. None for a page alone, which is then called as its title says, once that is known.
        url: of a page.
        content_type: what the upload claims to be; what it is, is told from its content.
        created_by: who adds it, as the audit log names people.
    """

    kind: Kind
    name: str | None = None
    url: str | None = None
    content_type: str | None = None
    created_by: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One reading of a source.

    Attributes:
        bytes_read: of an import, how far it is in its file.
        lines_read, created, updated, unchanged, rejected: of an import, lines.
        texts_embedded, texts: of what has to be embedded.
    """

    run_id: UUID
    status: Literal["running", "done", "failed"]
    started_at: datetime
    ended_at: datetime | None
    bytes_read: int
    lines_read: int
    created: int
    updated: int
    unchanged: int
    rejected: int
    texts_embedded: int
    texts: int


@dataclass(frozen=True, slots=True)
class Source:
    """A source, as those see it who added it.

    Attributes:
        size_bytes: as it was uploaded or fetched.
        characters: of the text that was found in it.
        status: of the last time that it was, is or will be read; `failed` says why in `error_code` and `error`.
        is_searchable: whether something of it can be found now. What was found before a reading that failed still is.
        items, passages: what it yields.
        run: the latest reading.
    """

    source_id: UUID
    base_id: UUID
    kind: Literal["file", "url", "text", "jsonl", "integration"]
    name: str
    url: str | None
    content_type: str | None
    size_bytes: int
    characters: int
    status: Status
    is_searchable: bool
    error_code: str | None
    error: str | None
    items: int
    passages: int
    created_at: datetime
    created_by: str | None
    processed_at: datetime | None
    run: Run | None = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage of a source. `position` orders them, and is where a list goes on."""

    position: tuple[int, int]
    item_id: UUID
    external_id: str
    title: str
    heading: str
    content: str
    language: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A line of an import that was not taken, and why."""

    line: int
    field: str
    reason: str


async def add_source(
    connection: Connection,
    organization_id: UUID,
    base_id: UUID,
    new: NewSource,
    content: AsyncIterator[bytes] | Upload | None,
    limits: SourceLimits,
) -> Source:
    """Add a source to a base; it waits then for the job that reads it.

    Args:
        content: of all but a page. As it comes, or, where a connection should not wait for that, when it has come.

    Raises:
        NotFound: there is no such base.
        InvalidRequest: the name, the address or the text is none.
        Conflict: the base has a source of this name.
        LimitReached: the base is full.
        PayloadTooLarge: more than is taken in of one.
    """
    url = _address(new.url) if new.kind == "url" else None
    if url is None and content is None:
        raise InvalidRequest.of("content", "must be there")
    # Refused before all of a large file has come; what holds is checked again with the lock.
    await require_room(connection, organization_id, base_id, limits)
    if url is not None or content is None:
        return await _insert(connection, organization_id, base_id, new, url, None, limits)
    if isinstance(content, Upload):
        await _check(new.kind, content, limits)
        return await _insert(connection, organization_id, base_id, new, url, content, limits)
    async with contents.received(content, *_most(new.kind, limits)) as upload:
        await _check(new.kind, upload, limits)
        return await _insert(connection, organization_id, base_id, new, url, upload, limits)


async def replace_content(
    connection: Connection,
    organization_id: UUID,
    source_id: UUID,
    content: AsyncIterator[bytes],
    limits: SourceLimits,
    *,
    content_type: str | None = None,
) -> bool:
    """Give a source another content, to be read by its next job; whether there is anything new to read.

    What it yielded goes on answering until then. A reading of the old content that is under way stops.

    Raises NotFound, PayloadTooLarge, InvalidRequest of a text that is none or a source that is a page, and Conflict of
    one whose items are written by hand.
    """
    source = await find_source(connection, organization_id, source_id)
    if source.kind not in ("file", "text", "jsonl"):
        raise InvalidRequest.of("kind", "must be one with a content of its own")
    parameters: dict[str, Any] = {"organization_id": organization_id, "source_id": source_id}
    async with contents.received(content, *_most(source.kind, limits)) as upload:
        await _check(source.kind, upload, limits)
        parameters |= {"content_type": content_type, "size_bytes": upload.size, "content_hash": upload.sha256}
        async with change(connection, organization_id):
            row = await require_row(connection, _SQL["stored_content"], parameters)
            _, content_hash, is_processing, is_done, is_written = row
            if is_written:
                raise _written_by_hand()
            if content_hash == upload.sha256 and (is_processing or is_done):
                return False
            if content_hash != upload.sha256:
                await connection.execute(_SQL["end_runs"], parameters)
                await contents.store(connection, organization_id, source_id, upload)
            await connection.execute(_SQL["replace_content"], parameters)
    return True


async def list_sources(
    connection: Connection, organization_id: UUID, base_id: UUID, *, after: str = "", limit: int = 100
) -> list[Source]:
    """Sources of a base by name, those after a name; fewer than `limit` are the last ones.

    Raises NotFound where there is no such base.
    """
    parameters = {"organization_id": organization_id, "base_id": base_id, "after": after, "limit": limit}
    await require_row(connection, _SQL["count_sources"], parameters)
    cursor = await connection.execute(_SQL["list_sources"], parameters)
    return [_source(row) async for row in cursor]


async def find_source(connection: Connection, organization_id: UUID, source_id: UUID) -> Source:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "source_id": source_id}
    row = await require_row(connection, _SQL["find_source"], parameters)
    return _source(row)


async def find_source_by_name(connection: Connection, organization_id: UUID, base_id: UUID, name: str) -> Source | None:
    """The source of this name in a base; None where there is none."""
    parameters = {"organization_id": organization_id, "base_id": base_id, "name": name_of(name)}
    row = await (await connection.execute(_SQL["find_source_by_name"], parameters)).fetchone()
    return _source(row) if row else None


async def find_page(connection: Connection, organization_id: UUID, base_id: UUID, url: str) -> Source | None:
    """The source of this address in a base; None where there is none. Raises InvalidRequest where it is no address."""
    parameters = {"organization_id": organization_id, "base_id": base_id, "url": _address(url)}
    row = await (await connection.execute(_SQL["find_page"], parameters)).fetchone()
    return _source(row) if row else None


async def request_reprocess(connection: Connection, organization_id: UUID, source_id: UUID) -> Source:
    """Have a source read again, a page fetched again; what it yielded goes on answering meanwhile.

    A reading that is under way stops, as what it has read may be older than this. The job is `JobQueue.request`'s,
    after this.

    Raises:
        NotFound: there is no such source.
        Conflict: its content is not kept here, as where `load` has read it, or its items are written by hand.
    """
    stored = {"organization_id": organization_id, "source_id": source_id}
    row = await (await connection.execute(_SQL["stored_content"], stored)).fetchone()
    if row is not None and row[-1]:
        raise _written_by_hand()
    if row is not None and row[0] != "url" and row[1] is None:
        raise Conflict("The content of this source is not kept here. Bring it in again where it came from.")
    parameters = {"organization_id": organization_id, "source_id": source_id}
    async with change(connection, organization_id):
        await require_row(connection, _SQL["request_processing"], parameters)
        await connection.execute(_SQL["end_runs"], parameters)
    return await find_source(connection, organization_id, source_id)


async def delete_source(connection: Connection, organization_id: UUID, source_id: UUID) -> None:
    """Remove a source and all that came of it; a job on it finds it gone and stops. Raises NotFound."""
    parameters: dict[str, Any] = {"organization_id": organization_id, "source_id": source_id, "base_id": None}
    async with change(connection, organization_id):
        cursor = await connection.execute(_SQL["texts_of_source"], parameters)
        hashes = [row[0] async for row in cursor]
        await require_row(connection, _SQL["delete_source"], parameters)
        await forget_texts(connection, organization_id, hashes)
        await count_vectors(connection, organization_id)


async def passages_of(
    connection: Connection,
    organization_id: UUID,
    source_id: UUID,
    *,
    after: tuple[int, int] = (0, 0),
    limit: int = 100,
) -> list[SourcePassage]:
    """What a source yielded, in order, whether or not callers may hear it; those after a position.

    Raises NotFound.
    """
    await find_source(connection, organization_id, source_id)
    item_key, index = after
    parameters = {
        "organization_id": organization_id,
        "source_id": source_id,
        "after_item": item_key,
        "after_index": index,
        "limit": limit,
    }
    cursor = await connection.execute(_SQL["passages_of_source"], parameters)
    return [SourcePassage((row[0], row[1]), *row[2:]) async for row in cursor]


async def rejections_of(
    connection: Connection, organization_id: UUID, source_id: UUID, *, limit: int = 20
) -> list[Rejection]:
    """Lines that the latest reading did not take, the first of them. Raises NotFound."""
    await find_source(connection, organization_id, source_id)
    parameters = {"organization_id": organization_id, "source_id": source_id, "limit": limit}
    cursor = await connection.execute(_SQL["rejections"], parameters)
    return [Rejection(*row) async for row in cursor]


async def _insert(
    connection: Connection,
    organization_id: UUID,
    base_id: UUID,
    new: NewSource,
    url: str | None,
    upload: Upload | None,
    limits: SourceLimits,
) -> Source:
    parameters = {
        "organization_id": organization_id,
        "base_id": base_id,
        "kind": new.kind,
        "name": _name(new, url),
        "url": url,
        "content_type": new.content_type,
        "size_bytes": upload.size if upload else 0,
        "content_hash": upload.sha256 if upload else None,
        "created_by": new.created_by,
    }
    async with change(connection, organization_id):
        await require_room(connection, organization_id, base_id, limits)
        row = await (await connection.execute(_SQL["insert_source"], parameters)).fetchone()
        if row is None:
            raise Conflict("The knowledge base has a source of this name. Choose another name.", field="name")
        if upload is not None:
            await contents.store(connection, organization_id, row[0], upload)
    return await find_source(connection, organization_id, row[0])


async def require_room(connection: Connection, organization_id: UUID, base_id: UUID, limits: SourceLimits) -> None:
    """Raise LimitReached where a base is full, NotFound where there is no such base."""
    parameters = {"organization_id": organization_id, "base_id": base_id}
    row = await require_row(connection, _SQL["count_sources"], parameters)
    if row[0] >= limits.sources:
        raise LimitReached(f"A knowledge base may have {limits.sources} sources.", "ANSWERLINE_MAX_SOURCES")


def _written_by_hand() -> Conflict:
    return Conflict("The items of this source are written by hand: there is nothing to read. Change them one by one.")


def _name(new: NewSource, url: str | None) -> str:
    if new.name is not None:
        return name_of(new.name)
    if url is None:
        raise InvalidRequest.of("name", "must be there")
    return page_name(url)


def page_name(url: str) -> str:
    """What a page is called until its title is known, where nobody named it."""
    return name_of(url[:200])


def _address(url: str | None) -> str:
    try:
        return str(parse_url(url or ""))
    except PageFailure as failure:
        raise InvalidRequest.of("url", str(failure)) from None


def _most(kind: str, limits: SourceLimits) -> tuple[int, str]:
    if kind == "text":
        return limits.pasted_characters * _BYTES_A_CHARACTER, "ANSWERLINE_MAX_PASTED_CHARACTERS"
    return limits.upload_bytes(kind)


async def _check(kind: str, upload: Upload, limits: SourceLimits) -> None:
    """What can be said of a content without reading it as a document."""
    if kind == "text":
        _check_text(upload, limits)
    elif kind == "jsonl" and await asyncio.to_thread(upload.count_lines) > limits.import_lines:
        raise PayloadTooLarge(limits.import_lines, unit="lines", setting="ANSWERLINE_MAX_IMPORT_LINES")


def _check_text(upload: Upload, limits: SourceLimits) -> None:
    """What is pasted is text by what it is: it needs nobody to read it first."""
    upload.file.seek(0)
    try:
        text = upload.file.read().decode()
    except UnicodeDecodeError:
        raise InvalidRequest.of("text", "must be UTF-8") from None
    if len(text) > limits.pasted_characters:
        raise PayloadTooLarge(limits.pasted_characters, unit="characters", setting="ANSWERLINE_MAX_PASTED_CHARACTERS")
    if found := fault(text):
        raise InvalidRequest.of("text", found)
    if not for_embedding(text):
        raise InvalidRequest.of("text", "must hold something visible")


def _source(row: TupleRow) -> Source:
    of_source, of_run = row[:_OF_SOURCE], row[_OF_SOURCE:]
    return Source(*of_source, run=None if of_run[0] is None else Run(*of_run))
