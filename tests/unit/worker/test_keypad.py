"""Keys of a telephone become inputs as a person means them."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from worker.keypad import MOST_INPUTS, MOST_KEYS, Keypad


@dataclass
class Heard:
    """What a keypad gave on.

    Attributes:
        beginnings: how often an input began.
    """

    inputs: list[str] = field(default_factory=list)
    beginnings: int = 0
    given: asyncio.Event = field(default_factory=asyncio.Event)

    def began(self) -> None:
        self.beginnings += 1

    def entered(self, keys: str) -> None:
        self.inputs.append(keys)
        self.given.set()


def press(keypad: Keypad, keys: Iterable[str]) -> None:
    for key in keys:
        keypad.press(key)


async def test_the_hash_key_ends_an_input_at_once_and_is_none_of_it() -> None:
    heard = Heard()
    press(Keypad(60, heard.began, heard.entered), "4482#07*A#")
    assert (heard.inputs, heard.beginnings) == (["4482", "07*A"], 2)


async def test_a_pause_ends_it_too_once() -> None:
    heard = Heard()
    keypad = Keypad(0.01, heard.began, heard.entered)
    press(keypad, "4482")
    assert heard.inputs == []
    await asyncio.wait_for(heard.given.wait(), 5)
    press(keypad, "#")
    assert heard.inputs == ["4482"]


@pytest.mark.parametrize("keys", [["#"], ["#", "#"], ["", "10", "x", "\n", "٤", "a", "<script>"]])
async def test_what_is_no_input_is_not_given_on(keys: list[str]) -> None:
    heard = Heard()
    press(Keypad(60, heard.began, heard.entered), [*keys, "#"])
    assert (heard.inputs, heard.beginnings) == ([], 0)


@pytest.mark.parametrize(("more", "given"), [(0, "1" * MOST_KEYS), (1, ""), (10_000, "")])
async def test_an_input_that_is_too_long_to_be_meant_is_not_cut_to_another(more: int, given: str) -> None:
    heard = Heard()
    keypad = Keypad(60, heard.began, heard.entered)
    press(keypad, "1" * (MOST_KEYS + more))
    assert len(keypad._keys) <= MOST_KEYS + 1
    press(keypad, "#2#")
    assert heard.inputs == [given, "2"]


async def test_a_call_brings_so_many_and_no_more() -> None:
    heard = Heard()
    press(Keypad(60, heard.began, heard.entered), "1#" * (MOST_INPUTS + 10))
    assert (len(heard.inputs), heard.beginnings) == (MOST_INPUTS, MOST_INPUTS)


async def test_what_was_not_finished_is_forgotten_with_the_call() -> None:
    heard = Heard()
    keypad = Keypad(0.01, heard.began, heard.entered)
    press(keypad, "4482")
    waiting = keypad._waiting
    keypad.close()
    press(keypad, "1#")
    assert waiting is not None
    assert waiting.cancelled()
    assert (heard.inputs, keypad._keys) == ([], "")
