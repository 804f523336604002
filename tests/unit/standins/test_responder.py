import json
from typing import Any

import pytest

from demo.standins.phrases import ENGLISH, phrases_for
from demo.standins.responder import Message, Reply, Say, Search, respond

QUESTION = "What does a dental cleaning cost?"


def conversation(*turns: tuple[str, str]) -> list[Message]:
    messages = [("system", "Be brief."), *turns]
    return [Message.model_validate({"role": role, "content": text}) for role, text in messages]


def output(status: str, *contents: str, **more: Any) -> tuple[str, str]:
    results = [{"type": "knowledge", "id": str(i), "title": "", "content": c} for i, c in enumerate(contents)]
    return "tool", json.dumps({"status": status, "guidance": "Do not guess.", "results": results} | more)


def answer(*turns: tuple[str, str]) -> Reply:
    return respond(conversation(*turns), can_search=True)


def test_a_question_is_searched_for_in_the_callers_words() -> None:
    assert answer(("user", QUESTION)) == Search(QUESTION)


def test_the_last_question_is_the_one_that_counts() -> None:
    turns = [("user", QUESTION), output("ok", "It costs $45.50."), ("assistant", "It costs $45.50.")]
    assert answer(*turns, ("user", "And on Sundays?")) == Search("And on Sundays?")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Hello", "greeting"),
        ("hello there", "greeting"),
        ("Thank you very much!", "thanks"),
        ("Okay, thank you. Goodbye.", "goodbye"),
        ("no thanks", "thanks"),
        ("okay", "anything_else"),
    ],
)
def test_small_talk_needs_no_search(words: str, kind: str) -> None:
    assert answer(("user", words)) == Say(getattr(ENGLISH, kind))


@pytest.mark.parametrize("words", ["hello what are your hours", "no parking today", "okay and how much is it"])
def test_a_question_after_a_greeting_is_a_question(words: str) -> None:
    assert answer(("user", words)) == Search(words)


def test_small_talk_is_answered_in_the_callers_language() -> None:
    assert answer(("user", "Спасибо!")) == Say(phrases_for("ru").thanks)


def test_a_long_row_of_small_words_is_read_in_no_time() -> None:
    assert isinstance(answer(("user", "no yes okay " * 5000 + "x")), Search)


def test_the_sidecars_own_sentences_are_read_out_unchanged() -> None:
    text = "A cleaning costs $45.50. Ask for PIN-44-X."
    assert answer(("user", QUESTION), output("ok", "Something else.", answer_text=text)) == Say(text)


def test_the_fitting_sentences_of_the_best_result_are_read_out_exactly() -> None:
    best = (
        "We open at 9. Dr. Ray leads the dental team. A dental cleaning costs $45.50 with code PIN-44-X. Bring an ID."
    )
    reply = answer(("user", QUESTION), output("ok", best, "A cleaning costs $99."))
    assert isinstance(reply, Say)
    assert "A dental cleaning costs $45.50 with code PIN-44-X." in reply.text
    assert "$99" not in reply.text
    assert "Bring an ID" not in reply.text


def test_with_no_word_in_common_a_number_that_was_asked_for_is_read_out() -> None:
    reply = answer(("user", "How much is it?"), output("ok", "Приём ведёт терапевт. Приём стоит 4 500 ₸."))
    assert reply == Say("Приём стоит 4 500 ₸.")


def test_an_instruction_is_not_an_answer() -> None:
    instruction = {"type": "instruction", "id": "1", "title": "", "content": "Never promise a refund."}
    reply = answer(("user", QUESTION), ("tool", json.dumps({"status": "ok", "results": [instruction]})))
    assert reply == Say(f"{ENGLISH.not_known} {ENGLISH.person}")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("no_match", ENGLISH.not_known),
        ("restricted_empty", ENGLISH.not_known),
        ("unavailable", ENGLISH.not_now),
        ("aborted", ENGLISH.not_now),
        ("a status that does not exist", ENGLISH.not_now),
    ],
)
def test_a_refusal_says_which_and_offers_a_person(status: str, sentence: str) -> None:
    assert answer(("user", QUESTION), output(status)) == Say(f"{sentence} {ENGLISH.person}")


def test_not_known_and_not_now_are_different_words_in_every_language() -> None:
    for language in ("en-us", "ru", "kk", "ar"):
        phrases = phrases_for(language)
        assert phrases.not_known != phrases.not_now


def test_a_suggested_reply_in_the_callers_language_is_taken() -> None:
    suggested = {"suggested_reply": "I'm sorry, I have no information on that."}
    english = answer(("user", QUESTION), output("no_match", **suggested))
    assert english == Say(f"{suggested['suggested_reply']} {ENGLISH.person}")
    russian = answer(("user", "Сколько стоит чистка?"), output("no_match", **suggested))
    assert russian == Say(f"{phrases_for('ru').not_known} {phrases_for('ru').person}")


def test_an_invalid_query_asks_the_caller_again() -> None:
    assert answer(("user", QUESTION), output("invalid_query")) == Say(ENGLISH.say_again)


@pytest.mark.parametrize("broken", ["An internal error occurred", "", "{", "[]", '{"results": []}'])
def test_an_output_that_cannot_be_read_is_no_answer(broken: str) -> None:
    assert answer(("user", QUESTION), ("tool", broken)) == Say(f"{ENGLISH.not_now} {ENGLISH.person}")


def test_okay_after_an_aborted_search_goes_on_with_it() -> None:
    assert answer(("user", QUESTION), output("aborted"), ("user", "okay")) == Search(QUESTION)


def test_without_the_tool_it_says_that_it_cannot_look() -> None:
    assert respond(conversation(("user", QUESTION)), can_search=False) == Say(ENGLISH.no_tool)


def test_before_anybody_spoke_it_greets() -> None:
    assert answer() == Say(ENGLISH.greeting)


def test_content_in_parts_is_read() -> None:
    parts = [{"type": "text", "text": QUESTION}]
    assert respond([Message(role="user", content=parts)], can_search=True) == Search(QUESTION)
