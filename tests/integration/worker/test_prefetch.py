"""Searching ahead: the answer is there when the model asks, and nothing else changes."""

import asyncio

import pytest

from tests.support.fake_call import fake_call
from tests.support.fake_sidecar import FakeSidecar, Handler, answering, found, in_turn, nothing, refusing
from tests.support.scripted_llm import Say, ScriptedLLM, Step, Wait, search
from tests.support.spoken_line import SpokenLine

GREETING = "how can I help"
ASKED, LIKE, UNLIKE = "What is the north door code?", "north door code", "opening hours of the pharmacy"
FOUND = answering(200, found().to_wire())


async def hold(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, query: str, *, prefetch: bool = True
) -> list[str]:
    """Ask, let the model search for `query` once the sidecar has heard of it, and give what was searched."""
    line = SpokenLine()
    ready = asyncio.Event()
    steps: list[Step] = [Wait(ready, search(query)), Say("It is LF-27-B.")]
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(*steps), line=line, prefetch=prefetch) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        if prefetch:
            await sidecar.searched_times(1)
        ready.set()
        await line.hears_whole("LF-27-B")
    return [request.query for request in sidecar.searches]


async def test_a_like_question_is_answered_by_what_was_searched_ahead(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    assert await hold(monkeypatch, sidecar, LIKE) == [ASKED]
    assert [event.outcome for event in sidecar.searched] == ["ok"]


async def test_another_question_is_searched_by_itself(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    assert await hold(monkeypatch, sidecar, UNLIKE) == [ASKED, UNLIKE]


@pytest.mark.parametrize("ahead", [answering(200, nothing().to_wire()), refusing(500)], ids=["nothing", "error"])
async def test_where_the_callers_words_find_nothing_the_models_are_searched(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, ahead: Handler
) -> None:
    sidecar.search = in_turn(ahead, FOUND)
    assert await hold(monkeypatch, sidecar, LIKE) == [ASKED, LIKE]
    assert [event.outcome for event in sidecar.searched] == ["ok"]


async def test_it_is_off_unless_it_is_set(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    assert await hold(monkeypatch, sidecar, LIKE, prefetch=False) == [LIKE]


async def test_thanks_are_not_searched(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    line, llm = SpokenLine(), ScriptedLLM(Say("You are welcome."))
    async with fake_call(monkeypatch, sidecar, llm, line=line, prefetch=True) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("Okay, thank you.")
        await line.hears_whole("You are welcome.")
    assert sidecar.searches == []
