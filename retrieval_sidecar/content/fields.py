"""What the fields of items and instructions hold, beyond what the contract says of them."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.knowledge.validity import end_of, open_minutes, start_of
from retrieval_sidecar.scope.configuration import base_key
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text.normalize import for_embedding

_SQL = load_sql("retrieval_sidecar.content", "items.sql")
_MOST_PROBLEMS = 20
# What PostgreSQL keeps and Python reads, in any zone. From the last day on it is for ever, as many write it.
_FIRST, _FOR_EVER = datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)

Hours = Mapping[str, Sequence[tuple[str, str]]]
Window = tuple[datetime | None, datetime | None]


def line_of(field: str, text: str) -> str:
    """A title, on one line. Raises InvalidRequest where it shows nothing or cannot be kept."""
    return _visible(field, " ".join(text.split()))


def text_of(field: str, text: str) -> str:
    """A content, as it is. Raises InvalidRequest where it shows nothing or cannot be kept."""
    return _visible(field, text)


def _visible(field: str, text: str) -> str:
    if found := fault(text):
        raise InvalidRequest.of(field, found)
    if not for_embedding(text):
        raise InvalidRequest.of(field, "must hold something visible")
    return text


def opening_of(text: str, zone: ZoneInfo) -> datetime | None:
    """When a window opens; None for an empty text, which is from ever. Raises InvalidRequest naming `valid_from`."""
    opens = _moment("valid_from", start_of, text, zone)
    if opens is not None and opens >= _FOR_EVER:
        raise InvalidRequest.of("valid_from", "must lie before 9999-12-31")
    return opens


def closing_of(text: str, zone: ZoneInfo) -> datetime | None:
    """When a window closes; None for an empty text and from 9999-12-31 on. Raises InvalidRequest naming the field."""
    closes = _moment("valid_until", end_of, text, zone)
    return None if closes is not None and closes >= _FOR_EVER else closes


def _moment(field: str, read: Any, text: str, zone: ZoneInfo) -> datetime | None:
    if not text:
        return None
    try:
        found: datetime = read(text, zone)
        is_far = found < _FIRST
    except (ValueError, OverflowError):
        raise InvalidRequest.of(
            field, "must be a date, such as 2026-01-31, or a time with an offset, such as 2026-01-31T18:00:00+01:00"
        ) from None
    if is_far:
        raise InvalidRequest.of(field, "must lie after the year 1900")
    return found


def require_order(window: Window) -> None:
    """Raises InvalidRequest where a window ends before it begins."""
    opens, closes = window
    if opens and closes and opens >= closes:
        raise InvalidRequest.of("valid_until", "must come after valid_from")


def minutes_of(hours: Hours) -> list[tuple[int, int]] | None:
    """Minutes of the week; None without a single day, which is always. Raises InvalidRequest naming `schedule`."""
    if not hours:
        return None
    try:
        return open_minutes(hours)
    except ValueError as error:
        raise InvalidRequest.of("schedule", str(error)) from None


def folder_of(text: str, base_id: UUID) -> str:
    """The key of a folder that an item of a base may stand in. Raises InvalidRequest naming `folder_key`."""
    key = FolderKey.parse(text)
    if key is None:
        raise InvalidRequest.of("folder_key", "must be a canonical folder key, such as upload:Price%20list")
    if key.kind == "base" and text != base_key(base_id):
        raise InvalidRequest.of("folder_key", "must be a folder, or the item's own knowledge base, where it is in none")
    return text


async def segments_of(connection: Connection, organization_id: UUID, keys: Sequence[str]) -> list[int]:
    """The ids of segments, in their order. Raises InvalidRequest naming those that are not the organization's."""
    parameters = {"organization_id": organization_id, "keys": list(keys)}
    cursor = await connection.execute(_SQL["segments"], parameters)
    found = {key: segment_id async for key, segment_id in cursor}
    problems = [
        FieldProblem(f"segments.{place}", "must be the key of a segment of this organization")
        for place, key in enumerate(keys)
        if key not in found
    ]
    if problems:
        raise InvalidRequest(problems[:_MOST_PROBLEMS])
    return sorted(set(found.values()))


def etag_of(record: Mapping[str, Any]) -> str:
    """The same for the same fields, and for no others."""
    return sha256(json.dumps(record, sort_keys=True, default=str).encode(errors="surrogatepass")).hexdigest()
