"""Whatever fails, something is said within six seconds of the end of the caller's speech, and it is true."""

import asyncio

import pytest
from livekit.agents import APIError
from livekit.agents.stt import STTError
from livekit.agents.voice import ErrorEvent

from tests.integration.worker.conftest import in_both_pipelines
from tests.support.fake_call import fake_call
from tests.support.fake_sidecar import (
    FakeSidecar,
    Handler,
    answering,
    found,
    hanging,
    nothing,
    refusing,
)
from tests.support.scripted_llm import Fail, Nothing, Say, ScriptedLLM, Step, Wait, search
from tests.support.spoken_line import SpokenLine
from worker.messages import line as canned

# The same failure as the two kinds of provider tell it.
FAILED = {"cascade": "APIError", "realtime": "server_error"}
BUSY = {"cascade": "http_429", "realtime": "rate_limit_exceeded"}
GREETING = "how can I help"
TROUBLE = canned("call.trouble", "en")
CODE = "The code of the north entrance is LF-27-B."
RECORDING = "(recording)"
LATEST_S = 6.0
PREPARED = 5


async def greeted(line: SpokenLine) -> None:
    """Wait until the greeting was heard."""
    await line.hears_whole(GREETING)


@in_both_pipelines
@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (answering(200, nothing().to_wire()), "knowledge.no_match"),
        (
            answering(200, nothing("restricted_empty", "scope_empty", "knowledge.scope_empty").to_wire()),
            "knowledge.scope_empty",
        ),
        (answering(200, nothing("no_match", "context_required", "knowledge.context_required").to_wire()),
         "knowledge.context_required"),
        (refusing(500), "knowledge.unavailable"),
        (refusing(503), "knowledge.unavailable"),
        (answering(200, found().to_wire()), CODE),
    ],
)  # fmt: skip
async def test_what_a_search_came_to_is_said_even_where_the_model_then_fails(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, pipeline: str, answer: Handler, key: str
) -> None:
    sidecar.search = answer
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Fail())
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        ended = await line.says("What is the door code?")
        sound = await line.hears(key if key == CODE else canned(key, "en"))
        assert sound.at - ended < LATEST_S
    assert [event.code for event in sidecar.timeline if event.type == "error"] == [FAILED[pipeline]]


@in_both_pipelines
async def test_a_search_that_hangs_and_a_model_that_hangs_together_leave_no_dead_air(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.search = hanging(asyncio.Event())
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Wait(asyncio.Event()))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        ended = await line.says("What is the door code?")
        sound = await line.hears(canned("knowledge.unavailable", "en"))
        assert sound.at - ended < LATEST_S
        first = next(each for each in line.heard if each.at > ended)
        assert first.text in {"One moment.", "Let me check.", "Just a second."}


@in_both_pipelines
@pytest.mark.parametrize(
    ("step", "codes"),
    [
        (Fail(), FAILED),
        (Fail(status=429), BUSY),
        (Wait(asyncio.Event()), dict.fromkeys(FAILED, "TimeoutError")),
        (Nothing(), dict.fromkeys(FAILED, "empty")),
    ],
    ids=["error", "too many requests", "hangs", "says nothing"],
)
async def test_complaint_16_a_model_that_fails_is_apologised_for_in_time(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, pipeline: str, step: Step, codes: dict[str, str]
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(step, Say("At nine."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        ended = await line.says("What is the door code?")
        sound = await line.hears_whole("something went wrong")
        assert sound.at - ended < LATEST_S
        await line.hears_whole("Could you say that again?")
        await line.says("When are you open?")
        await line.hears_whole("At nine.")
    assert [event.code for event in sidecar.timeline if event.type == "error"] == [codes[pipeline]]


async def test_ears_that_fail_ask_to_say_it_again(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(), line=line) as call:
        await call.answer()
        await greeted(line)
        error = STTError(timestamp=0, label="ears", error=APIError("away", retryable=False), recoverable=False)
        call.session.emit("error", ErrorEvent(error=error, source=line.stt))
        await line.hears_whole("something went wrong")
    assert [event.source for event in sidecar.timeline if event.type == "error"] == ["stt"]


@in_both_pipelines
async def test_an_answer_that_breaks_off_is_apologised_for(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(Fail(after="The code of the north entrance begins with"))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        await line.says("What is the door code?")
        await line.hears("begins with")
        await line.hears_whole("something went wrong")


@pytest.mark.parametrize("fault", ["error", "hang"])
async def test_a_voice_that_fails_is_replaced_by_a_recording(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, fault: str
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(Say("At nine."), Say("At ten."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        line.voice_fault = lambda text: fault if "nine" in text else None
        ended = await line.says("When are you open?")
        sound = await line.hears_whole(RECORDING)
        assert sound.at - ended < LATEST_S
        await line.says("Sorry?")
        await line.hears_whole("At ten.")
    assert [event.source for event in sidecar.timeline if event.type == "error"] == ["tts"]


@in_both_pipelines
async def test_what_was_prepared_needs_no_voice_when_the_model_fails_too(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(Fail())
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await greeted(line)
        await line.until(lambda: len(call.deps.canned.spoken) == PREPARED)
        line.voice_fault = lambda _text: "hang"
        await line.says("When are you open?")
        await line.hears_whole(TROUBLE)


async def test_a_voice_that_is_away_from_the_start_ends_the_call_with_a_recorded_apology(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine(voice_fault=lambda _text: "error")
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("One."), Say("Two.")), line=line) as call:
        await call.answer()
        for number in range(1, 4):
            await line.until(lambda: len([s for s in line.heard if s.whole]) >= number)  # noqa: B023 - awaited here
            if number < 3:
                await line.says("Hello?")
        await call.shut_down()
    assert set(line.said()) == {RECORDING}
    assert sidecar.endings == [("failed", "outage")]


@pytest.mark.parametrize("fault", [None, "error"])
async def test_a_caller_of_an_unknown_number_hears_it_whether_or_not_there_is_a_voice(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, fault: str | None
) -> None:
    sidecar.bootstrap = refusing(404)
    line = SpokenLine(voice_fault=lambda _text: fault)
    async with fake_call(monkeypatch, sidecar, line=line) as call:
        await call.answer()
        await call.shut_down()
    assert " ".join(line.said()) == (RECORDING if fault else canned("call.unknown_number", "en"))
    assert all(sound.whole for sound in line.heard)


async def test_a_fallback_model_answers_where_the_first_fails(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    first, second = ScriptedLLM(Fail(), Fail(), Fail()), ScriptedLLM(Say("At nine."))
    made = iter([first, second])
    monkeypatch.setattr("worker.providers.openai.LLM", lambda **_options: next(made))
    async with fake_call(monkeypatch, sidecar, line=line, keep_llm=True, llm_fallback_model="other") as call:
        await call.answer()
        await greeted(line)
        await line.says("When are you open?")
        await line.hears_whole("At nine.")
