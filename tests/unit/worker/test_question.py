"""What the model may ask: judged without a model, with a suggestion where it can do better."""

from typing import Any

import pytest

from worker.question import Question, Suggestion, read_question, same_question


def read(language: str = "en", **arguments: Any) -> Question | Suggestion:
    return read_question(arguments, language)


def test_a_question_of_several_parts_keeps_them_in_their_order() -> None:
    parts = [" how much is an X-ray ", "when is the lab open"]
    assert read(query="X-ray price and lab hours", sub_questions=parts) == Question(
        "X-ray price and lab hours", ("how much is an X-ray", "when is the lab open")
    )


@pytest.mark.parametrize("none", [None, []])
def test_without_parts_it_is_one_question(none: Any) -> None:
    assert read(query="lab hours", sub_questions=none) == Question("lab hours")


@pytest.mark.parametrize(
    ("parts", "hint"),
    [
        (["a", "b", "c", "d", "e"], "at most 4"),
        (["lab hours", ""], "leave out empty ones"),
        (["lab hours", " ?! "], "leave out empty ones"),
        (["x" * 501, "lab hours"], "1 to 500 characters"),
        (["where is the lab", "Where's the lab?"], "ask the same"),
        (["how much is an X-ray and when is the lab open"], "repeats `query`"),
        ("lab hours", "must be a list"),
        ([7], "must be a list"),
    ],
)
def test_parts_that_help_nobody_are_sent_back_with_a_suggestion(parts: Any, hint: str) -> None:
    read_ = read(query="How much is an X-ray and when is the lab open?", sub_questions=parts)
    assert isinstance(read_, Suggestion)
    assert hint in read_.text


def test_a_suggestion_holds_no_word_of_the_callers() -> None:
    read_ = read(query="sentinel hours", sub_questions=["sentinel hours"])
    assert isinstance(read_, Suggestion)
    assert "sentinel" not in read_.text


@pytest.mark.parametrize("field", ["caller_id", "org_id", "subQuestions", "language"])
def test_the_model_has_no_say_in_anything_else(field: str) -> None:
    assert isinstance(read_question({"query": "balance", field: "x"}, "en"), Suggestion)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a b c d e f g h i j", "a b c d e f g h i k", True),
        ("a b c d e f g", "a b c d e f h", True),  # 6 of 8
        ("a b c d e", "a b c d f", False),  # 4 of 6
        ("a b c d e f g e11", "a b c d e f g e12", False),
        ("a b c d e f g 44", "a b c d e f g", False),
        ("", "", True),
    ],
)
def test_two_ask_the_same_from_seven_tenths_of_words_and_never_with_another_code(
    one: str,
    other: str,
    same: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert same_question(frozenset(one.split()), frozenset(other.split()), 0.7) == same
