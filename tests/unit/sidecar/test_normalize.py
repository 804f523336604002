"""Normal forms: what looks or sounds alike meets, and doing it twice changes nothing."""

from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval_sidecar.text.normalize import for_embedding, for_keywords, words

ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        # What is folded or taken out, so that it meets letters and marks often.
        st.sampled_from("\u0640\u064b\u0651\u0654\u200b\u200d\u00ad\u0301\u0327\u06c1\u06d2\u0623 \u00a0aeяءا٤4"),
    ),
    max_size=20,
)


@given(ANY_TEXT)
@example("a\u200d\u0301")
def test_the_form_for_embedding_is_stable(text: str) -> None:
    once = for_embedding(text)
    assert for_embedding(once) == once


@given(ANY_TEXT)
@example("0\u00b8")
@example("\u06c2")
@example("a\u200d\u0301")
def test_the_form_for_keywords_is_stable(text: str) -> None:
    once = for_keywords(text)
    assert for_keywords(once) == once


def test_both_forms_are_stable_for_every_single_character() -> None:
    # Without the blocks of Han, Hangul and private use, which hold nothing that is folded.
    blocks = (
        range(0x3400),
        range(0xA000, 0xAC00),
        range(0xF900, 0x10000),
        range(0x10000, 0x12000),
        range(0x1D000, 0x1FC00),
    )
    for form in (for_embedding, for_keywords):
        moving = [hex(code) for code in chain(*blocks) if form(once := form(chr(code))) != once]
        assert moving == [], form


@given(ANY_TEXT)
def test_words_are_found_alike_in_the_text_and_in_its_normal_form(text: str) -> None:
    assert words(for_embedding(text)) == words(text)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        pytest.param("الشحـــن", "الشحن", id="tatweel"),
        pytest.param("الشَّحْن", "الشحن", id="tashkeel"),
        pytest.param("ﺍﻟﺸﺤﻦ", "الشحن", id="presentation forms"),
        pytest.param("ﻻ", "لا", id="ligature"),
        pytest.param("الش\u200bحن", "الشحن", id="zero-width space"),
        pytest.param("الش\u200cحن", "الشحن", id="zero-width non-joiner"),
        pytest.param("\u202bالشحن\u202c", "الشحن", id="direction marks"),
        pytest.param("price\U000e0041\U000e0042\U000e007f", "price", id="tag characters"),
        pytest.param("pri\u00adce", "price", id="soft hyphen"),
        pytest.param("\ufeffprice", "price", id="byte order mark"),
        pytest.param("ﬁne", "fine", id="Latin ligature"),
        pytest.param("ｐｒｉｃｅ", "price", id="full width"),
        pytest.param("price\u00a0 \t\r\n list", "price list", id="white space"),
        pytest.param("price\x00list", "price list", id="a control character parts words"),
        pytest.param("price\ud83d", "price", id="half a surrogate pair"),
        pytest.param("שָׁלוֹם", "שלום", id="Hebrew points"),
    ],
)
def test_what_carries_no_meaning_is_taken_out_before_embedding(written: str, plain: str) -> None:
    assert for_embedding(written) == plain


@pytest.mark.parametrize("text", ["Prices", "Größe", "أحمد", "مدرسة", "علی", "٤٤", "कीमत", "ціна", "qiyməti", "ราคา"])
def test_letters_digits_and_case_are_kept_for_embedding(text: str) -> None:
    assert for_embedding(text) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("أحمد", "احمد"),
        ("إدارة", "اداره"),
        ("آخر", "اخر"),
        ("ٱسم", "اسم"),
        ("على", "علي"),
        ("مدرسة", "مدرسه"),
        ("کتاب", "كتاب"),
        ("علی", "علي"),
        ("ہے", "هي"),
        ("ۂ", "ه"),
        ("ۓ", "ي"),
        ("Größe", "GRÖSSE"),
        ("café", "cafe\u0301"),
        ("café", "CAFE"),
        ("ёлка", "елка"),
        ("İstanbul", "istanbul"),
        ("ΣΟΦΟΣ", "σοφος"),
    ],
)
def test_spelling_variants_meet_as_keywords(one: str, other: str) -> None:
    assert for_keywords(one) == for_keywords(other)


@pytest.mark.parametrize("digits", ["٤٥٦", "۴۵۶", "४५६", "৪৫৬", "４５６", "𝟜𝟝𝟞", "๔๕๖", "456"])
def test_digits_of_any_script_are_the_same_keyword(digits: str) -> None:
    assert for_keywords(digits) == "456"


def test_urdu_and_arabic_words_stay_apart() -> None:
    # Over-eager folding turns yeh into alef.
    assert len({for_keywords(word) for word in ("علي", "علا", "بيت", "بات")}) == 4


def test_words_are_in_order_and_without_punctuation() -> None:
    assert words("The price: 4,000 ₽ (e.g. «снег») is_ok") == ["the", "price", "4", "000", "e", "g", "снег", "is", "ok"]


@pytest.mark.parametrize("sign", ["a", "中", "ก", "𝔞"])
def test_a_word_without_end_is_its_beginning(sign: str) -> None:
    (word,) = words(sign * 5000)
    assert len(word.encode()) <= 2046
    assert words(sign * 4000) == [word]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\x00", "…", "\U000e0041", "\u0640"])
def test_nothing_is_left_of_what_shows_nothing(text: str) -> None:
    assert words(text) == []
