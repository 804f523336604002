"""What a conversation leaves behind, and what keeps it from dead air."""

import asyncio
import logging

import pytest
from livekit import rtc
from livekit.agents import UserStateChangedEvent
from livekit.agents.voice.events import UserState

from tests.support.fake_call import CALLED, CALLER, FakeCall, fake_call
from tests.support.fake_sidecar import (
    FakeSidecar,
    answering,
    bootstrap_answer,
    in_turn,
    refusing,
)
from tests.support.scripted_llm import Fail, Say, ScriptedLLM, search
from worker import logs

Reason = rtc.DisconnectReason


async def test_knowledge_in_the_prompt_is_on_the_timeline_and_the_tool_stays(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    inline = {"text": "Fee: 40", "characters": 7}
    sidecar.bootstrap = answering(201, bootstrap_answer(inlineKnowledge=inline).to_wire())
    llm = ScriptedLLM(search("fee"), Say("40."))
    async with fake_call(monkeypatch, sidecar, llm) as call:
        await call.answer()
        await call.session.run(user_input="What is the fee?")
    (event,) = [event for event in sidecar.timeline if event.type == "kb.inline"]
    assert event.characters == 7
    assert len(sidecar.searches) == 1


async def test_a_model_that_fails_once_is_apologised_for_and_three_times_ends_the_call(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    llm = ScriptedLLM(Fail(), Say("Hello."), Fail(), Fail(), Fail())
    async with fake_call(monkeypatch, sidecar, llm) as call:
        await call.answer()
        for _ in range(5):
            await call.session.generate_reply(user_input="What is the door code?")
        await call.shut_down()
    said = [event.text for event in sidecar.timeline if event.type == "turn" and event.role == "agent"]
    trouble, out_of_order = "I'm sorry, something went wrong.", "I'm sorry, we can't take your call"
    assert [text.startswith(trouble) for text in said] == [False, True, False, True, True, False]
    assert said[-1].startswith(out_of_order)
    assert sidecar.endings == [("failed", "outage")]
    codes = [event.code for event in sidecar.timeline if event.type == "error"]
    assert codes == ["APIError"] * 4
    (handoff,) = [event for event in sidecar.timeline if event.type == "handoff"]
    assert (handoff.reason, handoff.outcome) == ("outage", "failed")


@pytest.mark.parametrize(("recogniser", "language"), [("agent", "ru"), ("auto", None)])
async def test_searches_name_the_language_where_the_recogniser_is_bound_to_it(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, recogniser: str, language: str | None
) -> None:
    russian = bootstrap_answer(agent={"language": "ru"})
    sidecar.bootstrap = answering(201, russian.to_wire())
    llm = ScriptedLLM(search("часы работы"), Say("С девяти."))
    async with fake_call(monkeypatch, sidecar, llm, stt_language=recogniser) as call:
        await call.answer()
        await call.session.run(user_input="Когда вы открыты?")
    assert sidecar.searches[0].language == language


def away(call: FakeCall, state: UserState = "away") -> None:
    """Let the session think that of the caller."""
    call.session.emit("user_state_changed", UserStateChangedEvent(old_state="listening", new_state=state))


async def test_a_silent_caller_is_asked_once_and_then_let_go(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    async with fake_call(monkeypatch, sidecar, silence_s=0.05) as call:
        await call.answer()
        away(call)
        await call.shut_down()
    assert call.said[1:] == ["Are you still there?", "Thank you for calling. Goodbye."]
    assert sidecar.endings == [("completed", "caller_silent")]


async def test_a_caller_who_speaks_again_is_not_let_go(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    async with fake_call(monkeypatch, sidecar, silence_s=0.05) as call:
        await call.answer()
        away(call)
        await call.heard("Are you still there?")
        away(call, "speaking")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call._down.wait(), 0.3)
    assert sidecar.endings == [("failed", "worker_shutdown")]


async def test_no_log_at_any_level_holds_what_was_said_found_or_dialled(
    monkeypatch: pytest.MonkeyPatch,
    sidecar: FakeSidecar,
    capfd: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    monkeypatch.setattr(root, "handlers", root.handlers[:])
    logs.configure("debug")
    llm = ScriptedLLM(
        search("sentinel-query", caller_id="sentinel-argument"),
        search("sentinel-query"),
        Say("sentinel-answer"),
        Fail("sentinel-error"),
    )
    sidecar.events = in_turn(refusing(404), *[refusing(503)] * 200)
    try:
        async with fake_call(monkeypatch, sidecar, llm) as call:
            await call.answer()
            await call.session.run(user_input="sentinel-words")
            await call.session.generate_reply(user_input="sentinel-words")
            call.room.leave(call.caller, Reason.UNKNOWN_REASON)
    finally:
        root.handlers, root.level = before, level
    written = capfd.readouterr().err
    for event in ("call_started", "searched", "provider_failed", "timeline_refused", "call_ended"):
        assert event in written
    assert "sentinel" not in written
    assert CALLER not in written
    assert CALLED not in written
    assert "LF-27-B" not in written


async def test_an_agent_without_a_greeting_still_speaks_first(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.bootstrap = answering(201, bootstrap_answer(agent={"language": "ru", "greeting": " "}).to_wire())
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
        await call.heard("Здравствуйте! Чем могу помочь?")


async def test_complaint_15_an_answer_without_the_search_that_it_needed_is_counted(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    llm = ScriptedLLM(
        Say("The door code is AB-12."),
        search("lab hours"),
        Say("The code of the north entrance is LF-27-B."),
        Say("You are welcome."),
        Say("Parking costs 4 euros an hour."),
    )
    async with fake_call(monkeypatch, sidecar, llm) as call:
        await call.answer()
        for words in ("What is the door code?", "When is the lab open?", "Thank you.", "What does parking cost?"):
            await call.session.run(user_input=words)
    counted = [event.code for event in sidecar.timeline if event.type == "error"]
    assert counted == ["answered_without_search"] * 2
    assert {event.source for event in sidecar.timeline if event.type == "error"} == {"worker"}
