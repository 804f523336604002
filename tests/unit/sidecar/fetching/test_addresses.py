"""The rule of what is public, class by class, and its table in the docs."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.fetching.addresses import REFUSED, why_refused, why_text_refused
from tests.support.refused_addresses import REFUSED_ADDRESSES

ROOT = Path(__file__).parents[4]
EXAMPLES = [(name, text) for name, texts in REFUSED_ADDRESSES.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
def test_each_class_is_refused_by_its_name(name: str, text: str) -> None:
    assert why_refused(ip_address(text)) == name


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700:4700::1111",
        "2a00:1450::1",
    ],
)
def test_what_lies_beside_a_refused_range_is_public(text: str) -> None:
    assert why_refused(ip_address(text)) is None


def test_every_class_and_every_range_has_an_example() -> None:
    assert set(REFUSED_ADDRESSES) == set(REFUSED)
    without = [
        str(each)
        for name, ranges in REFUSED.items()
        for each in ranges
        if not any(ip_address(text) in each for text in REFUSED_ADDRESSES[name])
    ]
    assert not without


@given(st.ip_addresses())
def test_nothing_is_public_that_the_standard_library_knows_not_to_be(address: object) -> None:
    at = ip_address(str(address))
    if not at.is_global or at.is_multicast or at.is_reserved or at.is_link_local or at.is_unspecified:
        assert why_refused(at) is not None


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "::{}", "64:ff9b::{}", "64:ff9b:1::{}", "::ffff:0:{}"]))
def test_no_ipv4_address_passes_inside_an_ipv6_one(address: object, form: str) -> None:
    assert why_text_refused(form.format(address)) is not None


@pytest.mark.parametrize("text", ["2606:4700:4700::1111%1", "fe80::1%eth0"])
def test_an_address_of_one_interface_is_refused(text: str) -> None:
    assert why_text_refused(text) == "address with a zone"


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "8.8.8.8 "])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert why_text_refused(text) == "not an address"


def test_the_docs_have_the_same_classes_and_ranges() -> None:
    text = (ROOT / "docs" / "sources.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|`]+?) \| ((?:`[^`|]+`(?:, )?)+) \|", text, re.MULTILINE)
    documented = {name: tuple(map(ip_network, re.findall("`([^`]+)`", ranges))) for name, ranges in rows}
    assert documented == REFUSED
