"""Which numbers count as held."""

import copy
from typing import Any

from tests.bench.__main__ import Strictness, failures
from tests.bench.parts import AS_CALLS
from tests.bench.verdicts import Verdict, judge

LATENCY = {"p50": 3.0, "p95": 9.0, "p99": 12.0, "n": 100}
GOOD: dict[str, Any] = {
    "plan": {"items": 3143, "clients": 8},
    "embedder": "local",
    "search": [
        {"passages": 1_000_000, "selection": "all", "clients": clients, "recall": 1.0, "errors": 0, "outside": 0,
         "sql": LATENCY, "http": LATENCY}
        for clients in (1, 8)
    ],
    "large": [{"recall": 0.995, "outside": 0}],
    "bound": [
        {"selection": "all", "sql_ratio": 5.4, "recall": 1.0},
        {"selection": "10 %", "sql_ratio": 90.0, "recall": 1.0},
    ],
    "parts": {
        "milliseconds": dict.fromkeys((f"new, 8 {AS_CALLS}", f"cached, 8 {AS_CALLS}", "cached, 1 client"), LATENCY),
        "overhead": {"new": 1.2, "cached": 2.0},
        "errors": 0,
        "outside": 0,
    },
    "calls": {"calls": 200, "think_s": 5.0, "milliseconds": LATENCY, "errors": 0, "outside": 0},
    "peers": {
        "chromadb": {
            "series": {"all": {"times_ours": 40.0, "recall": 1.0}, "1 %": {"times_ours": 5.0, "recall": 0.995}}
        },
        "lancedb": {"skipped": "not installed"},
    },
}  # fmt: skip


def by_what(found: dict[str, Any]) -> dict[str, Verdict]:
    return {each.what: each for each in judge(found)}


def missed(found: dict[str, Any]) -> list[str]:
    return [each.what for each in judge(found) if each.outcome == "missed"]


def changed(path: str, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(GOOD)
    *way, last = (int(step) if step.isdigit() else step for step in path.split("/"))
    place: Any = found
    for step in way:
        place = place[step]
    place[last] = value
    return found


def test_all_is_held_but_what_was_not_measured() -> None:
    assert missed(GOOD) == []
    unknown = [each.what for each in judge(GOOD) if each.outcome == "not measured"]
    assert unknown == ["p50 of lancedb, of ours by vectors alone, least of all selections where its recall is ≥ 0.99"]


def test_each_number_can_be_missed() -> None:
    for path, value in {
        "search/0/recall": 0.98,
        "large/0/recall": 0.98,
        "search/1/errors": 1,
        "calls/outside": 1,
        f"parts/milliseconds/new, 8 {AS_CALLS}": LATENCY | {"p95": 151.0},
        f"parts/milliseconds/cached, 8 {AS_CALLS}": LATENCY | {"p95": 41.0},
        "parts/milliseconds/cached, 1 client": LATENCY | {"p95": 12.5},
        "parts/overhead/new": 1.6,
        "search/0/sql": LATENCY | {"p95": 10.5},
        "search/1/sql": LATENCY | {"p95": 40.5},
        "bound/0/sql_ratio": 6.1,
        "peers/chromadb/series/1 %/times_ours": 4.9,
        "calls/milliseconds": LATENCY | {"p99": 1001.0},
    }.items():
        assert len(missed(changed(path, value))) == 1, path


def test_a_store_that_is_quick_because_it_finds_less_is_not_compared() -> None:
    fast = changed("peers/chromadb/series/1 %", {"times_ours": 0.5, "recall": 0.98})
    assert missed(fast) == []


def test_small_data_says_nothing_of_a_million_passages() -> None:
    found = changed("search/0/passages", 30_000)
    verdicts = by_what(found)
    assert verdicts["SQL among 1,000,000 passages, organization of 10,000, p95: one client"].outcome == "not measured"


def test_a_smaller_run_is_not_judged_by_the_numbers_of_a_larger_one() -> None:
    for path, value in {"plan/items": 60, "embedder": "fake", "calls/calls": 50}.items():
        unknown = [each for each in judge(changed(path, value)) if each.outcome == "not measured"]
        assert len(unknown) > 1, path


def test_strictness_tells_wrong_from_slow() -> None:
    wrong, slow = judge(changed("calls/errors", 3)), judge(changed("parts/overhead/new", 9.0))
    assert len(failures(wrong, Strictness.correctness)) == 1
    assert failures(slow, Strictness.correctness) == []
    assert len(failures(slow, Strictness.everything)) == 1
    assert failures(wrong, Strictness.nothing) == []
