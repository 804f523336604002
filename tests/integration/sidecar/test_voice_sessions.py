"""A call's timeline, its one end, and what is kept of its searches."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.voice import app
from retrieval_sidecar.voice.sessions import end_lost
from tests.support.database import TestDatabase
from tests.support.inspection import rows, until, value
from tests.support.sidecar import Session, TestClock, VoiceClient, connected, running_sidecar, token_for
from tests.support.small_organization import EMPTY_NUMBER, MEMBER, OPEN_NUMBER, ORGANIZATION_ID

AT = "2026-12-01T12:00:01.250Z"


@pytest_asyncio.fixture
async def call(api: VoiceClient) -> AsyncIterator[Session]:
    yield await api.open(OPEN_NUMBER, MEMBER)


def turn(**changes: Any) -> dict[str, Any]:
    return {"type": "turn", "id": str(uuid4()), "at": AT, "role": "caller", "text": "Where can I park?"} | changes


def one_of_each() -> list[dict[str, Any]]:
    search = {"outcome": "ok", "searchId": str(uuid4()), "resultIds": [str(uuid4())], "ms": 12.5, "attempts": 1}
    return [
        turn(interrupted=False, latencyMs=640),
        {"type": "kb.search", "id": str(uuid4()), "at": AT} | search,
        {"type": "kb.inline", "id": str(uuid4()), "at": AT, "characters": 120},
        {"type": "error", "id": str(uuid4()), "at": AT, "source": "stt", "code": "timeout"},
        {"type": "handoff", "id": str(uuid4()), "at": AT, "reason": "caller_asked", "outcome": "offered"},
    ]


async def report(call: Session, events: list[dict[str, Any]]) -> Any:
    answer = await call.client.post(f"{call.path}/events", call.identity | {"events": events})
    assert answer.status == 202, answer
    return answer.body


async def stored(shop: TestDatabase, call: Session) -> dict[str, list[Any]]:
    found = await rows(
        shop,
        "select event_id::text, type, at, data from session_event where session_id = %s",
        [call.body["sessionId"]],
    )
    return {event_id: rest for event_id, *rest in found}


async def test_events_of_every_type_are_kept_as_they_were_told(call: Session, shop: TestDatabase) -> None:
    events = one_of_each()
    assert await report(call, events) == {"accepted": 5, "duplicates": 0}
    at = datetime(2026, 12, 1, 12, 0, 1, 250_000, UTC)
    assert await stored(shop, call) == {
        event["id"]: [event["type"], at, {k: v for k, v in event.items() if k not in ("id", "type", "at")}]
        for event in events
    }


async def test_an_event_is_kept_once(call: Session, shop: TestDatabase) -> None:
    first, second = turn(text="One"), turn(text="Two")
    assert await report(call, [first]) == {"accepted": 1, "duplicates": 0}
    assert await report(call, [first | {"text": "Changed"}, second]) == {"accepted": 1, "duplicates": 1}
    assert await report(call, [second, second]) == {"accepted": 0, "duplicates": 2}
    kept = await stored(shop, call)
    assert {event_id: data["text"] for event_id, (_, _, data) in kept.items()} == {
        first["id"]: "One",
        second["id"]: "Two",
    }


async def test_a_batch_with_one_wrong_event_is_refused_whole(call: Session, shop: TestDatabase) -> None:
    batch = [turn(), turn(role="nobody"), turn()]
    answer = await call.client.post(f"{call.path}/events", call.identity | {"events": batch})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "events.1.turn.role")
    assert await stored(shop, call) == {}


async def test_a_batch_that_breaks_off_in_the_database_leaves_nothing(call: Session, shop: TestDatabase) -> None:
    await rows(
        shop,
        "create function refuse() returns trigger language plpgsql as"
        " $$ begin if new.data ->> 'text' = 'third' then raise 'no'; end if; return new; end $$;"
        " create trigger refuse before insert on session_event for each row execute function refuse()",
    )
    batch = [turn(text=text) for text in ("first", "second", "third")]
    try:
        answer = await call.client.post(f"{call.path}/events", call.identity | {"events": batch})
    finally:
        await rows(shop, "drop trigger refuse on session_event; drop function refuse")
    assert (answer.status, answer.body["code"]) == (500, "internal_error")
    assert await stored(shop, call) == {}
    assert await report(call, batch) == {"accepted": 3, "duplicates": 0}


async def test_the_same_event_id_in_two_calls_is_two_events(call: Session, api: VoiceClient) -> None:
    event = turn()
    await report(call, [event])
    assert await report(await api.open(OPEN_NUMBER), [event]) == {"accepted": 1, "duplicates": 0}


async def test_events_are_taken_after_the_end(call: Session, shop: TestDatabase) -> None:
    await call.end()
    assert await report(call, [turn()]) == {"accepted": 1, "duplicates": 0}
    assert len(await stored(shop, call)) == 1


async def test_the_first_status_stays(call: Session, shop: TestDatabase) -> None:
    first = await call.end("transferred", "caller_asked")
    assert first.status == 200
    assert first.body == {
        "sessionId": call.body["sessionId"],
        "status": "transferred",
        "endedAt": "2026-12-01T12:00:00Z",
    }
    for again in (await call.end("transferred", "caller_asked"), await call.end("failed", "error")):
        assert (again.status, again.body) == (200, first.body)
    kept = await rows(
        shop, "select status, end_reason from call_session where session_id = %s", [call.body["sessionId"]]
    )
    assert kept == [("transferred", "caller_asked")]


async def test_a_call_that_has_ended_searches_no_more(call: Session) -> None:
    assert (await call.search("parking garage"))["status"] == "ok"
    await call.end()
    assert (await call.search("parking garage", expect=404))["code"] == "not_found"


async def status_of(database: TestDatabase, session: Session) -> tuple[str, str | None]:
    ((status, reason),) = await rows(
        database, "select status, end_reason from call_session where session_id = %s", [session.body["sessionId"]]
    )
    return status, reason


async def test_a_call_without_a_sign_of_life_is_ended_as_lost(
    voice: VoiceClient, database: TestDatabase, clock: TestClock
) -> None:
    silent, talking, searching, over = [await voice.open(OPEN_NUMBER) for _ in range(4)]
    await over.end()
    clock.advance(minutes=61)
    await report(talking, [turn()])
    answer = await searching.search("parking garage")
    await until(lambda: value(database, "select count(*) from search_log where search_id = %s", [answer["searchId"]]))
    async with connected(database, "voice") as connection:
        before = clock() - timedelta(minutes=60)
        assert await end_lost(connection, before, clock()) == 1
        assert await end_lost(connection, before, clock()) == 0
    assert await status_of(database, silent) == ("lost", "no_sign_of_life")
    assert await status_of(database, talking) == await status_of(database, searching) == ("active", None)
    assert await status_of(database, over) == ("completed", "caller_hung_up")
    # The worker that comes back is told so.
    late = await silent.end("completed")
    assert (late.body["status"], late.body["endedAt"]) == ("lost", "2026-12-01T13:01:00Z")
    await silent.search("parking garage", expect=404)


async def test_the_sidecar_looks_for_lost_calls_by_itself(
    database: TestDatabase, clock: TestClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_WATCHDOG_PERIOD_S", 0.01)
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID), clock=clock) as client:
        silent = await client.open(OPEN_NUMBER)
        clock.advance(minutes=61)

        async def is_lost() -> bool | None:
            return (await status_of(database, silent))[0] == "lost" or None

        await until(is_lost)


async def log_row(shop: TestDatabase, answer: Any) -> dict[str, Any]:
    """The search's row, once it is written: that happens after the answer."""
    ((row,),) = await until(
        lambda: rows(shop, "select row_to_json(l) from search_log l where search_id = %s", [answer["searchId"]])
    )
    return dict(row)


async def test_a_search_is_logged_with_counts_and_ids_and_without_its_content(
    call: Session, shop: TestDatabase
) -> None:
    query = "parking garage, robin@shop.example, +1 555 555 0101"
    answer = await call.search(query, regionCode="KZ", utterance="my card is 4111 1111 1111 1111")
    row = await log_row(shop, answer)
    assert row["query_redacted"] == "parking garage, [email] [number]"
    assert (row["session_id"], row["organization_id"]) == (call.body["sessionId"], call.body["orgId"])
    assert (row["status"], row["language"], row["region_code"]) == ("ok", "en", "KZ")
    assert row["result_ids"] == [result["id"] for result in answer["results"]]
    assert row["result_count"] == row["citation_count"] == len(answer["results"]) > 0
    assert row["top_score"] == pytest.approx(answer["results"][0]["score"], abs=1e-3)
    assert row["top_relevance"] == pytest.approx(answer["results"][0]["relevance"], abs=1e-3)
    assert (row["cross_language_fallback"], row["degraded"]) == (False, False)
    assert row["total_ms"] == pytest.approx(answer["timings"]["totalMs"], abs=0.1)
    assert datetime.fromisoformat(row["at"]) == datetime(2026, 12, 1, 12, tzinfo=UTC)
    text = str(row)
    assert not any(
        secret in text for secret in ("robin@", "555-0101", "555 0101", "4111 1111", "euros", "Parking garage")
    )


async def test_a_search_without_results_is_logged_too(call: Session, api: VoiceClient, shop: TestDatabase) -> None:
    missed = await log_row(shop, await call.search("chess championship mongolia"))
    assert (missed["status"], missed["result_count"], missed["top_score"]) == ("no_match", 0, None)
    nothing = await log_row(shop, await (await api.open(EMPTY_NUMBER)).search("parking garage"))
    assert (nothing["status"], nothing["result_ids"]) == ("restricted_empty", [])


async def test_every_search_of_a_call_is_in_its_log(call: Session, shop: TestDatabase) -> None:
    answers = [await call.search(query) for query in ("parking garage", "gift voucher", "parking garage")]
    for answer in answers:
        await log_row(shop, answer)
    logged = await rows(shop, "select search_id from search_log where session_id = %s", [call.body["sessionId"]])
    assert {search_id for (search_id,) in logged} == {UUID(answer["searchId"]) for answer in answers}
