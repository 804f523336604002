"""Text that can be stored, and the language it can be in."""

import pytest

from worker.text import language_of, says_something, storable


def test_what_cannot_be_stored_is_left_out_and_the_rest_stays() -> None:
    assert storable("Price\x00 list \ud83d٤٤ ₹4,000 😀") == "Price list ٤٤ ₹4,000 😀"


@pytest.mark.parametrize("text", ["", "  ", "\u200b", "?!…", "₹"])
def test_text_without_a_letter_or_digit_says_nothing(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize("text", ["a", "٤", "سعر", "價", "क"])
def test_a_letter_or_digit_of_any_script_says_something(text: str) -> None:
    assert says_something(text)


@pytest.mark.parametrize(
    ("query", "spoken", "language"),
    [
        ("opening hours", "en", "en"),
        ("PIN-44-X", "ar", None),
        ("كم سعر PIN-44-X", "ar", "ar"),
        ("كم السعر", "en", None),
        ("сколько стоит", "en", None),
        ("сколько стоит", "ru", "ru"),
        ("44", "ru", "ru"),
        ("opening hours", "ja", "ja"),
        ("opening hours", None, None),
    ],
)
def test_the_language_is_the_calls_unless_the_query_cannot_be_in_it(
    query: str, spoken: str | None, language: str | None
) -> None:
    assert language_of(query, spoken) == language
