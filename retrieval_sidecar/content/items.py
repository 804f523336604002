"""Knowledge items, one by one: those that operators write, and what they set of those that sources gave."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from psycopg import sql
from psycopg.rows import TupleRow
from psycopg.types.range import Range  # noqa: TC002 - read by name below

from retrieval_sidecar.content.fields import (
    Hours,
    closing_of,
    etag_of,
    folder_of,
    line_of,
    minutes_of,
    opening_of,
    require_order,
    segments_of,
    text_of,
)
from retrieval_sidecar.content.waiting import wait_for_passages, wait_no_more
from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, LimitReached, NotFound, PayloadTooLarge, PreconditionFailed
from retrieval_sidecar.ingest.facts import forget_passages, refresh_facts_of_documents
from retrieval_sidecar.ingest.items import multirange
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.scope.configuration import base_key
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.sources import require_room
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text.languages import detect

_SQL = load_sql("retrieval_sidecar.content", "items.sql")
_SOURCE = "Written by hand"
_LANGUAGE_FROM = 20_000  # characters
# What passages are cut from: a change of it has to be indexed, of anything else it holds at once.
_SAID = {"title", "content", "language"}

Kind = Literal["file", "url", "text", "jsonl", "integration"]
Status = Literal["draft", "published"]
Visibility = Literal["public", "internal"]
Channel = Literal["phone", "chat", "email"]


@dataclass(frozen=True, slots=True)
class Item:
    """An item as operators see it.

    Attributes:
        is_written: by hand; of another the content is its source's.
        segments: their keys, in order; none is for everybody.
        valid_from, valid_until: None where it is open.
        open_minutes: of the week, half-open; None is always.
        set_by_hand: the fields that its source does not decide any more.
        is_indexed: searches know it as it was written last.
        error_code, error: why not, where that has failed.
        content: None in lists.
    """

    item_key: int
    item_id: UUID
    base_id: UUID
    source_id: UUID
    source_kind: Kind
    is_written: bool
    external_id: str
    title: str
    language: str
    region_code: str
    status: Status
    visibility: Visibility
    channels: Sequence[Channel]
    segments: Sequence[str]
    valid_from: datetime | None
    valid_until: datetime | None
    open_minutes: Sequence[tuple[int, int]] | None
    source_url: str | None
    folder_key: str
    set_by_hand: Sequence[str]
    updated_at: datetime
    is_indexed: bool
    error_code: str | None
    error: str | None
    content: str | None

    def as_record(self) -> dict[str, Any]:
        """What the audit log keeps: how it is set, and of its content no more than whether it is another."""
        return {
            "kb_id": str(self.base_id),
            "title": self.title,
            "language": self.language,
            "region_code": self.region_code,
            "status": self.status,
            "visibility": self.visibility,
            "channels": list(self.channels),
            "segments": list(self.segments),
            "valid_from": None if self.valid_from is None else self.valid_from.isoformat(),
            "valid_until": None if self.valid_until is None else self.valid_until.isoformat(),
            "open_minutes": None if self.open_minutes is None else [list(each) for each in self.open_minutes],
            "source_url": self.source_url,
            "folder_key": self.folder_key,
            "content_sha256": sha256((self.content or "").encode()).hexdigest(),
        }

    @property
    def etag(self) -> str:
        """Of all that can be changed of it; not of how far indexing is."""
        return etag_of(self.as_record())


@dataclass(frozen=True, slots=True)
class ItemFields:
    """What is to be written of an item; None leaves it, or has it as usual.

    Attributes:
        segments: keys.
        valid_from, valid_until: dates or times with an offset; empty is open.
        schedule: empty is always.
        source_url: empty is none.
        folder_key: the item's own base is no folder.
    """

    title: str | None = None
    content: str | None = None
    language: str | None = None
    region_code: str | None = None
    status: Status | None = None
    visibility: Visibility | None = None
    channels: Sequence[Channel] | None = None
    segments: Sequence[str] | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    schedule: Hours | None = None
    source_url: str | None = None
    folder_key: str | None = None

    @property
    def given(self) -> list[str]:
        return [each.name for each in fields(self) if getattr(self, each.name) is not None]


async def find_item(connection: Connection, organization_id: UUID, item_id: UUID) -> Item:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "item_id": item_id}
    row = await require_row(connection, _SQL["find"], parameters)
    return _item(row)


async def list_items(
    connection: Connection,
    organization_id: UUID,
    filters: Mapping[str, Any],
    *,
    member_id: UUID | None = None,
    after: int,
    limit: int,
) -> list[Item]:
    """Items in the order they came, those after an item's key; without contents.

    Args:
        member_id: who asks; items of a base that is not for agents are there for its owner, a team's for its members.
        filters: what all of them must be, by the names of the statements: of_base, of_source, in_folder, with_status,
            with_visibility, in_language, for_segment.
    """
    # Put together of what is asked for: one plan for all would have no index.
    parts = sql.SQL(" ").join(sql.SQL(_SQL[name]) for name in filters)
    parameters = {"organization_id": organization_id, "member_id": member_id, "after": after, "limit": limit}
    cursor = await connection.execute(sql.SQL(_SQL["list"]).format(filters=parts), parameters | dict(filters))
    return [_item(row) async for row in cursor]


async def create_item(
    connection: Connection,
    organization_id: UUID,
    base_id: UUID,
    wanted: ItemFields,
    limits: SourceLimits,
    *,
    created_by: str,
) -> Item:
    """Write an item by hand; it stands in a source of its base's that holds all such, made with the first.

    Without a status it is a draft; without a language its own is told from the text; it is public and for the phone.

    Raises:
        NotFound: there is no such base.
        InvalidRequest: a field holds what it must not.
        PayloadTooLarge: the content is too long.
        LimitReached: the base has as many sources, or as many items that are written by hand, as it may.
    """
    zone, language, region = await _organization(connection, organization_id)
    content = _content(wanted.content or "", limits)
    if wanted.language is None:
        language = await asyncio.to_thread(detect, content[:_LANGUAGE_FROM], default=language)
    async with change(connection, organization_id):
        values = {
            "language": language,
            "region_code": region,
            "status": "draft",
            "visibility": "public",
            "channels": ["phone"],
            "folder_key": base_key(base_id),
        } | await _values(connection, organization_id, base_id, wanted, zone, limits)
        require_order((values.get("opens"), values.get("closes")))
        source_id = await _written_source(connection, organization_id, base_id, limits, created_by)
        item_id = uuid4()
        row = _NOTHING | values | {"organization_id": organization_id, "source_id": source_id, "item_id": item_id}
        row["folder_id"] = await _folder(connection, organization_id, row["folder_key"])
        await connection.execute(_SQL["insert"], row)
        await connection.execute(_SQL["add_segments"], row)
        await connection.execute(_SQL["count_characters"], row | {"more": len(content)})
        await wait_for_passages(connection, organization_id, item_id)
        return await find_item(connection, organization_id, item_id)


async def update_item(
    connection: Connection, organization_id: UUID, item_id: UUID, wanted: ItemFields, limits: SourceLimits, *, etag: str
) -> tuple[Item, Item]:
    """Change an item; as it was and as it is. Whom it is for holds from the next search on; what it says, once indexed.

    What is set of an item that a source gave is its own from then on: no reading of the source changes it back.

    Raises:
        NotFound: there is no such item.
        PreconditionFailed: it has changed since.
        Conflict: its content is its source's.
        InvalidRequest, PayloadTooLarge: as of a new one.
    """
    zone, _, _ = await _organization(connection, organization_id)
    async with change(connection, organization_id):
        before = await find_item(connection, organization_id, item_id)
        if before.etag != etag:
            raise PreconditionFailed
        if wanted.content is not None and not before.is_written:
            raise Conflict(
                "What this item says is read from its source: change it there and have it read again. All else can be"
                " set here, and stays.",
                field="content",
            )
        values = await _values(connection, organization_id, before.base_id, wanted, zone, limits)
        require_order((values.get("opens", before.valid_from), values.get("closes", before.valid_until)))
        row = (
            _NOTHING | values | {"organization_id": organization_id, "item_id": item_id, "source_id": before.source_id}
        )
        if wanted.folder_key is not None:
            row["folder_id"] = await _folder(connection, organization_id, wanted.folder_key)
        row |= {"given": wanted.given, "set_by_hand": [] if before.is_written else wanted.given}
        await connection.execute(_SQL["update"], row)
        if wanted.segments is not None:
            await connection.execute(_SQL["clear_segments"], row)
            await connection.execute(_SQL["add_segments"], row)
        if wanted.content is not None:
            more = len(wanted.content) - len(before.content or "")
            await connection.execute(_SQL["count_characters"], row | {"more": more})
        after = await find_item(connection, organization_id, item_id)
        if before.error_code or any(getattr(before, name) != getattr(after, name) for name in _SAID):
            await wait_for_passages(connection, organization_id, item_id)
            after = await find_item(connection, organization_id, item_id)
        await refresh_facts_of_documents(connection, organization_id, [item_id])
        return before, after


async def delete_item(connection: Connection, organization_id: UUID, item_id: UUID, *, etag: str) -> Item:
    """Remove an item, and give it as it was. Agents that had selected it, and nothing else, are left with nothing.

    Raises:
        NotFound: there is no such item.
        PreconditionFailed: it has changed since.
        Conflict: it is all that its source is.
    """
    parameters = {"organization_id": organization_id, "item_id": item_id}
    async with change(connection, organization_id):
        item = await find_item(connection, organization_id, item_id)
        if item.etag != etag:
            raise PreconditionFailed
        if not item.is_written and item.source_kind in ("file", "url", "text"):
            raise Conflict(
                "This item is all that its source gives, and would come back when that is read again. Delete the"
                " source, or make the item a draft, which it stays."
            )
        await forget_passages(connection, organization_id, [item_id])
        await connection.execute(_SQL["delete" if item.is_written else "keep_away"], parameters)
        await connection.execute(_SQL["unselect"], parameters)
        if item.is_written:
            fewer = {"source_id": item.source_id, "more": -len(item.content or "")}
            await connection.execute(_SQL["count_characters"], parameters | fewer)
        await wait_no_more(connection, organization_id, item_id)
    return item


# Of a row of which nothing is given.
_NOTHING: dict[str, Any] = {
    "title": None,
    "content": None,
    "source_hash": None,
    "language": None,
    "region_code": None,
    "status": None,
    "visibility": None,
    "channels": None,
    "valid_from": "-infinity",
    "valid_to": "infinity",
    "open_minutes": None,
    "source_url": None,
    "folder_id": None,
    "segment_ids": [],
}


async def _values(
    connection: Connection,
    organization_id: UUID,
    base_id: UUID,
    wanted: ItemFields,
    zone: ZoneInfo,
    limits: SourceLimits,
) -> dict[str, Any]:
    """What is given, as it is stored; the window also as `opens` and `closes`. Raises InvalidRequest."""
    values: dict[str, Any] = {
        name: getattr(wanted, name)
        for name in ("language", "region_code", "status", "visibility")
        if getattr(wanted, name) is not None
    }
    if wanted.title is not None:
        values["title"] = line_of("title", wanted.title)
    if wanted.content is not None:
        content = _content(wanted.content, limits)
        values |= {"content": content, "source_hash": sha256(content.encode()).hexdigest()}
    if wanted.channels is not None:
        values["channels"] = list(dict.fromkeys(wanted.channels))
    if wanted.segments is not None:
        values["segment_ids"] = await segments_of(connection, organization_id, wanted.segments)
    if wanted.valid_from is not None:
        values["opens"] = opening_of(wanted.valid_from, zone)
        values["valid_from"] = values["opens"] or "-infinity"
    if wanted.valid_until is not None:
        values["closes"] = closing_of(wanted.valid_until, zone)
        values["valid_to"] = values["closes"] or "infinity"
    if wanted.schedule is not None:
        values["open_minutes"] = multirange(minutes_of(wanted.schedule))
    if wanted.source_url is not None:
        values["source_url"] = wanted.source_url or None
    if wanted.folder_key is not None:
        values["folder_key"] = folder_of(wanted.folder_key, base_id)
    return values


def _content(text: str, limits: SourceLimits) -> str:
    if len(text) > limits.pasted_characters:
        raise PayloadTooLarge(limits.pasted_characters, unit="characters", setting="ANSWERLINE_MAX_PASTED_CHARACTERS")
    return text_of("content", text)


async def _organization(connection: Connection, organization_id: UUID) -> tuple[ZoneInfo, str, str]:
    """Its time zone, language and region."""
    cursor = await connection.execute(_SQL["organization"], {"organization_id": organization_id})
    row = await cursor.fetchone()
    if row is None:
        raise NotFound
    return ZoneInfo(row[0]), row[1], row[2]


async def _written_source(
    connection: Connection, organization_id: UUID, base_id: UUID, limits: SourceLimits, created_by: str
) -> UUID:
    """Where a base's items stand that are written by hand, with room for one more."""
    parameters = {"organization_id": organization_id, "base_id": base_id, "created_by": created_by}
    row = await (await connection.execute(_SQL["written_source"], parameters)).fetchone()
    if row is None:
        await require_room(connection, organization_id, base_id, limits)
        number = 1
        while row is None:
            name = _SOURCE if number == 1 else f"{_SOURCE} ({number})"
            row = await (await connection.execute(_SQL["add_written_source"], parameters | {"name": name})).fetchone()
            number += 1
    source_id: UUID = row[0]
    cursor = await connection.execute(_SQL["count_items"], parameters | {"source_id": source_id})
    ((count,),) = await cursor.fetchall()
    if count >= limits.written_items:
        raise LimitReached(
            f"A knowledge base may have {limits.written_items} items that are written by hand.",
            "ANSWERLINE_MAX_WRITTEN_ITEMS",
        )
    return source_id


async def _folder(connection: Connection, organization_id: UUID, key: str) -> int:
    parameters = {"organization_id": organization_id, "folder_key": key}
    row = await (await connection.execute(_SQL["upsert_folder"], parameters)).fetchone()
    assert row is not None  # noqa: S101 - it was there or has been added
    return int(row[0])


def _item(row: TupleRow) -> Item:
    found = Item(*row)
    if found.open_minutes is None:
        return found
    stored: Iterable[Range[int]] = found.open_minutes  # type: ignore[assignment] # as psycopg reads it
    return replace(found, open_minutes=[(each.lower or 0, each.upper or 0) for each in stored])
