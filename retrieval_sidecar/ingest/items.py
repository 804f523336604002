"""Knowledge items from the lines of a file, many at a time: what says the same is not written."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.types.json import Jsonb

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.records import MOST_PROBLEMS, Item, Record
from retrieval_sidecar.knowledge.validity import open_minutes
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest", "imports.sql")
_PLANS = load_sql("retrieval_sidecar.ingest")

# Takes ids for the lines that have them, in that order; those that an earlier line has taken are missing in the answer.
TakeIds = Callable[[Sequence[str]], Awaitable[set[str]]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item goes.

    Attributes:
        folder_key: its folder if it names none.
        metadata: kept beside its own.
    """

    source_id: UUID
    folder_key: str
    metadata: Mapping[str, Any]


class PlaceOf(Protocol):
    """Says where an item goes, or what is wrong with where it wants to go."""

    def __call__(self, item: Item) -> Place | FieldProblem: ...


@dataclass(frozen=True, slots=True)
class Written:
    """What came of some lines.

    Attributes:
        updated: the items that were there and say something else now.
        rejected: by line, in their order.
    """

    created: int
    updated: Sequence[UUID]
    unchanged: int
    rejected: Sequence[tuple[int, InvalidRequest]]


async def prepare(connection: Connection) -> None:
    """Make the room where items are laid out: once for a connection, before the first is written."""
    await connection.execute(_SQL["create_stage"])


async def write_items(
    connection: Connection,
    organization_id: UUID,
    records: Sequence[Record],
    *,
    zone: ZoneInfo,
    place_of: PlaceOf,
    take_ids: TakeIds,
) -> Written:
    """Write lines within a change, each for itself.

    A line is refused that is wrong by itself, names a segment that is not there, or has the id of an earlier line that
    was not refused. Items that are there keep their keys. What is searchable already is not touched: refresh its facts,
    and index what was created and updated.
    """
    cursor = await connection.execute(_SQL["segments"], {"organization_id": organization_id})
    segments = {key: segment_id async for key, segment_id in cursor}
    refused: dict[int, InvalidRequest] = {}
    good: dict[int, tuple[Item, Place]] = {}
    for record in records:
        if isinstance(record.found, InvalidRequest):
            refused[record.line] = record.found
        elif isinstance(place := _placed(record.found, place_of, segments), InvalidRequest):
            refused[record.line] = place
        else:
            good[record.line] = record.found, place
    first: dict[str, int] = {}
    for line, (item, _) in good.items():
        first.setdefault(item.external_id, line)
    free = await take_ids(list(first)) if first else set()
    chosen = {line: good[line] for external_id, line in first.items() if external_id in free}
    refused |= {
        line: InvalidRequest.of("external_id", "stands in an earlier line of this file: give each item its own")
        for line in good.keys() - chosen.keys()
    }
    rows = (_row(item, place, segments, zone) for item, place in chosen.values())
    created, unchanged, updated = await _write(connection, organization_id, rows)
    return Written(created, updated, unchanged, sorted(refused.items()))


def _placed(item: Item, place_of: PlaceOf, segments: Mapping[str, int]) -> Place | InvalidRequest:
    place = place_of(item)
    if isinstance(place, FieldProblem):
        return InvalidRequest([place])
    unknown = [
        FieldProblem(f"segments.{number}", "is no segment of this organization: add it first, or leave it out")
        for number, key in enumerate(item.segments)
        if key not in segments
    ]
    return InvalidRequest(unknown[:MOST_PROBLEMS]) if unknown else place


async def _write(
    connection: Connection, organization_id: UUID, rows: Iterator[Sequence[Any]]
) -> tuple[int, int, Sequence[UUID]]:
    """The numbers of new and of unchanged items, and those that changed."""
    scope = {"organization_id": organization_id}
    async with connection.cursor() as cursor:
        async with cursor.copy(_SQL["stage"]) as copy:
            for row in rows:
                await copy.write_row(row)
        await cursor.execute(_SQL["add_folders"], scope)
        await cursor.execute(_PLANS["plan_by_key"])
        await cursor.execute(_SQL["write_staged"], scope)
        ((created, unchanged, updated),) = await cursor.fetchall()
        await cursor.execute(_SQL["unstage"])
    return created, unchanged, updated


def _row(item: Item, place: Place, segments: Mapping[str, int], zone: ZoneInfo) -> Sequence[Any]:
    valid_from, valid_to = item.window(zone)
    return (
        place.source_id,
        item.external_id,
        item.folder or place.folder_key,
        item.title,
        item.text,
        item.source_hash,
        item.language,
        item.region_code,
        item.status,
        item.visibility,
        list(dict.fromkeys(item.channels)),
        _moment(valid_from, "-infinity"),
        _moment(valid_to, "infinity"),
        multirange(None if item.schedule is None else open_minutes(item.schedule)),
        item.source_url,
        Jsonb({**item.metadata, **place.metadata}),
        sorted({segments[key] for key in item.segments}),
    )


def _moment(value: datetime | None, always: str) -> datetime | str:
    return always if value is None else value


def multirange(ranges: Sequence[tuple[int, int]] | None) -> str | None:
    """PostgreSQL's text form of half-open ranges; None stays None."""
    if ranges is None:
        return None
    return "{" + ",".join(f"[{start},{end})" for start, end in ranges) + "}"
