"""Calls over the management API: what the voice API wrote of them."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, VoiceClient
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID, SELECTED_NUMBER

CALLS = "/api/v1/calls"


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), clock=clock) as client:
        yield client


async def test_a_call_is_told_with_its_events_its_searches_and_its_scope(
    manage: ManagementClient, voice: VoiceClient, clock: TestClock
) -> None:
    call = await voice.open(SELECTED_NUMBER, MEMBER)
    found = await call.search("parking garage, my number is +1 555 555 0101")
    clock.advance(minutes=1)
    turn = {"type": "turn", "id": str(uuid4()), "at": "2026-12-01T12:00:09Z", "role": "caller", "text": "Hello."}
    fault = {"type": "error", "id": str(uuid4()), "at": "2026-12-01T12:00:01Z", "source": "stt", "code": "timeout"}
    reported = await voice.post(f"{call.path}/events", call.identity | {"events": [turn, fault]})
    assert reported.status == 202
    await call.end()
    told = (await manage.get(f"{CALLS}/{call.body['sessionId']}")).body
    assert told["call"] == {
        "session_id": call.body["sessionId"],
        "call_id": told["call"]["call_id"],
        "agent": {"id": call.body["agent"]["agentId"], "name": "selected"},
        "contact_id": call.body["contact"]["contactId"],
        "status": "completed",
        "end_reason": "caller_hung_up",
        "started_at": "2026-12-01T12:00:00Z",
        "ended_at": "2026-12-01T12:01:00Z",
        "search_count": 1,
    }
    assert told["scope"]["knowledge_scope"] == call.body["scope"]["knowledge_scope"]
    assert told["scope"]["knowledge_scope"]["mode"] == "selected"
    assert told["events"] == [
        {"id": fault["id"], "type": "error", "at": fault["at"], "data": {"source": "stt", "code": "timeout"}},
        {"id": turn["id"], "type": "turn", "at": turn["at"], "data": {"role": "caller", "text": "Hello."}},
    ]
    (search,) = told["searches"]
    assert search["result_ids"] == [result["id"] for result in found["results"]]
    assert (search["status"], search["result_count"]) == ("ok", len(search["result_ids"]))
    assert search["query"].startswith("parking garage")
    assert "0101" not in str(told)


async def test_calls_are_listed_the_latest_first_and_by_agent_and_status(
    manage: ManagementClient, voice: VoiceClient, clock: TestClock
) -> None:
    calls = []
    for number in range(5):
        clock.advance(minutes=number % 2)  # some at once
        calls.append(await voice.open((OPEN_NUMBER, SELECTED_NUMBER)[number % 2]))
    await calls[0].end()
    times: list[tuple[str, str]] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await manage.get(CALLS, limit=2, **cursor)).body
        times += [(each["started_at"], each["session_id"]) for each in page["items"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert times == sorted(times, reverse=True)
    assert {identity for _, identity in times} == {call.body["sessionId"] for call in calls}
    assert len(times) == 5
    of_agent = (await manage.get(CALLS, agent_id=calls[1].body["agent"]["agentId"])).body["items"]
    assert {each["session_id"] for each in of_agent} == {calls[n].body["sessionId"] for n in (1, 3)}
    ended = (await manage.get(CALLS, status="completed")).body["items"]
    assert [each["session_id"] for each in ended] == [calls[0].body["sessionId"]]
    assert (await manage.get(CALLS, agent_id=str(uuid4()))).body == {"items": []}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "over"}, "status"),
        ({"status": ""}, "status"),
        ({"agent_id": "open"}, "agent_id"),
        ({"caller": "+15555550101"}, "caller"),
        ({"cursor": "WyJhIiwiYiJd"}, "cursor"),
        ({"limit": "0"}, "limit"),
    ],
)
async def test_what_it_cannot_be_asked_is_refused(manage: ManagementClient, query: dict[str, str], field: str) -> None:
    refused = await manage.get(CALLS, **query)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)
