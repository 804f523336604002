"""The canned lines: one for each key of the contract, in each language."""

from string import ascii_letters
from typing import get_args

import pytest

from contracts.voice import SearchResponse
from worker import messages

LANGUAGES = ("en", "ar", "ru")


def test_every_message_key_of_the_contract_has_a_line() -> None:
    annotation = SearchResponse.model_fields["message_key"].annotation
    keys = {key for literal in get_args(annotation) for key in get_args(literal)}
    assert len(keys) == 3
    assert keys <= messages.keys()


@pytest.mark.parametrize("key", sorted(messages.keys()))
def test_a_line_is_in_the_language_asked_for(key: str) -> None:
    lines = [messages.line(key, language) for language in LANGUAGES]
    assert len(set(lines)) == len(LANGUAGES)
    assert lines[0].isascii()
    assert not any(letter in ascii_letters for text in lines[1:] for letter in text)


def test_a_language_without_lines_hears_english() -> None:
    assert messages.line("call.goodbye", "fi") == messages.line("call.goodbye", "en")


def test_a_key_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        messages.line("call.nothing", "en")
