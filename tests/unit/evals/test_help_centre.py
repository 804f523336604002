"""The help centre is what it says: so many items, the same each time, each code once, and cases that can fail."""

import os
import subprocess
import sys
from collections import Counter

from retrieval_sidecar.ingest.organization_file import OrganizationFile
from retrieval_sidecar.ingest.records import Item
from tests.evals.case import Expected
from tests.evals.help_centre.allowed import allowed
from tests.evals.help_centre.cases import cases
from tests.evals.help_centre.centre import ITEMS, by_id, items
from tests.evals.help_centre.organization import (
    EVERYTHING,
    FIVE,
    FIVE_ITEMS,
    NOTHING_LEFT,
    PARTNER,
    organization,
)

KINDS = {
    "exact", "code", "nowhere", "follow-up", "instructions", "selected", "segment", "version", "selectivity",
    "paraphrase, en", "paraphrase, ar", "paraphrase, ru", "paraphrase, de",
}  # fmt: skip


def test_there_are_exactly_3143_items_each_by_itself() -> None:
    assert len(items()) == ITEMS == 3143
    assert len(by_id()) == ITEMS
    assert len({item["content"] for item in items()}) == ITEMS


def test_each_code_is_there_once() -> None:
    codes = Counter(item["code"] for item in items() if "code" in item)
    assert max(codes.values()) == 1
    assert len(codes) > 2000


def test_another_process_makes_the_same() -> None:
    program = (
        "import json; from hashlib import sha256; from tests.evals.help_centre.centre import items;"
        "print(sha256(json.dumps(items()).encode()).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


def test_the_product_takes_all_of_it() -> None:
    OrganizationFile.model_validate(organization())
    for item in items():
        Item.model_validate(item)


def test_every_kind_of_case_is_there_and_each_can_fail() -> None:
    assert {case.kind for case in cases()} == KINDS
    assert len({case.id for case in cases()}) == len(cases())
    anything = Expected(status=())
    assert not [case.id for case in cases() if any(turn.expected == anything for turn in case.turns)]


def test_what_must_be_found_may_be_told_and_what_must_never_be_is_not() -> None:
    for case in cases():
        told = allowed(case.called, case.caller)
        for turn in case.turns:
            assert turn.expected.relevant <= told, case.id
            assert not turn.expected.never & told, case.id


def test_the_reading_of_the_rules_knows_selections_segments_and_versions() -> None:
    assert allowed(FIVE_ITEMS, None) == {*FIVE}
    assert allowed(NOTHING_LEFT, None) == frozenset()
    secret = "franchise:royalty-rate:partners"
    assert secret in allowed(EVERYTHING, PARTNER)
    assert secret not in allowed(EVERYTHING, None)
    assert not {f"policy:overtime:{version}" for version in ("before", "draft")} & allowed(EVERYTHING, PARTNER)
