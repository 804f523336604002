"""`make load`, on tiny data and for a moment; and how it looks for the largest load."""

import io
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from retrieval_sidecar.embeddings.fake import FakeEmbedder
from tests.bench import load
from tests.bench.load import Held, failures, largest, run, show
from tests.bench.plan import TINY

FAST, SLOW = ({"p50": 10.0, "p95": 20.0, "p99": p99, "n": 100} for p99 in (30.0, 1000.0))


def held(calls: int, *, most: int, errors: int = 0, memory: tuple[float, ...] = (100.0,)) -> Held:
    """A load that is fast up to so many calls."""
    times = FAST if calls <= most else SLOW
    return Held(calls, 30.0, times, {"ok": 100}, errors, 0, list(memory))  # type: ignore[arg-type]


@pytest.mark.parametrize(("known", "most"), [(200, 530), (200, 90), (200, 200), (4, 1), (1, 0)])
async def test_the_largest_load_is_found_to_a_tenth(known: int, most: int) -> None:
    async def hold(calls: int) -> Held:
        assert calls > 0
        return held(calls, most=most)

    first = held(known, most=most)
    steps = [first, *await largest(hold, first)]
    found = max((step.calls for step in steps if step.is_held), default=0)
    assert found <= most
    assert most - found <= max(1, 0.1 * found)


def test_growth_is_that_of_the_last_fifth() -> None:
    flat = (200.0, 240.0, 230.0, 235.0, 236.0, 237.0, 239.0, 236.0, 239.0, 240.0)
    assert held(1, most=1, memory=(240.0, *flat)).growth == pytest.approx(0.0, abs=0.1)
    assert held(1, most=1, memory=tuple(100.0 + 10 * minute for minute in range(10))).growth > load.MOST_GROWTH


def test_what_fails_is_told() -> None:
    bad = held(1, most=1, errors=2, memory=(100.0, 150.0)).figures()
    assert failures({"load": bad}) == ["2 searches had no answer", "memory grew by 50.0 %"]
    assert failures({"load": held(1, most=1).figures()}) == []


async def test_calls_are_held_and_written_down() -> None:
    plan = replace(TINY, databases=(400,), large=())
    console = Console(file=(printed := io.StringIO()), width=140)
    # Not under pytest's own folder: that is private to root, and PostgreSQL never runs as root.
    with tempfile.TemporaryDirectory(prefix="answerline-load-") as cache:
        found = await run(plan, FakeEmbedder(), "fake", console, seconds=1, step_s=0, cache=Path(cache))
    show(found, console)
    row = found["load"]
    assert row["calls"] == TINY.calls
    assert row["milliseconds"]["n"] == sum(row["statuses"].values()) > TINY.calls
    assert failures(found) == []
    assert "4 calls" in printed.getvalue()
