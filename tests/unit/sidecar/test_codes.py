"""Codes: however one is written in a document and said by a caller, they meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.text import codes, languages

JOINTS = st.sampled_from(["-", "‐", "‑", "–", "−", ".", "/", "_", ","])
PARTS = st.lists(st.text(st.sampled_from("ABXZ0149ЖКя"), min_size=1, max_size=4), min_size=2, max_size=4).filter(
    lambda parts: any(char.isdigit() for char in "".join(parts))
)


@given(PARTS, st.data())
def test_a_code_written_with_any_joints_is_met_by_its_parts_said_in_turn(parts: list[str], data: st.DataObject) -> None:
    written = parts[0] + "".join(data.draw(JOINTS) + part for part in parts[1:])
    said = " ".join(parts).lower()
    joined = "".join(parts).casefold()
    assert joined in codes.in_document(f"It is {written}.") & codes.in_question(f"what is {said}")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("The terminal opens with PIN-44-X.", "pin 44 x"),
        ("The terminal opens with PIN-44-X.", "pin44x"),
        ("The terminal opens with PIN-44-X.", "what is PIN-44-X for"),
        ("The terminal opens with PIN\u201144\u2011X.", "p i n 4 4 x"),
        ("It costs ₹4,000.", "₹4,000"),
        ("It costs ₹4,000.", "is it 4000 rupees"),
        ("It costs ₹1,00,000.", "100000"),
        ("Цена 4 000 ₽.", "4000"),
        ("Цена 4\u00a0000,50 ₽.", "4,000 рублей"),
        ("Prix : 1\u202f234\u202f567 €", "1234567"),
        ("Preis: CHF 4’000", "4000"),
        ("الرقم ٤٤", "44"),
        ("room 44", "٤٤"),
        ("Persian ۴۵۶", "456"),
        ("A12", "a 12"),
        ("LF_27_B", "lf 27 b"),
        ("ГОСТ 12.1.004", "12 1 004"),
        ("version 2.0.1", "2.0.1"),
    ],
)
def test_written_and_spoken_forms_meet(written: str, said: str) -> None:
    assert codes.in_document(written) & codes.in_question(said)


def test_the_whole_code_is_met_not_only_a_number_in_it() -> None:
    assert "pin44x" in codes.in_document("PIN-44-X") & codes.in_question("please, pin 44 x, thanks")
    assert "pin44x" not in codes.in_document("PIN-44-Y")


@pytest.mark.parametrize("text", ["", "no code here", "-", "a-b-c", "7", "x" * 40 + "1", "----", "₹"])
def test_what_has_no_digit_or_no_code_length_is_none(text: str) -> None:
    assert codes.in_document(text) == frozenset()


def test_numbers_that_only_stand_side_by_side_keep_their_own_codes() -> None:
    assert {"10", "100"} <= codes.in_document("rooms 10 100")
    assert codes.in_document("3 5 7") == frozenset()


@given(st.text(max_size=500), st.sampled_from(languages.SUPPORTED))
def test_a_question_yields_a_bounded_number_of_codes(text: str, language: str) -> None:
    found = codes.in_question(text, language, "en")
    assert len(found) <= codes.MAX_CODES
    assert all(2 <= len(code) <= 32 and any(map(str.isdigit, code)) for code in found)


@pytest.mark.parametrize(
    "unit",
    [
        "four ",
        "a1 ",
        "papa 4 ",
        "b as in bravo ",
        "double ",
        "4 a ",
        "1",
        "twenty-",
        "четыре ",
        "два раза ",
        "икс 4 ",
        "و",
    ],
)
@pytest.mark.parametrize("language", ["en", "ru", "ar"])
def test_a_hostile_question_yields_no_more(unit: str, language: str) -> None:
    assert len(codes.in_question((unit * 500)[:500], language, "en")) <= codes.MAX_CODES


PIN, PRICE = "The terminal opens with PIN-44-X.", "It costs ₹4,000."


@pytest.mark.parametrize(
    ("language", "said", "written"),
    [
        ("en", "pin forty-four x", PIN),
        ("en", "What is Pin Forty Four X, please?", PIN),
        ("en", "pin double four x", PIN),
        ("en", "pin four four ex", PIN),
        ("en", "papa india november forty four x-ray", PIN),
        ("en", "P as in Papa, I as in India, N for November, dash, four four, X like x-ray", PIN),
        ("en", "the pin hyphen forty four hyphen x one", PIN),
        ("en", "A as in Alpha triple seven", "Form A-777."),
        ("en", "bravo oh five", "Gate B05"),
        ("en", "gate b nought five", "Gate B05"),
        ("en", "lima foxtrot twenty-seven slash bravo", "LF-27/B"),
        ("en", "double oh seven", "Agent 007"),
        ("en", "twelve dot one dot zero zero four", "12.1.004"),
        ("en", "four thousand rupees", PRICE),
        ("en", "one hundred and twenty three dollars", "$123"),
        ("en", "the twenty-fifth of may", "Closed on 25 May."),
        ("en", "twenty twenty six", "from 2026"),
        ("en", "five five five one two three four", "Call 555-1234."),
        ("en", "hotel forty four", "HOTEL-44"),
        ("ru", "пин сорок четыре икс", PIN),
        ("ru", "какой код, ПИН дефис сорок четыре дефис икс?", PIN),
        ("ru", "пин две четвёрки икс", PIN),
        ("ru", "пин два раза четыре икс", PIN),
        ("ru", "пи ай эн четыре четыре икс", PIN),
        ("ru", "пин сорока четырёх икс", PIN),
        ("ru", "б как Борис двенадцать", "B-12"),
        ("ru", "а бэ двенадцать", "АБ-12"),
        ("ru", "в сорок четвёртом кабинете", "Кабинет 44"),
        ("ru", "четыре тысячи рупий", PRICE),
        ("ru", "тысяча двести двадцать пять рублей", "1 225 ₽"),
        ("ru", "три нуля семь", "0007"),
        ("ru", "двадцать пятого мая", "25 мая закрыто"),
        ("ar", "بين أربعة وأربعون إكس", PIN),
        ("ar", "بي آي إن أربع وأربعين اكس", PIN),
        ("ar", "بين اربعه و اربعين شرطة إكس", PIN),
        ("ar", "ما هو رمز PIN أربعة أربعة إكس", PIN),
        ("ar", "بين أربعة مرتين إكس", PIN),
        ("ar", "أربعة آلاف روبية", PRICE),
        ("ar", "مئة وخمسة وعشرون", "الغرفة ١٢٥"),
        ("ar", "خمس عشرة", "١٥"),
        ("ar", "خمسة عشر", "15"),
        ("ar", "ألفين وستة وعشرين", "2026"),
        ("de", "pin vierundvierzig x", PIN),
        ("de", "pin doppel vier x", PIN),
        ("fr", "pin quarante-quatre x", PIN),
        ("fr", "b comme Bernard douze", "B12"),
        ("es", "pin guion cuarenta y cuatro guion x", PIN),
        ("it", "pin quarantaquattro x", PIN),
        ("pt", "pin quarenta e quatro x", PIN),
        ("tr", "pin kırk dört x", PIN),
        ("kk", "пин қырық төрт икс", PIN),
        ("uk", "пін сорок чотири ікс", PIN),
        ("uk", "двадцять п'ять гривень", "25 грн"),
    ],
)
def test_a_code_as_callers_say_it_meets_the_written_one(language: str, said: str, written: str) -> None:
    assert codes.in_document(written) & codes.in_question(said, language)


def test_what_is_said_of_a_code_is_not_written_into_it() -> None:
    said = codes.in_question("P as in Papa, four four, X like x-ray", "en")
    assert "p44x" in said
    assert not any("as" in code or "like" in code for code in said if code.startswith("p44"))


@pytest.mark.parametrize(
    ("language", "said", "code"),
    [
        ("en", "call four four seven one", "44"),
        ("en", "the second floor", "2nd"),
        ("en", "the second floor", "2"),
        ("en", "the one for me", "14"),
        ("ru", "четыре сорок", "44"),
        ("ru", "двадцать десять", "30"),
        ("ru", "сто тысяч", "100"),
        ("ar", "أربعة أربعين", "44"),
        ("en", "born in the 22nd year", "22"),
    ],
)
def test_a_number_is_not_what_only_its_words_make(language: str, said: str, code: str) -> None:
    assert code not in codes.in_question(said, language)


@pytest.mark.parametrize("text", ["how do i return it for a refund", "для чего мне это", "هل يمكنني إلغاء الطلب"])
def test_a_question_without_numbers_has_no_code(text: str) -> None:
    for language in languages.SUPPORTED:
        assert codes.in_question(text, language) == frozenset()
