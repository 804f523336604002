"""Each number to hold that the bench can judge: what was measured, and whether it holds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.bench.parts import AS_CALLS
from tests.bench.tenant import ALL

Outcome = Literal["held", "missed", "not measured"]
RECALL = 0.99


@dataclass(frozen=True, slots=True)
class Verdict:
    """A number to hold.

    Attributes:
        what: the number, as the design says it.
        target: what must be reached.
        measured: what was; None where this run cannot tell.
        is_correctness: whether it is about right and wrong rather than about time.
    """

    what: str
    target: str
    measured: str | None
    is_held: bool
    is_correctness: bool = False

    @property
    def outcome(self) -> Outcome:
        if self.measured is None:
            return "not measured"
        return "held" if self.is_held else "missed"


def judge(found: dict[str, Any]) -> list[Verdict]:
    """All of them, for what a run has measured."""
    return [*_correctness(found), *_sidecar(found), *_million(found), *_bound(found), *_peers(found), *_calls(found)]


def _at_most(what: str, value: float | None, limit: float, unit: str = " ms") -> Verdict:
    return Verdict(what, f"≤ {limit:g}{unit}", None if value is None else f"{value:g}{unit}", (value or 0) <= limit)


def _correctness(found: dict[str, Any]) -> Iterator[Verdict]:
    rows = [*found["search"], *found["bound"], *found["large"]]
    lowest = min(row["recall"] for row in rows)
    yield Verdict(
        "recall@5 of the statement, lowest of all series",
        f"≥ {RECALL}",
        f"{lowest:.4f}",
        lowest >= RECALL,
        is_correctness=True,
    )
    parts = [*found["search"], found["parts"], found["calls"]]
    errors = sum(part["errors"] for part in parts)
    yield Verdict("searches that failed", "0", str(errors), errors == 0, is_correctness=True)
    outside = sum(part["outside"] for part in [*parts, *found["large"]])
    yield Verdict("results outside of the scope", "0", str(outside), outside == 0, is_correctness=True)


def _sidecar(found: dict[str, Any]) -> Iterator[Verdict]:
    is_asked = found["plan"]["items"] == 3143 and found["embedder"] == "local"
    clients = found["plan"]["clients"]
    times = found["parts"]["milliseconds"] if is_asked else {}

    def p95(kind: str) -> float | None:
        return times[kind]["p95"] if kind in times else None

    what = "HTTP, 3,143 items, local embedder, p95"
    yield _at_most(f"{what}: {clients} concurrent calls", p95(f"new, {clients} {AS_CALLS}"), 150)
    yield _at_most(f"{what}: the same, question cached", p95(f"cached, {clients} {AS_CALLS}"), 40)
    yield _at_most(f"{what}: one client, question cached", p95("cached, 1 client"), 12)
    overhead = found["parts"]["overhead"]["new"] if is_asked else None
    yield _at_most("p50 of the HTTP search, of embedding + bare SQL", overhead, 1.5, " ×")


def _million(found: dict[str, Any]) -> Iterator[Verdict]:
    def p95(clients: int) -> float | None:
        return _the(found["search"], lambda row: _key(row) == (1_000_000, ALL, clients), lambda row: row["sql"]["p95"])

    what = "SQL among 1,000,000 passages, organization of 10,000, p95"
    yield _at_most(f"{what}: one client", p95(1), 10)
    yield _at_most(f"{what}: 8 clients in a closed loop", p95(8), 40)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["passages"], row["selection"], row["clients"]


def _bound(found: dict[str, Any]) -> Iterator[Verdict]:
    is_asked = found["plan"]["items"] == 3143
    times = _the(found["bound"], lambda row: is_asked and row["selection"] == ALL, lambda row: row["sql_ratio"])
    yield _at_most("p50 of the SQL by vectors alone, of the numpy bound, no allowlist", times, 6, " ×")


def _peers(found: dict[str, Any]) -> Iterator[Verdict]:
    for name, peer in found["peers"].items():
        series = peer.get("series", {})
        # What is quick because it finds something else is not the same work.
        alike = (each for each in series.values() if each["times_ours"] and each["recall"] >= RECALL)
        least = min((each["times_ours"] for each in alike), default=None)
        yield Verdict(
            f"p50 of {name}, of ours by vectors alone, least of all selections where its recall is ≥ {RECALL}",
            "≥ 5 ×",
            None if least is None else f"{least:g} ×",
            (least or 0) >= 5,
        )


def _calls(found: dict[str, Any]) -> Iterator[Verdict]:
    calls = found["calls"]
    is_asked = calls["calls"] >= 200 and calls["think_s"] <= 5 and found["embedder"] == "local"
    yield _at_most(
        "200 calls on one sidecar, one search each 5 s, p99",
        calls["milliseconds"]["p99"] if is_asked else None,
        1000,
    )


def _the(
    rows: Sequence[dict[str, Any]], wanted: Callable[[dict[str, Any]], bool], value: Callable[[dict[str, Any]], float]
) -> float | None:
    return next((value(row) for row in rows if wanted(row)), None)
