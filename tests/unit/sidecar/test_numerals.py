"""Numbers in words: each is read as the number that its words say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.text.languages import SUPPORTED
from retrieval_sidecar.text.normalize import for_keywords, words
from retrieval_sidecar.text.numerals import read_by_library, read_by_words
from retrieval_sidecar.text.vocabulary import vocabulary

RUSSIAN = {
    "tens": [
        "",
        "",
        "двадцать",
        "тридцать",
        "сорок",
        "пятьдесят",
        "шестьдесят",
        "семьдесят",
        "восемьдесят",
        "девяносто",
    ],
    "units": ["", "один", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять"],
    "hundreds": [
        "",
        "сто",
        "двести",
        "триста",
        "четыреста",
        "пятьсот",
        "шестьсот",
        "семьсот",
        "восемьсот",
        "девятьсот",
    ],
}
ARABIC_UNITS = ["", "واحد", "اثنان", "ثلاثة", "أربعة", "خمسة", "ستة", "سبعة", "ثمانية", "تسعة"]
ARABIC_TENS = ["", "", "عشرون", "ثلاثون", "أربعون", "خمسون", "ستون", "سبعون", "ثمانون", "تسعون"]


def read(text: str, language: str) -> list[str]:
    return read_by_words(for_keywords(text).split(), language)


def test_russian_numbers() -> None:
    # Ten to nineteen have words of their own.
    for number in (each for each in range(21, 1000) if each % 100 not in range(10, 20)):
        hundreds, tens, units = number // 100, number // 10 % 10, number % 10
        said = [RUSSIAN["hundreds"][hundreds], RUSSIAN["tens"][tens], RUSSIAN["units"][units]]
        assert read(" ".join(filter(None, said)), "ru") == [str(number)]


@pytest.mark.parametrize("units", range(1, 10))
@pytest.mark.parametrize("tens", range(2, 10))
def test_arabic_numbers_say_the_units_first(units: int, tens: int) -> None:
    said = f"{ARABIC_UNITS[units]} و{ARABIC_TENS[tens]}"
    assert read(said, "ar") == [str(10 * tens + units)]
    assert read(f"مئة و{said}", "ar") == [str(100 + 10 * tens + units)]
    assert read(f"ألف ومئتان و{said}", "ar") == [str(1200 + 10 * tens + units)]


@pytest.mark.parametrize(
    ("language", "said", "digits"),
    [
        ("ru", "сто двадцать три тысячи четыреста пять", "123405"),
        ("ru", "два миллиона три тысячи", "2003000"),
        ("ru", "миллион двести", "1000200"),
        ("ru", "ноль пять", "0 5"),
        ("ru", "пять шесть семь", "5 6 7"),
        ("ru", "двадцать двенадцать", "20 12"),
        ("ru", "сорок сорок", "40 40"),
        ("ru", "тысяча тысяча", "1000 1000"),
        ("ru", "дом сорок четыре корпус два", "дом 44 корпус 2"),
        ("ar", "ثلاثة عشر", "13"),
        ("ar", "أربعة آلاف وخمسمئة", "4500"),
        ("ar", "ثلاث مئة", "300"),
        ("ar", "واحد اثنان ثلاثة", "1 2 3"),
        ("ar", "خمستاشر", "15"),
        ("tr", "yüz kırk dört", "144"),
        ("tr", "dört yüz on beş", "415"),
        ("tr", "iki bin yirmi altı", "2026"),
        ("kk", "төрт мың бес жүз", "4500"),
        ("kk", "он бес", "15"),
        ("uk", "двісті сорок чотири", "244"),
    ],
)
def test_numbers_of_more_words(language: str, said: str, digits: str) -> None:
    assert read(said, language) == for_keywords(digits).split()


@pytest.mark.parametrize(
    ("language", "said", "digits"),
    [
        ("en", "forty-four and four thousand two hundred", "44 and 4200"),
        ("de", "vierundvierzig", "44"),
        ("fr", "quatre-vingt-dix-sept", "97"),
        ("es", "dieciséis", "16"),
        ("it", "quarantaquattro", "44"),
        ("pt", "quarenta e quatro", "44"),
        ("ru", "сорок", "сорок"),
    ],
)
def test_the_library_reads_the_languages_it_has(language: str, said: str, digits: str) -> None:
    assert read_by_library(said, language) == digits


@given(st.text(max_size=80), st.sampled_from(SUPPORTED))
def test_any_text_can_be_read(text: str, language: str) -> None:
    read_by_library(text, language)
    read_by_words(words(text), language)


@pytest.mark.parametrize("language", SUPPORTED)
def test_every_word_of_the_vocabulary_is_one_word_as_questions_have_it(language: str) -> None:
    said = vocabulary(language)
    names = {*said.letters, *said.zeros, *said.joints, *said.repeat, *said.repeated, *said.digits, *said.numbers}
    assert all(words(name) == [name] for name in names)
