"""Answers for agents without a language model: made of the returned content alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.voice import SearchResponse
from retrieval_sidecar.search.answer_text import answer_text, cut

FAMILY = "👨‍👩‍👧‍👦"
CONTENT = st.text(
    st.one_of(st.sampled_from("ab. \n!?。؟A"), st.characters(exclude_categories=["Cs"])), min_size=1, max_size=900
)
LONGEST = next(rule.max_length for rule in SearchResponse.model_fields["answer_text"].metadata if rule.max_length)
SENTENCES = "The garage opens at six. Parking costs three euros an hour. Bicycles are free. " * 6


@given(CONTENT, st.integers(1, 400))
def test_a_cut_is_the_beginning_and_within_its_limit(content: str, limit: int) -> None:
    shortened = cut(content, limit)
    assert len(shortened) <= limit
    assert shortened in content
    if len(content) > limit:
        assert content.strip().startswith(shortened.strip())


def test_what_fits_is_not_cut() -> None:
    assert cut("  as it is  ", 12) == "  as it is  "


def test_a_cut_ends_with_a_sentence() -> None:
    assert cut("One is here. Two is there. Three is nowhere to be seen.", 30) == "One is here. Two is there."
    assert cut("这里是一。那里是二。三在别处。", 10) == "这里是一。那里是二。"
    assert cut("السعر ثلاثة يورو. هل هذا كثير؟ لا أعرف.", 31) == "السعر ثلاثة يورو. هل هذا كثير؟"


@pytest.mark.parametrize(
    ("content", "limit", "shortened"),
    [
        pytest.param(
            "पार्किंग का शुल्क तीन यूरो है। रविवार को मुफ्त है। साइकिलें हमेशा मुफ्त हैं।",
            55,
            "पार्किंग का शुल्क तीन यूरो है। रविवार को मुफ्त है।",
            id="Hindi",
        ),
        pytest.param(
            "Парковка стоит 3,50 евро в час. По воскресеньям — бесплатно! Велосипеды бесплатны.",
            70,
            "Парковка стоит 3,50 евро в час. По воскресеньям — бесплатно!",
            id="Russian",
        ),
        pytest.param(
            "السعر ٣٫٥ يورو في الساعة. هل الدراجات مجانية؟ نعم، دائماً وفي كل مكان.",
            50,
            "السعر ٣٫٥ يورو في الساعة. هل الدراجات مجانية؟",
            id="Arabic",
        ),
        pytest.param(
            "پارکنگ تین یورو فی گھنٹہ ہے۔ اتوار کو مفت ہے۔ سائیکلیں ہمیشہ مفت ہیں۔",
            48,
            "پارکنگ تین یورو فی گھنٹہ ہے۔ اتوار کو مفت ہے۔",
            id="Urdu",
        ),
        pytest.param(
            "停车每小时三欧元。会员周日免费！自行车免费。", 18, "停车每小时三欧元。会员周日免费！", id="Chinese"
        ),
        pytest.param(
            "Room 4.5 is on floor 2.1 of the hall. It costs €3.50 an hour.",
            55,
            "Room 4.5 is on floor 2.1 of the hall.",
            id="numbers",
        ),
        pytest.param(
            "Prices\n\nThree euros an hour. Members park for free. Bicycles too.",
            54,
            "Prices\n\nThree euros an hour. Members park for free.",
            id="a heading",
        ),
        pytest.param(
            "Prices\n\nThree euros an hour in every garage of the town and on its squares.",
            40,
            "Prices\n\nThree euros an hour in every",
            id="a long sentence after a heading",
        ),
        pytest.param(
            "The garage opens\nat six. It closes\nat ten in winter.",
            34,
            "The garage opens\nat six.",
            id="lines of a page",
        ),
        pytest.param("- one thing\n- another thing\n- a third one", 30, "- one thing\n- another thing", id="a list"),
    ],
)
def test_a_cut_ends_with_a_sentence_in_every_script(content: str, limit: int, shortened: str) -> None:
    assert cut(content, limit).strip() == shortened


def test_a_sentence_without_an_end_is_cut_all_the_same() -> None:
    assert cut("a" * 50_000, 2000) == "a" * 2000
    assert cut("word " * 100, 12) == "word word"


def test_a_cut_parts_no_character_that_is_seen_as_one() -> None:
    assert cut(FAMILY * 40, 30) == FAMILY * 4
    assert cut("e\u0301" * 40, 5) == "e\u0301" * 2


@pytest.mark.parametrize("blank", [" " * 3000, "\n" * 3000, "\u3000" * 3000])
def test_of_a_blank_content_nothing_is_left(blank: str) -> None:
    assert cut(blank, 2000) == ""


def test_a_short_passage_is_the_answer_as_it_is() -> None:
    text = "Parking costs €3 an hour (code PIN-44-X)."
    assert answer_text(f" {text}\n", question="parking", language="en", asked_in="en") == text


def test_of_a_long_passage_the_part_that_shares_most_with_the_question_is_the_answer() -> None:
    other = "The museum shows old ships and tells of the harbour. " * 8
    content = other + "Members park in the garage for free on Sundays. " + other
    answer = answer_text(content, question="do members park for free", language="en", asked_in="en")
    assert "Members park in the garage for free on Sundays." in answer
    assert len(answer) <= 320


def test_without_anything_in_common_the_beginning_is_the_answer() -> None:
    answer = answer_text(SENTENCES, question="zebra", language="en", asked_in="en")
    assert SENTENCES.startswith(answer)


def test_stop_words_choose_nothing() -> None:
    content = "Nothing of it. " * 25 + "What is the of and the is what the. " * 6
    assert answer_text(content, question="what is the", language="en", asked_in="en").startswith("Nothing")


@given(CONTENT, st.text(max_size=60), st.sampled_from(["en", "ru", "tlh"]))
def test_every_sentence_is_the_contents_own_and_the_answer_fits_the_contract(
    content: str, question: str, language: str
) -> None:
    own = answer_text(content, question=question, language=language, asked_in=language)
    assert own in content
    framed = answer_text(content, question=question, language=language, asked_in="de")
    assert framed == f"Das habe ich nur in einer anderen Sprache: {own}"
    assert len(framed) <= LONGEST


@pytest.mark.parametrize(
    ("asked_in", "frame"),
    [
        ("ar", "لدي هذه المعلومة بلغة أخرى فقط:"),
        ("ru", "Это есть у меня только на другом языке:"),
        ("kk", "Бұл ақпарат менде тек басқа тілде бар:"),
        ("tlh", "I only have this in another language:"),
    ],
)
def test_an_answer_in_another_language_says_so_in_the_callers(asked_in: str, frame: str) -> None:
    assert answer_text("Bikes are free.", question="x", language="en", asked_in=asked_in) == f"{frame} Bikes are free."
