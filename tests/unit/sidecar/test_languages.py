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
    assert languages.stop_words(language) <= languages.common_words(language)
    for word in languages.common_words(language):
        assert words(word) == [word]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "the is of what how can you with from don't"),
        ("ru", "как что у вас есть ли и в на"),
        ("ar", "في من على هذا التي"),
        ("de", "wie ist das für mich und der"),
        ("fr", "est ce que vous avez pour les"),
        ("es", "cuál es el para los que"),
        ("it", "che per il non"),
        ("pt", "que para os"),
        ("tr", "ve için bu ne"),
        ("hi", "का के है और"),
        ("uk", "що це чи як"),
        ("ur", "اور تو کہ"),
        ("zh", "的 了"),
    ],
)
def test_stop_words_hold_what_says_nothing(language: str, said: str) -> None:
    assert set(words(said)) <= languages.stop_words(language)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "parking price 44 room open number test group bill free help order page new name"),
        ("ru", "цена номер время день имя второй комната открыт заказ"),
        ("de", "zimmer offen nummer rechnung tag"),
        ("es", "tiempo trabajo valor habitación"),
    ],
)
def test_stop_words_hold_nothing_that_may_be_what_is_asked_for(language: str, said: str) -> None:
    assert not set(words(said)) & languages.stop_words(language)


def test_common_words_hold_those_that_tell_nothing_in_a_story() -> None:
    assert {"room", "open", "number", "the"} <= languages.common_words("en")
    assert "parking" not in languages.common_words("en")


def test_a_language_without_a_list_has_no_stop_words() -> None:
    assert languages.stop_words("tlh") == languages.common_words("tlh") == frozenset()
