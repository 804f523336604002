"""Which answers needed a search that was not made."""

import json

import pytest

from worker.grounding import TurnJudge
from worker.messages import content_words

PROMPT = "You answer the phone of Larkfield Clinic. It stands at 4 Mill Lane."


def judge(code: str = "en") -> TurnJudge:
    return TurnJudge(code, set(content_words(PROMPT, code)))


def answered(said: TurnJudge, asked: str, *answers: str) -> bool:
    said.caller_said(asked)
    for answer in answers:
        said.agent_said(answer)
    return said.ended()


@pytest.mark.parametrize(
    ("asked", "answer", "unsearched"),
    [
        ("What is the door code for the north entrance?", "The code is LF-27-B, as far as I know.", True),
        ("what does a knee scan cost", "It usually costs around ninety euros.", True),
        ("tell me about the knee scan", "A knee scan costs 790 euros.", True),
        ("What is the door code?", "Which door do you mean?", False),
        ("Thank you very much", "You are welcome, have a lovely afternoon there.", False),
        ("Okay, thanks", "Our pharmacy closes at 17:00 today.", False),
        ("Hello there", "Hello, this is the clinic speaking.", False),
        ("Where does the clinic stand?", "Larkfield Clinic stands at 4 Mill Lane.", False),
    ],
)
def test_a_fact_that_nobody_looked_up_is_told_from_small_talk(
    asked: str,
    answer: str,
    unsearched: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert answered(judge(), asked, answer) == unsearched


def test_what_was_searched_or_said_before_may_be_said_again() -> None:
    said = judge()
    said.caller_said("What is the door code for the north entrance?")
    said.searched(
        json.dumps({"results": [{"title": "Doors", "content": "The code of the north entrance is LF-27-B."}]})
    )
    said.agent_said("It is LF-27-B, for the north entrance.")
    assert not said.ended()
    said.caller_said("What was the code of that entrance again?")
    said.agent_said("The code of the north entrance is LF-27-B.")
    assert not said.ended()
    assert answered(said, "And what is the code of the garage?", "The garage has the code GR-11-A.")


def test_a_search_that_broke_off_counts_as_one() -> None:
    said = judge()
    said.caller_said("What is the door code for the north entrance?")
    said.searched("An internal error occurred")
    said.agent_said("I am afraid I cannot tell you the door code now.")
    assert not said.ended()


@pytest.mark.parametrize(
    ("code", "asked", "answer"),
    [
        ("ru", "Сколько стоит анализ крови?", "Анализ крови стоит 900 рублей."),
        ("ar", "كم سعر تحليل الدم؟", "سعر تحليل الدم ٤٤ دينارًا."),
        ("de", "Wann hat das Labor geöffnet?", "Das Labor öffnet morgens gegen neun Uhr."),
    ],
)
def test_it_is_judged_in_the_language_of_the_call(code: str, asked: str, answer: str) -> None:
    assert answered(judge(code), asked, answer)
