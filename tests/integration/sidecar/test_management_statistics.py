"""How well calls are answered: the figures, hour by hour and day by day, and what was asked in vain."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.logged import log_call, log_search, moment
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import ORGANIZATION_ID

STATISTICS = "/api/v1/statistics"
NOTHING = {"call_count": 0, "search_count": 0, "answered_count": 0, "no_match_count": 0}


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), clock=clock) as client:
        yield client


async def figures(manage: ManagementClient, **query: Any) -> Any:
    answer = await manage.get(STATISTICS, **query)
    assert answer.status == 200, answer
    return answer.body


async def test_rates_and_percentiles_are_of_the_searches_in_the_window(
    manage: ManagementClient, database: TestDatabase
) -> None:
    call = await log_call(database, ORGANIZATION_ID, "open", "2026-11-30T09:00:00Z")
    other = await log_call(database, ORGANIZATION_ID, "selected", "2026-11-30T22:59:59Z")
    times = [3.0, 8.0, 13.0, 40.0, 41.5, 90.0, 700.0]
    statuses = ["ok", "ok", "ok", "no_match", "no_match", "restricted_empty", "ok"]
    for number, (milliseconds, status) in enumerate(zip(times, statuses, strict=True)):
        session = other if number == 6 else call
        at = f"2026-11-30T09:00:0{number}Z"
        fields = {"status": status, "total_ms": milliseconds, "degraded": number == 1}
        await log_search(database, ORGANIZATION_ID, session, at, f"question {number}", **fields)
    # Just before and just at the end of the window: not of it.
    await log_search(database, ORGANIZATION_ID, call, "2026-11-29T23:59:59.999999Z")
    await log_search(database, ORGANIZATION_ID, call, "2026-12-01T00:00:00Z")
    told = await figures(manage, **{"from": "2026-11-30T00:00:00Z", "to": "2026-12-01T00:00:00Z"})
    assert told["totals"] == {
        "call_count": 2,
        "search_count": 7,
        "answered_count": 4,
        "no_match_count": 2,
        "restricted_empty_count": 1,
        "degraded_count": 1,
        "answer_rate": 0.5714,
        "no_match_rate": 0.2857,
        "p50_ms": round(float(np.percentile(times, 50)), 1),
        "p95_ms": round(float(np.percentile(times, 95)), 1),
    }
    assert (told["time_zone"], told["interval"], len(told["series"])) == ("Europe/Berlin", "hour", 24)
    (busy,) = (each for each in told["series"] if each["search_count"])
    assert busy == {
        "starts_at": "2026-11-30T09:00:00Z",
        "call_count": 1,
        "search_count": 7,
        "answered_count": 4,
        "no_match_count": 2,
        "p50_ms": 40.0,
        "p95_ms": round(float(np.percentile(times, 95)), 1),
    }
    agent = await value(database, "select agent_id::text from phone_agent where name = 'selected'")
    of_agent = await figures(
        manage, agent_id=agent, **{"from": "2026-11-30T00:00:00Z", "to": "2026-12-01T00:00:00Z", "interval": "day"}
    )
    assert (of_agent["totals"]["call_count"], of_agent["totals"]["search_count"]) == (1, 1)
    assert (of_agent["totals"]["p50_ms"], of_agent["totals"]["answer_rate"]) == (700.0, 1.0)
    assert of_agent["unanswered"] == []


async def test_where_nothing_was_asked_there_are_no_rates(manage: ManagementClient) -> None:
    told = await figures(manage)
    assert told["totals"] == NOTHING | {"restricted_empty_count": 0, "degraded_count": 0}
    assert (told["from"], told["to"], told["interval"]) == ("2026-11-24T12:00:00Z", "2026-12-01T12:00:00Z", "day")
    assert all({**each, "starts_at": 0} == NOTHING | {"starts_at": 0} for each in told["series"])
    # The first and the last of them in part.
    assert [each["starts_at"] for each in told["series"]] == [f"2026-11-{day}T23:00:00Z" for day in range(23, 31)]
    assert told["unanswered"] == []
    assert await figures(manage, agent_id=str(uuid4())) == told


async def test_days_are_those_of_the_organizations_clock_whatever_its_length(
    manage: ManagementClient, database: TestDatabase
) -> None:
    # The clocks of Berlin went back on the 25th of October 2026.
    call = await log_call(database, ORGANIZATION_ID, "open", "2026-10-24T21:59:59Z")
    for at in ("2026-10-24T21:59:59Z", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"):
        await log_search(database, ORGANIZATION_ID, call, at, status="ok")
    window = {"from": "2026-10-24T00:00:00+02:00", "to": "2026-10-27T00:00:00+01:00"}
    by_day = await figures(manage, interval="day", **window)
    assert [(each["starts_at"], each["search_count"]) for each in by_day["series"]] == [
        ("2026-10-23T22:00:00Z", 1),
        ("2026-10-24T22:00:00Z", 2),
        ("2026-10-25T23:00:00Z", 1),
    ]
    by_hour = (await figures(manage, interval="hour", **window))["series"]
    assert len(by_hour) == 24 + 25 + 24
    begins = [moment(each["starts_at"]) for each in by_hour]
    assert {(after - before).total_seconds() for before, after in pairwise(begins)} == {3600.0}
    assert sum(each["search_count"] for each in by_hour) == by_day["totals"]["search_count"] == 4


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "UTC"])
async def test_every_search_is_in_one_interval_in_any_time_zone(
    manage: ManagementClient, database: TestDatabase, zone: str
) -> None:
    await rows(database, "update organization set time_zone = %s", [zone])
    call = await log_call(database, ORGANIZATION_ID, "open", "2026-04-04T00:00:00Z")
    for hour in range(0, 48, 5):
        await log_search(database, ORGANIZATION_ID, call, f"2026-04-0{4 + hour // 24}T{hour % 24:02}:20:00Z")
    for interval in ("hour", "day"):
        told = await figures(
            manage, interval=interval, **{"from": "2026-04-04T00:00:00Z", "to": "2026-04-06T00:00:00Z"}
        )
        assert sum(each["search_count"] for each in told["series"]) == told["totals"]["search_count"] == 10
        begins = [each["starts_at"] for each in told["series"]]
        assert begins == sorted(set(begins))


async def test_questions_without_an_answer_are_put_together_and_the_most_asked_come_first(
    manage: ManagementClient, database: TestDatabase
) -> None:
    call = await log_call(database, ORGANIZATION_ID, "open", "2026-11-30T09:00:00Z")
    asked = [
        ("Do you repair umbrellas?", "2026-11-30T09:00:00Z"),
        ("do you repair umbrellas", "2026-11-30T09:03:00Z"),
        ("Do you  repair UMBRELLAS!", "2026-11-30T09:02:00Z"),
        ("Où est la caisse", "2026-11-30T09:04:00Z"),
        ("ou est la caisse ?", "2026-11-30T09:05:00Z"),
        ("الضمان", "2026-11-30T09:06:00Z"),
        ("؟؟", "2026-11-30T09:07:00Z"),
        ("<img src=x onerror=alert(1)>", "2026-11-30T09:08:00Z"),
    ]
    for query, at in asked:
        await log_search(database, ORGANIZATION_ID, call, at, query)
    await log_search(database, ORGANIZATION_ID, call, "2026-11-30T09:09:00Z", "do you repair umbrellas", status="ok")
    await log_search(
        database, ORGANIZATION_ID, call, "2026-11-30T09:09:00Z", "do you repair umbrellas", status="restricted_empty"
    )
    assert (await figures(manage))["unanswered"] == [
        {"question": "do you repair umbrellas", "count": 3, "last_at": "2026-11-30T09:03:00Z"},
        {"question": "ou est la caisse ?", "count": 2, "last_at": "2026-11-30T09:05:00Z"},
        {"question": "<img src=x onerror=alert(1)>", "count": 1, "last_at": "2026-11-30T09:08:00Z"},
        {"question": "؟؟", "count": 1, "last_at": "2026-11-30T09:07:00Z"},
        {"question": "الضمان", "count": 1, "last_at": "2026-11-30T09:06:00Z"},
    ]


async def test_of_many_questions_the_first_twenty_are_told(manage: ManagementClient, database: TestDatabase) -> None:
    call = await log_call(database, ORGANIZATION_ID, "open", "2026-11-30T09:00:00Z")
    for number in range(25):
        for _ in range(1 + (number == 7)):
            await log_search(database, ORGANIZATION_ID, call, f"2026-11-30T09:00:{number:02}Z", f"question {number}")
    told = [each["question"] for each in (await figures(manage))["unanswered"]]
    assert told == ["question 7", *(f"question {number}" for number in range(24, 4, -1) if number != 7)][:20]


async def test_nothing_of_another_organization_counts(
    manage: ManagementClient, database: TestDatabase, tmp_path: Path
) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    call = await log_call(database, FOREIGN_ID, "foreign", "2026-11-30T09:00:00Z")
    await log_search(database, FOREIGN_ID, call, "2026-11-30T09:00:00Z", "theirs")
    agent: UUID = await value(database, "select agent_id from phone_agent where name = 'foreign'")
    for query in ({}, {"agent_id": str(agent)}):
        told = await figures(manage, **query)
        assert (told["totals"]["search_count"], told["totals"]["call_count"], told["unanswered"]) == (0, 0, [])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2026-08-31T11:59:59Z", "to": "2026-12-01T12:00:00Z"}, "from"),
        ({"from": "2026-12-01T12:00:01Z"}, "from"),
        ({"from": "2026-11-30T00:00:00Z", "to": "2026-11-29T00:00:00Z"}, "to"),
        ({"to": "0001-01-02T00:00:00Z"}, "from"),
        ({"interval": "minute"}, "interval"),
        ({"interval": "hour", "from": "2026-11-24T11:59:59Z"}, "interval"),
        ({"agent_id": "open"}, "agent_id"),
        ({"from": "last week"}, "from"),
        ({"limit": "5"}, "limit"),
    ],
)
async def test_what_it_cannot_be_asked_is_refused(manage: ManagementClient, query: dict[str, str], field: str) -> None:
    refused = await manage.get(STATISTICS, **query)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)


async def test_a_window_without_an_end_ends_now_or_as_late_as_it_may(manage: ManagementClient) -> None:
    told = await figures(manage, **{"from": "2026-11-30T12:00:00Z"})
    assert (told["to"], told["interval"]) == ("2026-12-01T12:00:00Z", "hour")
    told = await figures(manage, **{"from": "2026-01-01T00:00:00Z"})
    assert (told["to"], told["interval"]) == ("2026-04-03T00:00:00Z", "day")
    assert len(told["series"]) == 93
