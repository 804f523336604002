"""What the caller hears while a search runs, on the framework's own audio pipeline."""

import asyncio
from itertools import pairwise

import pytest

from tests.integration.worker.conftest import in_both_pipelines
from tests.support.fake_call import FakeCall, fake_call
from tests.support.fake_sidecar import FakeSidecar, answering, bootstrap_answer, found, hanging
from tests.support.scripted_llm import Say, ScriptedLLM, search
from tests.support.spoken_line import SpokenLine
from worker.messages import language
from worker.waiting import SearchLimits

FILLERS = set(language("en").waiting)
SOON = SearchLimits(filler=0.05, filler_again=0.05)
GREETING = "how can I help"

pytestmark = in_both_pipelines


def fillers(line: SpokenLine) -> list[str]:
    return [text for text in line.said() if text in FILLERS]


async def test_a_quick_result_is_not_waited_for_aloud(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole("LF-27-B")
    assert fillers(line) == []


@pytest.mark.parametrize("code", ["en", "ru"])
async def test_complaint_30_a_slow_search_is_waited_for_aloud_in_the_callers_language_and_not_remembered(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, code: str
) -> None:
    released = asyncio.Event()
    sidecar.bootstrap = answering(201, bootstrap_answer(agent={"language": code}).to_wire())
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    phrase = language(code).waiting[0]
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=SOON) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.hears_whole(phrase)
        released.set()
        await line.hears_whole("LF-27-B")
        remembered = [message.text_content for message in call.session.history.messages()]
    assert phrase not in remembered
    told = [event for event in sidecar.timeline if event.type == "turn" and event.text == phrase]
    assert told
    assert told[0].latency_ms is not None
    assert told[0].latency_ms < 4000


async def test_a_long_wait_is_never_filled_with_the_same_words_twice_in_a_row(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line = SpokenLine()
    llm = ScriptedLLM(search("door code"), Say("It is LF-27-B."), search("lab hours"), Say("At nine."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=SOON) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("What is the door code?")
        await line.until(lambda: len(fillers(line)) == 2)
        released.set()
        await line.hears_whole("LF-27-B")
        released.clear()
        await line.says("When is the lab open?")
        await line.until(lambda: len(fillers(line)) == 3)
        released.set()
        await line.hears_whole("At nine.")
    heard = fillers(line)
    assert all(one != other for one, other in pairwise(heard))


async def started(call: FakeCall, line: SpokenLine) -> None:
    """Ask, and wait until a filler that takes ten seconds is being said."""
    await call.answer()
    await line.hears_whole(GREETING)
    line.word_s = 5
    await line.until(lambda: len(call.deps.canned.spoken) == 5)
    call.deps.canned.spoken.clear()
    await line.says("What is the door code?")
    await line.until(lambda: fillers(line))
    line.word_s = 0.04


async def test_a_filler_ends_at_once_when_the_result_is_there(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=SOON) as call:
        await started(call, line)
        released.set()
        await line.hears_whole("LF-27-B", seconds=3)
    (filler,) = [sound for sound in line.heard if sound.text in FILLERS]
    assert filler.whole is False


async def test_complaint_6_a_filler_ends_at_once_when_the_caller_speaks(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.search = hanging(asyncio.Event())
    line, llm = SpokenLine(), ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=SOON) as call:
        await started(call, line)
        line.begins_to_speak()
        await line.until(lambda: line.heard[-1].whole is False, seconds=2)


async def test_what_is_said_while_waiting_needs_no_voice_by_then(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.search = hanging(asyncio.Event())
    line, llm = SpokenLine(), ScriptedLLM(search("door code"))
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=SOON) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.until(lambda: len(call.deps.canned.spoken) == 5)
        line.voice_fault = lambda _text: "hang"
        await line.says("What is the door code?")
        await line.until(lambda: fillers(line))
