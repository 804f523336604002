"""What a bench is: cases that are run on what a plan gives, and the figures that come of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from tests.evals.artifacts import Recorder, Result
from tests.evals.stored_embedder import StoredEmbedder
from tests.support.database import TestDatabase

BUILD: Final = Path(__file__).parents[2] / "build" / "eval"


@dataclass(frozen=True)
class Plan:
    """What the benches are run with.

    Attributes:
        folder: for artifacts, logs and recordings.
        times: how often each case is run.
        quick: a part of the cases, in a few minutes.
        full: all questions of the large sets.
        template: a database with the newest schema and nothing in it, on the server that is up.
        embedder: the local one, started; what it embeds is kept.
    """

    folder: Path
    times: int
    quick: bool
    full: bool
    template: TestDatabase
    embedder: StoredEmbedder
    console: Console

    def recorder(self, bench: str) -> Recorder:
        """Where the artifacts of a bench go."""
        return Recorder(self.folder / "cases", bench, self.times)

    def log(self, name: str) -> Path:
        """A file for the output of a process."""
        folder = self.folder / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.log"


@dataclass
class Outcome:
    """What came of a bench.

    Attributes:
        figures: what the gates are held against; `cases` and `passed` (a share) are always among them.
        charts: what the report draws, by the name of the chart.
        skipped: why it was not run, where it was not.
        broke: whether that is because something of it broke.
    """

    results: Sequence[Result] = ()
    figures: dict[str, float] = field(default_factory=dict)
    charts: dict[str, Any] = field(default_factory=dict)
    skipped: str | None = None
    broke: bool = False
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.skipped is None:
            self.figures = share_passed(self.results) | self.figures


@dataclass(frozen=True, slots=True)
class Bench:
    """One bench of the evaluation."""

    name: str
    title: str
    run: Callable[[Plan], Awaitable[Outcome]]


def share_passed(results: Sequence[Result]) -> dict[str, float]:
    """How many cases there were, and the share that passed: of all, and of each kind."""
    kinds: dict[str, list[bool]] = {}
    for result in results:
        kinds.setdefault(result.kind, []).append(result.passed)
    figures = {f"passed: {kind}": sum(passed) / len(passed) for kind, passed in sorted(kinds.items())}
    every = [passed for of_kind in kinds.values() for passed in of_kind]
    return {"cases": float(len(every)), "passed": sum(every) / max(1, len(every))} | figures


def quantiles(samples: Sequence[float], name: str) -> dict[str, float]:
    """The median, the 95th percentile and the greatest; nothing of no samples."""
    if not samples:
        return {}
    p50, p95 = np.quantile(samples, (0.5, 0.95))
    return {f"{name} p50": round(float(p50), 1), f"{name} p95": round(float(p95), 1), f"{name} max": max(samples)}
