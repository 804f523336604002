"""Complaints about phone agents that no caller of ours should have, by their numbers in `docs/call.md`.

Those that belong to one part are tested there, under a name with the number.
"""

import asyncio
import json

import pytest
from livekit.agents import Agent

from contracts.voice import SearchResponse
from tests.integration.worker.conftest import in_both_pipelines
from tests.support.fake_call import fake_call
from tests.support.fake_sidecar import FakeSidecar, answering, found, hanging, nothing
from tests.support.scripted_llm import Call, Calls, RuledLLM, Say, ScriptedLLM, search
from tests.support.spoken_line import SpokenLine
from worker.agent import PhoneAgent
from worker.waiting import SearchLimits

GREETING = "how can I help"
CODE = "The code of the north entrance is LF-27-B."


@in_both_pipelines
async def test_complaint_1_words_before_a_call_of_the_tool_leave_no_silence_after_it(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    llm = ScriptedLLM(Calls(search("door code"), text="Let me have a look at that for you."), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("Let me have a look")
        await line.hears_whole("LF-27-B")


@in_both_pipelines
async def test_complaint_5_nobody_is_asked_whether_they_are_there_while_a_search_runs(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    limits = SearchLimits(filler=0.05, filler_again=0.3)
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=limits, silence_s=0.3) as call:
        await call.answer()
        await line.hears(GREETING)
        await line.says("What is the door code?")
        await line.until(lambda: sum(text in {"One moment.", "Let me check."} for text in line.said()) == 2)
        released.set()
        await line.hears_whole("LF-27-B")
    assert "Are you still there?" not in line.said()


@in_both_pipelines
async def test_complaints_7_and_8_a_search_begins_while_the_words_before_it_are_still_being_said(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    llm = ScriptedLLM(Calls(search("door code"), text="Let me have a look at that for you."), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        line.word_s = 5
        await line.says("What is the door code?")
        preamble = await line.hears("Let me have a look")
        await sidecar.searched_times(1)
        assert preamble.whole is None
        line.word_s = 0.04
        await line.says("What is the door code, please?")
        await line.until(lambda: preamble.whole is False)


@in_both_pipelines
async def test_complaints_10_and_11_a_turn_with_a_search_costs_two_completions(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("LF-27-B")
    assert len(llm.prompts) == 2
    assert PhoneAgent.on_user_turn_completed is Agent.on_user_turn_completed


@in_both_pipelines
async def test_complaint_13_a_tool_that_does_not_exist_is_no_silence(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    llm = ScriptedLLM(Call('{"q": "door code"}', name="look_up"), search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("LF-27-B")


@in_both_pipelines
@pytest.mark.parametrize(
    ("answer", "heard"), [(found(), CODE), (nothing(), "I have no information on that")], ids=["found", "nothing"]
)
async def test_complaint_14_a_model_that_only_searches_still_ends_in_words(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, answer: SearchResponse, heard: str
) -> None:
    sidecar.search = answering(200, answer.to_wire())
    topics = iter(range(1000))
    line, llm = SpokenLine(), RuledLLM(lambda _context: search(f"topic {next(topics)} of the clinic"))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole(heard)
    assert len(sidecar.searches) == 2


async def test_complaint_22_a_call_written_as_words_is_not_read_aloud(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    llm = ScriptedLLM(Say('search_knowledge {"query": "door code"}'), Say('Yes. {"query": "x"} We do.'))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("something went wrong")
        await line.hears_whole("say that again")
        await line.says("Do you have a door?")
        await line.hears_whole("We do.")
    assert not any("query" in text or "search_knowledge" in text for text in line.said())


@in_both_pipelines
async def test_complaint_23_a_call_whose_greeting_is_interrupted_has_its_one_end(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine(word_s=5)
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("At nine.")), line=line) as call:
        await call.answer()
        greeting = await line.hears(GREETING)
        line.word_s = 0.04
        await line.says("When are you open?")
        await line.hears_whole("At nine.")
        assert greeting.whole is False
        call.room.leave(call.caller, 1)
        await call.shut_down()
    assert len(sidecar.endings) == 1


@in_both_pipelines
async def test_complaint_29_the_times_to_the_filler_and_to_the_answer_stand_apart_on_the_timeline(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    limits = SearchLimits(filler=0.05)
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=limits) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("One moment.")
        released.set()
        await line.hears_whole("LF-27-B")
    times = {event.text: event.latency_ms for event in sidecar.timeline if event.type == "turn"}
    assert 50 <= times["One moment."] < times["It is LF-27-B."]


@in_both_pipelines
async def test_complaint_25_nothing_found_is_something_to_say(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.search = answering(200, nothing().to_wire())
    line = SpokenLine()

    llm = ScriptedLLM(search("parking"), Say("I have nothing on that."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("Where can I park?")
        await line.hears_whole("I have nothing on that.")
        (output,) = [item for item in call.session.history.items if item.type == "function_call_output"]
    assert json.loads(output.output)["suggested_reply"] == "I'm sorry, I have no information on that."
