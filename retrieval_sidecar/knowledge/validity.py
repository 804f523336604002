"""When an item holds: windows and weekly hours, on the organization's wall clock."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

MINUTES_A_DAY = 24 * 60
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00")


def start_of(value: str, zone: ZoneInfo) -> datetime:
    """The instant at which a window opens. A bare date is the beginning of that local day.

    Raises ValueError for text that is neither a date nor a time with an offset.
    """
    return _instant(value, zone, days=0)


def end_of(value: str, zone: ZoneInfo) -> datetime:
    """The instant at which a window closes. A bare date holds through the end of that local day."""
    return _instant(value, zone, days=1)


def _instant(value: str, zone: ZoneInfo, *, days: int) -> datetime:
    if len(value) == len("2026-01-31"):
        day = date.fromisoformat(value)
        if day == date.max:  # 9999-12-31 is how "for ever" is often written
            return datetime.combine(day, time.max, zone)
        return datetime.combine(day + timedelta(days=days), time.min, zone)
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a time needs an offset, such as 2026-01-31T18:00:00+01:00")
    return moment


def minute_of_week(now: datetime, zone: ZoneInfo) -> int:
    """Minutes since Monday 00:00 on the zone's wall clock, whatever its offset is just now."""
    local = now.astimezone(zone)
    return local.weekday() * MINUTES_A_DAY + local.hour * 60 + local.minute


def open_minutes(hours: Mapping[str, Sequence[tuple[str, str]]]) -> list[tuple[int, int]]:
    """Weekly hours as half-open ranges of minutes of the week, sorted, touching ones merged.

    Args:
        hours: for each of mon…sun its opening times, `("09:00", "17:30")`; an end of 24:00 is midnight, and an end at
            or before the start runs into the next day.

    Raises:
        ValueError: for another day or time; says what is allowed.
    """
    ranges: list[tuple[int, int]] = []
    for day, spans in hours.items():
        if day not in DAYS:
            raise ValueError(f"a day must be one of: {', '.join(DAYS)}")
        midnight = DAYS.index(day) * MINUTES_A_DAY
        for opens, closes in spans:
            start, end = midnight + _minute(opens), midnight + _minute(closes)
            if end <= start:
                end += MINUTES_A_DAY
            week = 7 * MINUTES_A_DAY
            ranges += [(start, min(end, week))] + ([(0, end - week)] if end > week else [])
    return _merged(sorted(ranges))


def weekly_hours(ranges: Sequence[tuple[int, int]]) -> dict[str, list[tuple[str, str]]]:
    """Weekly hours as `open_minutes` reads them, day by day.

    What runs past midnight ends there, and goes on with the next day. Without any range each day is there, and empty.
    """
    hours: dict[str, list[tuple[str, str]]] = {day: [] for day in DAYS}
    for number, day in enumerate(DAYS):
        midnight = number * MINUTES_A_DAY
        for start, end in ranges:
            opens, closes = max(start - midnight, 0), min(end - midnight, MINUTES_A_DAY)
            if opens < closes:
                hours[day].append((_clock(opens), _clock(closes)))
    return {day: spans for day, spans in hours.items() if spans} or hours


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _minute(clock: str) -> int:
    if not _CLOCK.fullmatch(clock):
        raise ValueError("a time must be HH:MM, from 00:00 to 24:00")
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
