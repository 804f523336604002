"""When an item holds, on the organization's wall clock."""

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.knowledge.validity import (
    DAYS,
    end_of,
    minute_of_week,
    open_minutes,
    start_of,
    weekly_hours,
)

BERLIN, ALMATY, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Almaty"), ZoneInfo("America/New_York")
WEEK = 7 * 24 * 60
CLOCKS = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))
HOURS = st.dictionaries(st.sampled_from(DAYS), st.lists(st.tuples(CLOCKS, CLOCKS | st.just("24:00")), max_size=3))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("day", "zone", "opens", "closes"),
    [
        pytest.param("2026-01-31", BERLIN, "2026-01-30T23:00+00:00", "2026-01-31T23:00+00:00", id="winter"),
        pytest.param("2026-07-31", BERLIN, "2026-07-30T22:00+00:00", "2026-07-31T22:00+00:00", id="summer"),
        pytest.param("2026-03-29", BERLIN, "2026-03-28T23:00+00:00", "2026-03-29T22:00+00:00", id="a day of 23 hours"),
        pytest.param("2026-10-25", BERLIN, "2026-10-24T22:00+00:00", "2026-10-25T23:00+00:00", id="a day of 25 hours"),
        pytest.param(
            "2026-11-01", NEW_YORK, "2026-11-01T04:00+00:00", "2026-11-02T05:00+00:00", id="west of Greenwich"
        ),
        # At the end of 29 February 2024 Almaty's clock went from 24:00 back to 23:00, from UTC+6 to UTC+5.
        pytest.param("2024-02-28", ALMATY, "2024-02-27T18:00+00:00", "2024-02-28T18:00+00:00", id="Almaty before"),
        pytest.param("2024-02-29", ALMATY, "2024-02-28T18:00+00:00", "2024-02-29T19:00+00:00", id="Almaty's 25 hours"),
        pytest.param(
            "2024-03-01", ALMATY, "2024-02-29T19:00+00:00", "2024-03-01T19:00+00:00", id="Almaty's first at +5"
        ),
        pytest.param("2024-03-02", ALMATY, "2024-03-01T19:00+00:00", "2024-03-02T19:00+00:00", id="Almaty after"),
        # Cairo's clock goes from 23:59 to 01:00: there is no midnight.
        pytest.param(
            "2026-04-24", ZoneInfo("Africa/Cairo"), "2026-04-23T22:00+00:00", "2026-04-24T21:00+00:00", id="no midnight"
        ),
    ],
)
def test_a_bare_date_is_the_whole_local_day(day: str, zone: ZoneInfo, opens: str, closes: str) -> None:
    # In UTC: Python calls no two times equal of which one is within an hour that the zone skips or repeats.
    assert start_of(day, zone).astimezone(UTC) == utc(opens)
    assert end_of(day, zone).astimezone(UTC) == utc(closes)


@pytest.mark.parametrize(
    ("moment", "instant"),
    [
        ("2026-01-31T18:00:00+01:00", "2026-01-31T17:00+00:00"),
        ("2026-01-31T17:00:00Z", "2026-01-31T17:00+00:00"),
        ("2026-03-29T02:30:00+01:00", "2026-03-29T01:30+00:00"),  # in the gap, but the offset says which instant
        ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30+00:00"),  # the repeated hour, first time
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30+00:00"),  # and second
    ],
)
def test_a_time_with_an_offset_is_that_instant_whatever_the_zone(moment: str, instant: str) -> None:
    for zone in (BERLIN, ALMATY):
        assert start_of(moment, zone) == end_of(moment, zone) == utc(instant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-02-30",
        "31.01.2026",
        "2026-01-31T18:00:00",
        "2026-01-31 18:00",
        "2026-1-1",
        "٢٠٢٦",
    ],
)
def test_what_is_neither_a_date_nor_a_time_with_an_offset_is_refused(text: str) -> None:
    for read in (start_of, end_of):
        with pytest.raises(ValueError, match=r"\w"):
            read(text, BERLIN)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"])
def test_the_last_day_that_can_be_written_means_for_ever(zone: str) -> None:
    assert end_of("9999-12-31", ZoneInfo(zone)) > datetime(9999, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "zone", "day", "clock"),
    [
        ("2026-03-29T00:59+00:00", BERLIN, "sun", "01:59"),
        ("2026-03-29T01:00+00:00", BERLIN, "sun", "03:00"),
        ("2026-10-25T00:30+00:00", BERLIN, "sun", "02:30"),
        ("2026-10-25T01:30+00:00", BERLIN, "sun", "02:30"),
        ("2024-02-29T17:59+00:00", ALMATY, "thu", "23:59"),
        ("2024-02-29T18:30+00:00", ALMATY, "thu", "23:30"),
        ("2024-02-29T19:00+00:00", ALMATY, "fri", "00:00"),
        ("2026-11-30T00:00+00:00", ZoneInfo("UTC"), "mon", "00:00"),
        ("2026-11-30T00:00+00:00", NEW_YORK, "sun", "19:00"),
    ],
)
def test_the_minute_of_the_week_is_the_wall_clocks(instant: str, zone: ZoneInfo, day: str, clock: str) -> None:
    hours, minutes = map(int, clock.split(":"))
    assert minute_of_week(utc(instant), zone) == DAYS.index(day) * 1440 + hours * 60 + minutes


@pytest.mark.parametrize(
    ("hours", "ranges"),
    [
        pytest.param({}, [], id="never"),
        pytest.param({"mon": []}, [], id="a day without hours"),
        pytest.param({"mon": [("09:00", "17:30")]}, [(540, 1050)], id="one span"),
        pytest.param({"tue": [("09:00", "24:00")]}, [(1980, 2880)], id="until midnight"),
        pytest.param({"mon": [("22:00", "02:00")]}, [(1320, 1560)], id="overnight"),
        pytest.param({"sun": [("22:00", "02:00")]}, [(0, 120), (9960, 10080)], id="overnight into Monday"),
        pytest.param({"mon": [("09:00", "09:00")]}, [(540, 1980)], id="round the clock"),
        pytest.param({"mon": [("09:00", "12:00"), ("12:00", "17:00")]}, [(540, 1020)], id="touching"),
        pytest.param({"mon": [("10:00", "17:00"), ("09:00", "12:00")]}, [(540, 1020)], id="overlapping, unsorted"),
        pytest.param({"tue": [("00:00", "01:00")], "mon": [("23:00", "24:00")]}, [(1380, 1500)], id="over midnight"),
        pytest.param({day: [("00:00", "24:00")] for day in DAYS}, [(0, WEEK)], id="always"),
    ],
)
def test_weekly_hours_become_sorted_ranges_of_minutes(
    hours: dict[str, list[tuple[str, str]]], ranges: list[tuple[int, int]]
) -> None:
    assert open_minutes(hours) == ranges


@given(HOURS)
def test_a_minute_is_open_when_some_span_of_its_day_or_of_the_night_before_holds_it(
    hours: dict[str, list[tuple[str, str]]],
) -> None:
    def minutes(clock: str) -> int:
        return int(clock[:2]) * 60 + int(clock[3:])

    expected = {
        (DAYS.index(day) * 1440 + minutes(opens) + passed) % WEEK
        for day, spans in hours.items()
        for opens, closes in spans
        for passed in range((minutes(closes) - minutes(opens)) % 1440 or 1440)
    }
    ranges = open_minutes(hours)
    assert {minute for start, end in ranges for minute in range(start, end)} == expected
    assert all(end < start for (_, end), (start, _) in pairwise(ranges))


@pytest.mark.parametrize(
    ("hours", "names"),
    [
        ({"monday": [("09:00", "10:00")]}, "mon, tue"),
        ({"": []}, "mon, tue"),
        ({"mon": [("9:00", "10:00")]}, "HH:MM"),
        ({"mon": [("09:00", "25:00")]}, "HH:MM"),
        ({"mon": [("09:60", "10:00")]}, "HH:MM"),
        ({"mon": [("09:00+02:00", "10:00")]}, "HH:MM"),
        ({"mon": [("٠٩:٠٠", "10:00")]}, "HH:MM"),
        ({"mon": [("", "10:00")]}, "HH:MM"),
    ],
)
def test_another_day_or_time_is_refused_with_what_is_allowed(
    hours: dict[str, list[tuple[str, str]]], names: str
) -> None:
    with pytest.raises(ValueError, match=names):
        open_minutes(hours)


@given(HOURS)
def test_hours_that_were_read_are_told_as_they_hold(hours: dict[str, list[tuple[str, str]]]) -> None:
    minutes = open_minutes(hours)
    shown = weekly_hours(minutes)
    assert open_minutes(shown) == minutes
    for spans in shown.values():
        assert all(opens < closes for opens, closes in spans)
        assert all(first[1] < second[0] for first, second in pairwise(spans))


def test_hours_are_told_day_by_day() -> None:
    assert weekly_hours([(0, WEEK)]) == {day: [("00:00", "24:00")] for day in DAYS}
    assert weekly_hours([(22 * 60, 26 * 60)]) == {"mon": [("22:00", "24:00")], "tue": [("00:00", "02:00")]}
    assert weekly_hours([]) == {day: [] for day in DAYS}
