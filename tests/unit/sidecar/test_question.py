"""A question as the search reads it."""

import pytest

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.search.question import Question, searchable


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\u200b \u2060", "\x00", "\U000e0041", "\u0640", "\ufeff"])
def test_what_shows_nothing_is_refused_by_field(text: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        searchable(text, "subQuestions.2")
    (problem,) = raised.value.problems
    assert (problem.field, problem.message) == ("subQuestions.2", "must hold 1 to 500 characters after trimming")


def test_length_counts_after_trimming() -> None:
    assert searchable(" " * 100 + "a" * 500 + "\n" * 100, "query") == "a" * 500
    with pytest.raises(InvalidRequest):
        searchable("a" * 501, "query")


def test_a_sign_that_stands_for_many_letters_does_not_make_a_long_text() -> None:
    assert len(searchable("\ufdfa" * 500, "query")) == 500


def read(text: str, **changes: str | None) -> Question:
    values: dict[str, str | None] = {"utterance": None, "language": None, "default_language": "de"} | changes
    return Question.read(text, **values)  # type: ignore[arg-type] # the keywords above


def test_the_answer_is_in_the_language_asked_for_and_the_vector_is_centred_in_the_texts_own() -> None:
    question = read("how much does parking cost for an hour", language="ar")
    assert (question.language, question.asked_in) == ("en", "ar")


def test_a_text_that_does_not_tell_its_language_is_in_the_one_asked_for_or_else_the_default() -> None:
    assert read("44", language="ru").language == "ru"
    assert (read("44").language, read("44").asked_in) == ("de", "de")


def test_the_utterance_feeds_words_and_codes_but_not_what_is_embedded() -> None:
    question = read("door code", utterance="uh what was the code for the north door, pin 44 x")
    assert question.text == "door code"
    assert {"north", "door"} <= set(question.words)
    assert "pin44x" in question.codes


def test_what_a_caller_says_at_length_leaves_the_question_as_it_is() -> None:
    story = "Hello, good morning, my cousin told me about the rooms that open late, no wait, not Monday, Thursday. " * 9
    question = read("late opening on Thursday", utterance=story + "So the code is pin forty-four x, yes?")
    assert question.text == "late opening on Thursday"
    assert {"cousin", "thursday", "pin"} <= set(question.words)
    assert not {"rooms", "open", "the", "hello"} & set(question.words)
    assert not question.is_monologue
    assert "pin44x" in question.codes


def test_a_common_word_counts_in_a_short_question_and_not_in_a_story() -> None:
    assert read("which room is open", language="en").words == ("room", "open")
    told = " ".join(f"thing{number}" for number in range(16))
    story = read(f"which room is open {told}", language="en")
    assert story.is_monologue
    assert not {"room", "open"} & set(story.words)


@pytest.mark.parametrize(
    ("text", "language"),
    [("pin forty-four x", "en"), ("пин сорок четыре икс", "ru"), ("بين أربعة وأربعون إكس", "ar")],
)
def test_a_spoken_code_is_looked_for_and_not_embedded(text: str, language: str) -> None:
    question = read(text, language=language)
    assert question.text == text
    assert "pin44x" in question.codes


def test_a_code_is_heard_in_the_texts_language_and_in_the_callers() -> None:
    question = read("Сколько стоит номер forty-four", language="en")
    assert question.language == "ru"
    assert "44" in question.codes


def test_words_are_told_once_and_without_those_that_say_nothing() -> None:
    question = read("what is the price of the price list", language="en")
    assert question.words == ("price", "list")
