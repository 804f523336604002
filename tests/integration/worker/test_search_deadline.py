"""The tool's time: tries, deadline, and the caller who does not wait for it."""

import asyncio
import json
import time

import pytest
from aiohttp import web
from aiohttp.test_utils import unused_port

from tests.integration.worker.conftest import QUESTION, TextCall, ask
from tests.support.fake_sidecar import (
    TOKEN,
    FakeSidecar,
    answering,
    found,
    hanging,
    in_turn,
    refusing,
)
from tests.support.scripted_llm import Say, ScriptedLLM, search
from worker.sidecar_client import SidecarClient
from worker.tool_output import GUIDANCE
from worker.waiting import SearchLimits

SHORT = SearchLimits(total=0.4, http=0.3, grace=0.05, filler=10)


@pytest.mark.parametrize("status", [400, 401, 404, 500, 504])
async def test_a_status_that_a_second_try_would_not_change_is_not_tried_again(
    call: TextCall, sidecar: FakeSidecar, status: int
) -> None:
    sidecar.search = refusing(status)
    output, _ = await ask(await call.start(ScriptedLLM(search("door code"))))
    assert output["status"] == "unavailable"
    assert output["guidance"] == GUIDANCE["unavailable"]
    assert len(sidecar.searches) == 1


async def test_503_is_tried_exactly_once_more(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = in_turn(refusing(503), answering(200, found().to_wire()))
    output, _ = await ask(await call.start(ScriptedLLM(search("door code"))))
    assert output["status"] == "ok"
    assert len(sidecar.searches) == 2
    assert sidecar.deadlines[1] < sidecar.deadlines[0]

    sidecar.search = refusing(503)
    output, _ = await ask(await call.start(ScriptedLLM(search("door code"))))
    assert output["status"] == "unavailable"
    assert len(sidecar.searches) == 4
    await call.report()
    attempts = [event.attempts for event in sidecar.searched]
    assert attempts == [2, 2]


async def dropped(request: web.Request) -> web.Response:
    """Close the connection without an answer."""
    assert request.transport
    request.transport.close()
    raise asyncio.CancelledError


async def test_a_connection_that_breaks_is_tried_exactly_once_more(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = in_turn(dropped, answering(200, found().to_wire()))
    output, _ = await ask(await call.start(ScriptedLLM(search("door code"))))
    assert output["status"] == "ok"
    assert len(sidecar.searches) == 2


async def test_nobody_listening_is_unavailable_after_two_tries(sidecar: FakeSidecar, call: TextCall) -> None:
    async with SidecarClient.connect(f"http://127.0.0.1:{unused_port()}", TOKEN) as nobody:
        call.client, reporting = nobody, call.client
        session = await call.start(ScriptedLLM(search("door code")))
        started = time.monotonic()
        output, _ = await ask(session)
    assert output["status"] == "unavailable"
    assert time.monotonic() - started < 1
    call.timelines[0]._client = reporting
    await call.report()
    assert [event.attempts for event in sidecar.searched] == [2]


async def test_a_sidecar_that_hangs_is_given_up_in_time_and_sees_it(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = hanging(asyncio.Event())
    session = await call.start(ScriptedLLM(search("door code")), SHORT)
    started = time.monotonic()
    output, _ = await ask(session)
    assert output["status"] == "unavailable"
    assert time.monotonic() - started < 1
    await asyncio.wait_for(sidecar.disconnected.wait(), 1)
    assert sidecar.deadlines[0] <= 300
    assert len(sidecar.searches) == 1


async def test_four_seconds_of_wall_clock_are_never_passed(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = in_turn(refusing(503), hanging(asyncio.Event()))
    session = await call.start(ScriptedLLM(search("door code")))
    output, _ = await ask(session)
    assert output["status"] == "unavailable"
    await asyncio.wait_for(sidecar.disconnected.wait(), 1)
    await call.report()
    (event,) = sidecar.searched
    assert 3700 < event.ms < 4000
    assert event.attempts == 2


async def test_a_barge_in_cancels_the_search_and_is_not_read_as_not_found(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = hanging(asyncio.Event())
    session = await call.start(ScriptedLLM(search("door code"), Say("Yes?")), SearchLimits(grace=0.05))
    turn = session.generate_reply(user_input=QUESTION)
    await asyncio.wait_for(sidecar.searching.wait(), 2)
    turn.interrupt()
    await asyncio.wait_for(sidecar.disconnected.wait(), 1)
    await turn
    (output,) = [json.loads(item.output) for item in session.history.items if item.type == "function_call_output"]
    assert output["status"] == "aborted"
    assert output["guidance"] == GUIDANCE["aborted"]
    await call.report()
    (event,) = sidecar.searched
    assert event.outcome == "aborted"


async def test_a_search_that_is_nearly_done_survives_a_short_word_of_the_caller(
    call: TextCall, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    session = await call.start(ScriptedLLM(search("door code")), SearchLimits(grace=2))
    turn = session.generate_reply(user_input=QUESTION)
    await asyncio.wait_for(sidecar.searching.wait(), 2)
    turn.interrupt()
    released.set()
    await turn
    (output,) = [json.loads(item.output) for item in session.history.items if item.type == "function_call_output"]
    assert output["status"] == "ok"


async def test_a_call_that_ends_in_the_middle_still_leaves_its_event(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = hanging(asyncio.Event())
    session = await call.start(ScriptedLLM(search("door code")), SearchLimits(grace=0.05))
    session.generate_reply(user_input=QUESTION)
    await asyncio.wait_for(sidecar.searching.wait(), 2)
    await session.aclose()
    await asyncio.wait_for(sidecar.disconnected.wait(), 1)
    await call.report()
    outcomes = [event.outcome for event in sidecar.searched]
    assert outcomes == ["aborted"]
