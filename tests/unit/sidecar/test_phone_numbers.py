"""A phone number is one string, E.164, or it is none; the raw forms are those of trunks and of field reports."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval_sidecar.knowledge.phone_numbers import to_e164

E164 = re.compile(r"\+[1-9][0-9]{1,14}")  # as the database's own check has it
NUMBER = "+77012345678"


@pytest.mark.parametrize(
    "raw",
    [
        "+77012345678",
        "+7 701 2345678",
        "+7 (701) 234-56-78",
        " +77012345678\n",
        "＋77012345678",
        "+٧٧٠١٢٣٤٥٦٧٨",
        "+۷۷۰۱۲۳۴۵۶۷۸",
        "0077012345678",
        "007 701 234 56 78",
        "+7%20701%20234%2056%2078",
        "%2B77012345678",
        "tel:+77012345678;phone-context=shop.example",
        "TEL:+7-701-234-56-78",
        "sip:+77012345678@trunk.example",
        "sips:+77012345678@trunk.example:5061;transport=tls",
        "SIP:%2B77012345678@trunk.example",
        "sip:+77012345678;npdi=yes@trunk.example",
        "sip:+77012345678:secret@trunk.example",
        '"Robin Vale" <sip:+77012345678@trunk.example>;tag=1',
        "+77012345678,,123",
        "+77012345678 ext. 123",
        "+77012345678;ext=123",
    ],
)
def test_a_number_with_its_country_reads_the_same_from_any_form(raw: str) -> None:
    assert to_e164(raw) == NUMBER
    # A trunk's default region is for numbers without a country.
    assert to_e164(raw, region="DE") == NUMBER


@pytest.mark.parametrize(
    ("raw", "region", "number"),
    [
        ("8 701 234 56 78", "KZ", NUMBER),
        ("77012345678", "KZ", NUMBER),
        ("7012345678", "KZ", NUMBER),
        ("sip:77012345678@trunk.example", "KZ", NUMBER),
        (" 77012345678", "KZ", NUMBER),  # a `+` that became a space in a query string
        ("٠٥٠١٢٣٤٥٦٧", "SA", "+966501234567"),
        ("030 12345678", "DE", "+493012345678"),
        ("(555) 555-0101", "US", "+15555550101"),
    ],
)
def test_a_number_without_its_country_needs_the_trunks_region(raw: str, region: str, number: str) -> None:
    assert to_e164(raw) is None
    assert to_e164(raw, region=region) == number


@pytest.mark.parametrize("region", [None, "KZ", "US", "not a region"])
@pytest.mark.parametrize(
    "raw",
    [
        None,
        "",
        "   ",
        "\u200b",
        "anonymous",
        "Anonymous <sip:anonymous@anonymous.invalid>",
        "restricted",
        "unavailable",
        "sip:reception@shop.example",
        "sip:192.168.10.20",
        "sip:@shop.example",
        "sip:",
        "tel:",
        "+",
        "+0",
        "00",
        "0000000000000",
        "+1555",
        "+999",
        "+77012345678901234567",
        "\ud83d",
        "\x00",
        "9" * 64,
        "+1" * 32,
    ],
)
def test_what_is_no_number_is_nobody(raw: str | None, region: str | None) -> None:
    assert to_e164(raw, region=region) is None


def test_a_number_that_can_only_be_dialled_locally_is_none() -> None:
    assert to_e164("+15550101") is None


ALPHABET = st.one_of(st.sampled_from("+0123456789٤۴%:;@<>-() .,sipteltx"), st.characters())


@given(st.text(ALPHABET, max_size=64), st.sampled_from([None, "KZ", "US", "GB", "??"]))
@example("sip:%@", None)
@example("+7%ff", "KZ")
def test_any_text_is_a_number_or_nobody_and_never_an_error(raw: str, region: str | None) -> None:
    number = to_e164(raw, region=region)
    assert number is None or (E164.fullmatch(number) and to_e164(number) == number)
