"""The operation that says how well calls are answered, and what they asked in vain."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from aiohttp import web
from psycopg.rows import DictRow, dict_row

from contracts import management as wire
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.http.requests import read_choice, read_id_parameter, read_window, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.search.service import Clock
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text.normalize import words

_SQL = load_sql("retrieval_sidecar.management", "statistics.sql")
_USUALLY, _LONGEST, _LONGEST_BY_HOUR = timedelta(days=7), timedelta(days=92), timedelta(days=7)
_HOURS_UP_TO = timedelta(days=2)  # unless told otherwise
_FORMS, _QUESTIONS = 5_000, 20

Interval = Literal["hour", "day"]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database counts.

    Attributes:
        intervals: when each begins, in order.
        searches, calls: by the beginning of their interval; None is for all.
        unanswered: questions by their exact words.
    """

    time_zone: str
    intervals: Sequence[datetime]
    searches: Mapping[datetime | None, DictRow]
    calls: Mapping[datetime | None, DictRow]
    unanswered: Sequence[DictRow]


class StatisticsHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def operations(self) -> list[Operation]:
        return [Operation("GET", "/statistics", "agents.view", self.get_statistics)]

    async def get_statistics(self, request: web.Request, caller: Caller) -> web.Response:
        refuse_parameters(request, "from", "to", "agent_id", "interval")
        begin, end, interval = _read(request, self._clock())
        asked = {
            "organization_id": caller.organization_id,
            "agent_id": read_id_parameter(request, "agent_id"),
            "from": begin,
            "to": end,
            "interval": interval,
            "most": _FORMS,
        }

        async def counted(connection: Connection) -> _Found:
            return await _count(connection, asked)

        found = await self._transactions.read(counted)
        totals = found.searches[None]
        return answer(
            wire.Statistics(
                from_=begin,
                to=end,
                time_zone=found.time_zone,
                interval=interval,
                totals=_totals(totals, found.calls[None]["calls"]),
                series=[_point(each, found) for each in found.intervals],
                # Thousands of questions, each to be taken apart.
                unanswered=await asyncio.to_thread(_together, found.unanswered),
            )
        )


def _read(request: web.Request, now: datetime) -> tuple[datetime, datetime, Interval]:
    """From when and until when, in UTC, and in which steps. Raises InvalidRequest."""
    window = read_window(request)
    try:
        end = window.end or (now if window.begin is None else min(now, window.begin + _LONGEST))
        begin, end = (window.begin or end - _USUALLY).astimezone(UTC), end.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest.of("from", "must lie within the years 1 to 9999") from None
    length = end - begin
    if not timedelta(0) < length <= _LONGEST:
        raise InvalidRequest.of("from", f"must be before to, and at most {_LONGEST.days} days before it")
    if (chosen := read_choice(request, "interval", ("hour", "day"))) is None:
        return begin, end, "hour" if length <= _HOURS_UP_TO else "day"
    if chosen == "day":
        return begin, end, "day"
    if length > _LONGEST_BY_HOUR:
        raise InvalidRequest.of("interval", f"may be hour for at most {_LONGEST_BY_HOUR.days} days")
    return begin, end, "hour"


async def _count(connection: Connection, asked: Mapping[str, Any]) -> _Found:
    async def rows(name: str, **more: Any) -> list[DictRow]:
        async with connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(_SQL[name], {**asked, **more})
            return await cursor.fetchall()

    async with connection.transaction():
        await connection.execute(_SQL["one_state"])
        (zone,) = await rows("time_zone")
        in_zone = {"time_zone": zone["time_zone"]}
        return _Found(
            zone["time_zone"],
            [row["starts_at"] for row in await rows("intervals", **in_zone)],
            {row["starts_at"]: row for row in await rows("counted_searches", **in_zone)},
            {row["starts_at"]: row for row in await rows("counted_calls", **in_zone)},
            await rows("unanswered"),
        )


def _totals(row: DictRow, calls: int) -> wire.StatisticsTotals:
    searches: int = row["searches"]
    return wire.StatisticsTotals(
        call_count=calls,
        search_count=searches,
        answered_count=row["answered"],
        no_match_count=row["no_match"],
        restricted_empty_count=row["restricted_empty"],
        degraded_count=row["degraded"],
        answer_rate=round(row["answered"] / searches, 4) if searches else None,
        no_match_rate=round(row["no_match"] / searches, 4) if searches else None,
        p50_ms=_milliseconds(row["p50_ms"]),
        p95_ms=_milliseconds(row["p95_ms"]),
    )


def _point(starts_at: datetime, found: _Found) -> wire.StatisticsPoint:
    row = found.searches.get(starts_at, {})
    return wire.StatisticsPoint(
        starts_at=starts_at.astimezone(UTC),
        call_count=found.calls.get(starts_at, {}).get("calls", 0),
        search_count=row.get("searches", 0),
        answered_count=row.get("answered", 0),
        no_match_count=row.get("no_match", 0),
        p50_ms=_milliseconds(row.get("p50_ms")),
        p95_ms=_milliseconds(row.get("p95_ms")),
    )


def _together(rows: Sequence[DictRow]) -> list[wire.UnansweredQuestion]:
    """Questions of the same words, whatever their signs, accents and capitals, as one: what was asked most, first."""
    groups: dict[tuple[str, ...] | str, list[DictRow]] = {}
    for row in rows:
        groups.setdefault(tuple(words(row["query"])) or row["query"], []).append(row)
    questions = [
        wire.UnansweredQuestion(
            question=max(group, key=lambda row: row["last_at"])["latest"],
            count=sum(row["times"] for row in group),
            last_at=max(row["last_at"] for row in group).astimezone(UTC),
        )
        for group in groups.values()
    ]
    return sorted(questions, key=lambda each: (-each.count, -each.last_at.timestamp(), each.question))[:_QUESTIONS]


def _milliseconds(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
