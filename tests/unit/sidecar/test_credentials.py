"""Credentials: what is shown once, what is stored, and what is none."""

from uuid import UUID, uuid4

import pytest

from retrieval_sidecar.http.credentials import Credential

FIRST, SECOND = UUID(int=1), UUID(int=2)


def test_what_is_shown_is_read_back_and_matches_what_is_stored() -> None:
    made = Credential.new("alk", FIRST, SECOND)
    read = Credential.parse(f" {made} ", "alk", 2)
    assert read == made
    assert read.matches(made.digest)
    assert not read.matches(None)
    assert not read.matches(Credential.new("alk", FIRST, SECOND).digest)


def test_a_secret_may_hold_what_separates() -> None:
    assert Credential.parse(f"alv_{FIRST.hex}_a_b_c", "alv") == Credential("alv", (FIRST,), "a_b_c")


def test_no_two_are_alike_and_none_is_short() -> None:
    secrets = {Credential.new("alk", FIRST).secret for _ in range(50)}
    assert len(secrets) == 50
    assert min(map(len, secrets)) >= 43


def test_its_secret_is_seen_only_where_it_is_asked_for() -> None:
    made = Credential.new("alk", uuid4())
    assert made.secret not in repr(made)
    assert made.secret in str(made)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alk",
        "alk_",
        f"alk_{FIRST.hex}",
        f"alk_{FIRST.hex}_{SECOND.hex}",
        f"alv_{FIRST.hex}_{SECOND.hex}_secret",
        f"alk_{FIRST.hex}_nobody_secret",
        f"alk_{FIRST.hex}__secret",
        f"alk{FIRST.hex}_{SECOND.hex}_secret",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert Credential.parse(text, "alk", 2) is None


def test_a_secret_that_is_no_text_matches_nothing() -> None:
    assert not Credential("alk", (FIRST,), "\udcff").matches(Credential("alk", (FIRST,), "").digest)
