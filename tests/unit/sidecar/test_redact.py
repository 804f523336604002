"""What the search log keeps of a query names nobody."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.text.redact import redact

SEPARATOR = st.sampled_from(["", " ", "-", "–", ".", " - ", ",", "_", "\u00a0", "\u200b", "/", ") "])
DIGIT = st.sampled_from("0123456789٠٤٩۴४４")


@given(st.lists(st.tuples(DIGIT, SEPARATOR), min_size=5, max_size=16))
def test_a_long_number_is_taken_out_however_it_is_grouped(number: list[tuple[str, str]]) -> None:
    kept = redact("call me at " + "".join(digit + separator for digit, separator in number) + "please")
    assert not re.search(r"\d", kept), kept


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("call +1 (555) 555-0101 now", "call [number] now"),
        ("call +15555550101", "call [number]"),
        ("＋１５５５５５５０１０１", "[number]"),
        ("رقمي ٠٥٠١٢٣٤٥٦٧", "رقمي [number]"),
        ("card 4111 1111 1111 1111 expired", "card [number] expired"),
        ("born 1980-02-29", "born [number]"),
        ("mail robin.vale@shop.example please", "mail [email] please"),
        ("robin＠shop.example", "[email]"),
        ("<robin@shop.example>", "[email]"),
        ("робин@пример.рф", "[email]"),
    ],
)
def test_what_identifies_a_person_is_taken_out(query: str, kept: str) -> None:
    assert redact(query) == kept


@pytest.mark.parametrize(
    "query",
    ["parking garage", "what is PIN-44-X", "4,000 rupees", "open from 09:00 to 17:30", "rule 12 and 34", "1234", ""],
)
def test_what_makes_a_query_useful_to_read_is_kept(query: str) -> None:
    assert redact(query) == query
