"""Codes: however one is written in a document and said by a caller, they meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.text import codes

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


@given(st.text(max_size=400))
def test_a_question_yields_at_most_six_codes_for_each_of_its_words(text: str) -> None:
    found = codes.in_question(text)
    assert len(found) <= 6 * (len(text) + 1)
    assert all(2 <= len(code) <= 32 and any(map(str.isdigit, code)) for code in found)
