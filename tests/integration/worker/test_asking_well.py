"""How the tool asks: several parts at once, never the same twice, and nothing that the contract refuses."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from livekit.agents import AgentSession

from tests.integration.worker.conftest import QUESTION, TextCall, ask
from tests.support.fake_sidecar import FakeSidecar, answering, found, hanging, in_turn, nothing, passage, refusing
from tests.support.scripted_llm import Calls, Say, ScriptedLLM, search
from worker.call import CallDeps
from worker.sidecar_client import SidecarClient
from worker.tool_output import GUIDANCE
from worker.waiting import SearchLimits

PARTS = ["What is the door code?", "When is the lab open?"]


async def outputs(session: AgentSession[CallDeps], words: str = QUESTION) -> list[dict[str, Any]]:
    """All that the tool gave the model in this turn."""
    result: Any = await session.run(user_input=words)
    return [json.loads(event.item.output) for event in result.events if event.type == "function_call_output"]


async def test_several_parts_go_in_one_request_and_results_say_which_they_answer(
    call: TextCall, sidecar: FakeSidecar
) -> None:
    sidecar.search = answering(200, found(passage(parts=[0])).to_wire())
    llm = ScriptedLLM(search("door code and lab hours", sub_questions=PARTS))
    output, _ = await ask(await call.start(llm))
    (request,) = sidecar.searches
    assert [part.root for part in request.sub_questions or []] == PARTS
    assert request.utterance == QUESTION
    assert output["results"][0]["answers"] == [PARTS[0]]
    assert output["parts_without_result"] == [PARTS[1]]
    assert "parts_without_result" in output["guidance"]


async def test_a_single_question_has_no_parts_on_the_wire(call: TextCall, sidecar: FakeSidecar) -> None:
    output, _ = await ask(await call.start(ScriptedLLM(search("door code", sub_questions=[]))))
    assert sidecar.searches[0].sub_questions is None
    assert "parts_without_result" not in output


async def test_parts_that_repeat_the_question_are_sent_back_without_a_request(
    call: TextCall, sidecar: FakeSidecar
) -> None:
    llm = ScriptedLLM(search("door code", sub_questions=["the door code"]), search("door code"), Say("LF-27-B."))
    first, second = await outputs(await call.start(llm))
    assert first["status"] == "invalid_query"
    assert "repeats `query`" in first["guidance"]
    assert second["status"] == "ok"
    assert len(sidecar.searches) == 1
    await call.report()
    assert [(event.outcome, event.attempts) for event in sidecar.searched] == [("invalid_query", 0), ("ok", 1)]


async def test_the_same_question_again_in_a_turn_is_answered_without_a_request(
    call: TextCall, sidecar: FakeSidecar
) -> None:
    llm = ScriptedLLM(search("north entrance door code"), search("the door code, north entrance"), Say("LF-27-B."))
    session = await call.start(llm)
    first, second = await outputs(session)
    assert (first["status"], second["status"]) == ("ok", "already_searched")
    assert second["guidance"] == GUIDANCE["already_searched"]
    assert len(sidecar.searches) == 1
    llm.then(search("north entrance door code"), Say("LF-27-B."))
    (again,) = await outputs(session, "And once more?")
    assert again["status"] == "ok"
    await call.report()
    assert [event.code for event in sidecar.timeline if event.type == "error"] == ["already_searched"]


async def test_a_third_search_in_a_turn_is_not_made(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = answering(200, nothing().to_wire())
    llm = ScriptedLLM(Calls(search("door code"), search("opening hours"), search("parking fee")))
    statuses = [output["status"] for output in await outputs(await call.start(llm))]
    assert sorted(statuses) == ["enough_searched", "no_match", "no_match"]
    assert len(sidecar.searches) == 2


async def test_a_failed_search_is_not_called_done_when_it_is_asked_again(call: TextCall, sidecar: FakeSidecar) -> None:
    sidecar.search = in_turn(refusing(500))
    llm = ScriptedLLM(search("door code"), search("the door code"))
    statuses = [output["status"] for output in await outputs(await call.start(llm))]
    assert statuses == ["unavailable", "unavailable"]
    assert len(sidecar.searches) == 1


async def test_two_calls_at_once_have_each_their_own_guard(client: SidecarClient, sidecar: FakeSidecar) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    async with AsyncExitStack() as one, AsyncExitStack() as other:
        calls = [TextCall(client, one), TextCall(client, other)]
        sessions = [await each.start(ScriptedLLM(search("door code"))) for each in calls]
        asking = [asyncio.create_task(outputs(session)) for session in sessions]
        await sidecar.searched_times(2)
        released.set()
        for (output,) in await asyncio.gather(*asking):
            assert output["status"] == "ok"
        for each in calls:
            await each.report()


@pytest.mark.parametrize("region", ["DE", None])
async def test_the_region_of_the_agent_goes_along(call: TextCall, sidecar: FakeSidecar, region: str | None) -> None:
    session = await call.start(ScriptedLLM(search("door code")), SearchLimits(), region_code=region)
    await ask(session)
    assert sidecar.searches[0].region_code == region
