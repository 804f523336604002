"""The language of a question, and the words of it that say nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_sidecar.text import languages
from retrieval_sidecar.text.normalize import words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("how much does parking cost for an hour", "en"),
        ("Сколько стоит парковка за час?", "ru"),
        ("كم سعر الموقف في الساعة؟", "ar"),
        ("Wie viel kostet das Parken pro Stunde?", "de"),
        ("combien coûte le parking par heure", "fr"),
        ("Тұрақ сағатына қанша тұрады?", "kk"),
        ("پارکنگ کا ایک گھنٹے کا کتنا کرایہ ہے", "ur"),
        ("停车一小时多少钱", "zh"),
        ("¿cuánto cuesta aparcar una hora?", "es"),
    ],
)
def test_a_question_shows_its_language(text: str, language: str) -> None:
    assert languages.detect(text, default="zz") == language


@pytest.mark.parametrize("text", ["", " ", "44", "4,000", "???", "\u200b", "ok", "😀", "PIN-44-X"])
def test_a_text_that_does_not_tell_is_in_the_default_language(text: str) -> None:
    assert languages.detect(text, default="zz") == "zz"


@pytest.mark.parametrize("text", ["voucher", "toilet", "elevator", "parking price", "PIN-44-X code", "hours"])
def test_a_word_or_two_count_as_the_default_language(text: str) -> None:
    assert languages.detect(text, default="en") == "en"


@pytest.mark.parametrize(("text", "language"), [("доставка", "ru"), ("موقف", "ar"), ("停车", "zh"), ("پارکنگ", "ur")])
def test_but_not_where_the_letters_rule_that_out(text: str, language: str) -> None:
    assert languages.detect(text, default="en") == language


@settings(max_examples=40)
@given(st.text())
def test_any_text_has_a_supported_language_or_the_default(text: str) -> None:
    assert languages.detect(text, default="zz") in (*languages.SUPPORTED, "zz")


def test_marks_that_carry_no_meaning_do_not_change_the_language() -> None:
    assert languages.detect("كَمْ سِعْرُ المَوْقِفِ فِي السَّاعَة", default="zz") == "ar"


@pytest.mark.parametrize("language", languages.SUPPORTED)
def test_stop_words_are_folded_as_questions_are(language: str) -> None:
    for word in languages.stop_words(language):
        assert words(word) == [word]


def test_stop_words_hold_what_says_nothing_and_not_what_does() -> None:
    assert {"the", "is", "of"} <= languages.stop_words("en")
    assert not {"parking", "price", "44"} & languages.stop_words("en")


def test_a_language_without_a_list_has_no_stop_words() -> None:
    assert languages.stop_words("tlh") == frozenset()
