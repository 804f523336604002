"""What a caller keys in is a turn of theirs, and nobody else's."""

import asyncio
import json
import logging
from typing import Any

import pytest
from livekit import rtc

from tests.integration.worker.conftest import in_both_pipelines
from tests.support.fake_call import FakeCall, fake_call, participant
from tests.support.fake_sidecar import FakeSidecar, hanging
from tests.support.scripted_llm import Say, ScriptedLLM, search
from tests.support.spoken_line import SpokenLine
from worker import logs

CODE = "7350281946"

pytestmark = in_both_pipelines


def press(call: FakeCall, keys: str, by: Any = None) -> None:
    """Press keys, as LiveKit SIP tells it."""
    for key in keys:
        event = rtc.SipDTMF(code=0, digit=key, participant=by or call.caller)
        call.room.emit("sip_dtmf_received", event)


def users(call: FakeCall) -> list[str | None]:
    return [message.text_content for message in call.session.history.messages() if message.role == "user"]


async def test_a_code_that_is_keyed_in_is_answered_and_searched_for(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search(f"order {CODE}"), Say("It is on its way."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.until(lambda: line.heard)
        press(call, f"{CODE}#")
        await line.hears("It is on its way.")
        assert users(call) == [CODE]
    (asked,) = sidecar.searches
    assert asked.utterance == CODE


async def test_the_agent_falls_silent_at_the_first_key(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line = SpokenLine(word_s=0.5)
    llm = ScriptedLLM(Say("All of the offices are open from nine to five on each day of the week."), Say("Thank you."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, keys_pause_s=10) as call:
        await call.answer()
        await line.until(lambda: line.heard and line.heard[0].whole is not None)
        await line.says("When are you open?")
        await line.hears("All of the offices")
        press(call, "4")
        await line.until(lambda: any("offices" in sound.text and sound.whole is False for sound in line.heard))
        press(call, "2#")
        await line.hears("Thank you.")
        assert users(call)[-1] == "42"


async def test_a_search_that_runs_is_given_up_for_a_key(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    sidecar.search = hanging(asyncio.Event())
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("Thank you."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.until(lambda: line.heard and line.heard[0].whole is not None)
        await line.says("What is the door code?")
        await line.until(lambda: sidecar.searches)
        press(call, "4#")
        await line.hears("Thank you.")
        (output,) = [item.output for item in call.session.history.items if item.type == "function_call_output"]
    assert json.loads(output)["status"] == "aborted"
    assert [event.outcome for event in sidecar.timeline if event.type == "kb.search"] == ["aborted"]


async def test_the_timeline_has_a_dot_for_each_key(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("Thank you.")), line=line) as call:
        await call.answer()
        await line.until(lambda: line.heard)
        press(call, f"{CODE}#")
        await line.hears_whole("Thank you.")
    turns = [event for event in sidecar.timeline if event.type == "turn" and event.role == "caller"]
    assert [turn.text for turn in turns] == ["•" * len(CODE)]
    assert CODE not in "".join(event.to_wire() for event in sidecar.timeline)


async def test_only_the_caller_has_keys(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("Thank you.")), line=line) as call:
        await call.answer()
        await line.until(lambda: line.heard)
        press(call, "1#", by=participant("somebody-else", rtc.ParticipantKind.PARTICIPANT_KIND_SIP))
        call.room.emit("sip_dtmf_received", rtc.SipDTMF(code=1, digit="1", participant=None))
        press(call, "2#")
        await line.hears("Thank you.")
        assert users(call) == ["2"]


async def test_of_too_many_keys_the_caller_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, line=line) as call:
        await call.answer()
        await line.until(lambda: line.heard)
        press(call, "1" * 40 + "#")
        await line.hears("Could you say that again?")
        assert users(call) == []


async def test_no_log_at_any_level_holds_what_was_keyed_in(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, capfd: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    monkeypatch.setattr(root, "handlers", root.handlers[:])
    logs.configure("debug")
    line, llm = SpokenLine(), ScriptedLLM(search(f"order {CODE}"), Say("Thank you."))
    try:
        async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
            await call.answer()
            await line.until(lambda: line.heard)
            press(call, f"{CODE}#")
            await line.hears("Thank you.")
            press(call, CODE)  # and what was not finished
    finally:
        root.handlers, root.level = before, level
    written = capfd.readouterr().err
    assert "keyed_in" in written
    assert CODE not in written


async def test_keys_before_anybody_answers_and_after_the_call_do_nothing(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("Thank you.")), line=line) as call:
        press(call, "1#")
        await call.answer()
        await line.until(lambda: line.heard)
        press(call, "2#")
        await line.hears("Thank you.")
        history = users(call)
        await call.finish()
        press(call, "3#")
    assert history == ["2"]
