"""At most one search ahead a turn, and none that nobody waits for."""

import asyncio

import pytest

from contracts.voice import SearchResponse
from worker.prefetch import Prefetch
from worker.question import Question

ASKED = "What is the north door code?"


class Sidecar:
    """Never answers; knows what it was asked, and what was given up."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.given_up: list[str] = []

    async def search(self, question: Question) -> SearchResponse:
        self.asked.append(question.query)
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.append(question.query)
        raise AssertionError


@pytest.fixture
def sidecar() -> Sidecar:
    return Sidecar()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_turn_has_one_and_the_next_turn_its_own(sidecar: Sidecar) -> None:
    prefetch = Prefetch(sidecar.search, "en")
    prefetch.caller_said(ASKED)
    prefetch.caller_said("of the house, I mean, not the garage")
    await settle()
    assert sidecar.asked == [ASKED]
    prefetch.drop()
    prefetch.turn_ended()
    prefetch.caller_said("opening hours of the lab")
    await settle()
    assert sidecar.asked == [ASKED, "opening hours of the lab"]
    prefetch.drop()
    await settle()
    assert sidecar.given_up == sidecar.asked


async def test_a_caller_who_goes_on_ends_it_and_the_turn_has_no_second(sidecar: Sidecar) -> None:
    prefetch = Prefetch(sidecar.search, "en")
    prefetch.caller_said(ASKED)
    await settle()
    prefetch.drop()
    await settle()
    assert sidecar.given_up == [ASKED]
    prefetch.caller_said("the one of the house, I mean")
    assert prefetch.take(Question(ASKED)) is None


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        (Question("north door code"), True),
        (Question("south garage fee"), False),
        (Question("north door code", ("north door code?", "lab hours?")), False),
    ],
)
async def test_it_is_taken_for_a_like_question_and_given_up_for_another(
    sidecar: Sidecar,
    question: Question,
    taken: bool,  # noqa: FBT001 - a column of the table
) -> None:
    prefetch = Prefetch(sidecar.search, "en")
    prefetch.caller_said(ASKED)
    await settle()
    task = prefetch.take(question)
    await settle()
    assert (task is not None) == taken
    assert sidecar.given_up == ([] if taken else [ASKED])
    if task:
        task.cancel()
        await settle()


@pytest.mark.parametrize("words", ["", "Okay, thank you.", "Parking?", "?!", "code " * 200])
async def test_words_that_ask_nothing_are_not_searched(sidecar: Sidecar, words: str) -> None:
    prefetch = Prefetch(sidecar.search, "en")
    prefetch.caller_said(words)
    await settle()
    assert sidecar.asked == []
