"""The canned lines: one for each key of the contract, in each language."""

import unicodedata
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from contracts.voice import SearchResponse
from demo.standins import espeak
from worker import messages
from worker.waiting_phrases import WaitingPhrases

LANGUAGES = sorted(messages.codes())
OTHER_SCRIPTS = {"ar": "ARABIC", "hi": "DEVANAGARI", "kk": "CYRILLIC", "ru": "CYRILLIC", "ur": "ARABIC"}


def test_the_languages_of_the_house_have_a_file() -> None:
    assert {"en", "ar", "ru", "kk", "de", "es", "fr", "tr", "hi", "ur"} <= messages.codes()


def test_every_message_key_of_the_contract_has_a_line() -> None:
    annotation = SearchResponse.model_fields["message_key"].annotation
    keys = {key for literal in get_args(annotation) for key in get_args(literal)}
    assert len(keys) == 3
    assert keys <= messages.keys()


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_file_has_every_line_in_its_own_script_and_none_that_nobody_asks_for(code: str) -> None:
    spoken = messages.language(code)
    assert spoken.lines.keys() == messages.keys()
    assert len(set(spoken.lines.values())) == len(spoken.lines)
    for text in (*spoken.lines.values(), *spoken.waiting):
        letters = {unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()}
        assert letters <= {OTHER_SCRIPTS.get(code, "LATIN")}, text


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_fills_a_wait_is_shorter_than_a_second_and_never_the_same_twice(code: str) -> None:
    phrases = messages.language(code).waiting
    assert len(set(phrases)) == len(phrases) >= 2
    for phrase in phrases:
        samples, rate = espeak.synthesize(phrase, code, 160)
        loud = np.flatnonzero(np.abs(samples) > 200)
        assert 0.1 < (loud[-1] - loud[0]) / rate < 1, phrase
    said = WaitingPhrases()
    heard = [said.next(code) for _ in range(7)]
    assert all(one != other for one, other in pairwise(heard))


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("Okay.", "en", True),
        ("Yes, thank you!", "en", True),
        ("", "en", True),
        ("Mm-hm", "en", True),
        ("okay and what about parking", "en", False),
        ("Thank goodness", "en", False),
        ("Да, хорошо", "ru", True),
        ("да, а сколько стоит", "ru", False),
        ("نعم، حسنًا", "ar", True),
        ("alles klar", "de", True),
    ],
)
def test_an_acknowledgement_is_told_from_a_turn_of_ones_own(text: str, code: str, expected: bool) -> None:  # noqa: FBT001
    assert messages.is_acknowledgement(text, code) == expected


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("what is the door code", "en", True),
        ("The door code?", "en", True),
        ("thank you very much", "en", False),
        ("сколько стоит анализ", "ru", True),
        ("كم سعر الفحص", "ar", True),
        ("spasibo", "ru", False),
    ],
)
def test_a_question_is_told_by_its_mark_or_its_words(text: str, code: str, expected: bool) -> None:  # noqa: FBT001
    assert messages.is_question(text, code) == expected


def test_the_words_that_carry_a_question_are_those_left_without_stop_words() -> None:
    assert messages.content_words("What is the Door-code for the north entrance?", "en") == {
        "door-code", "north", "entrance",
    }  # fmt: skip
    assert messages.content_words("what is it", "en") == {"what", "is", "it"}
    assert messages.content_words("ЧТО такое ПЦР, и ещё УЗИ", "ru") == {"пцр", "узи"}


def test_a_language_without_lines_hears_english() -> None:
    assert messages.line("call.goodbye", "fi") == messages.line("call.goodbye", "en")


def test_a_key_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        messages.line("call.nothing", "en")
