"""Instants at which something changes: where time zones jump, windows open and close, and doors do.

Only where to look; what holds at an instant is for the rules to say.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from tests.oracle.rules import DAYS
from tests.oracle.world import Item

# Midnight that is skipped (Cairo, Beirut, Havana) or repeated, half an hour of summer time (Lord Howe), offsets of
# three quarters of an hour, both ends of the day, no summer time at all.
TIME_ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Africa/Cairo",
    "Asia/Beirut",
    "America/Havana",
    "America/Nuuk",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "UTC",
)
# The first and the last day that can be written: how an open end is often said.
_OPEN_ENDS = {
    "0001-01-01": datetime.min.replace(tzinfo=UTC),
    "9999-12-31": datetime.max.replace(tzinfo=UTC),
}
_HOUR, _QUARTER = timedelta(hours=1), timedelta(minutes=15)
_ORDINARY = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@cache
def anchors(time_zone: str) -> tuple[datetime, ...]:
    """The instants of 2026 at which the zone's clock jumps; noon of an ordinary day where it never does."""
    zone = ZoneInfo(time_zone)
    hours = [datetime(2026, 1, 1, tzinfo=UTC) + n * _HOUR for n in range(365 * 24)]
    jumps = [
        next(quarter for quarter in (hour + n * _QUARTER for n in range(1, 5)) if _offset(quarter, zone) != before)
        for (hour, before), (_, after) in pairwise((hour, _offset(hour, zone)) for hour in hours)
        if before != after
    ]
    return tuple(jumps) or (_ORDINARY,)


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta | None:
    return instant.astimezone(zone).utcoffset()


def window_ends(item: Item, time_zone: str) -> Iterator[datetime]:
    """Where the item begins and where it ceases to hold."""
    for text, days in ((item.valid_from, 0), (item.valid_until, 1)):
        if text is not None and text not in _OPEN_ENDS:
            yield first_instant(text, ZoneInfo(time_zone), days)


def opening_times(item: Item, time_zone: str, anchor: datetime) -> Iterator[datetime]:
    """Where its hours begin and end, within some days of the anchor."""
    zone = ZoneInfo(time_zone)
    for day in (anchor.astimezone(zone).date() + timedelta(days=n) for n in range(-2, 3)):
        for opens, closes in (item.hours or {}).get(DAYS[day.weekday()], ()):
            for clock in (opens, closes):
                # The evening of 24:00 and of an overnight end is the next day's beginning.
                on = day + timedelta(days=clock == "24:00" or (clock == closes and closes <= opens))
                at = time() if clock == "24:00" else time.fromisoformat(clock)
                for fold in (0, 1):
                    yield datetime.combine(on, at.replace(fold=fold), zone).astimezone(UTC)


def first_instant(text: str, zone: ZoneInfo, days: int) -> datetime:
    """A time as such; of a date the beginning of that day, or of one some days later."""
    if "T" in text:
        return datetime.fromisoformat(text).astimezone(UTC)
    if text in _OPEN_ENDS:
        return _OPEN_ENDS[text]
    day = date.fromisoformat(text) + timedelta(days=days)
    return datetime.combine(day, time(), zone).astimezone(UTC)
