"""`make load`: many calls on one sidecar for long, then as many as it holds; docs/benchmarks.md says what it means."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from tests.bench.database import CACHE, bench_data
from tests.bench.figures import Latency, latency
from tests.bench.plan import LOAD, Plan
from tests.bench.runner import machine, mixed
from tests.bench.sidecar import Measured, Sidecar, holding_calls, running_sidecar
from tests.bench.tenant import Searchable, asked_of

RESULTS = Path(__file__).parents[2] / "build" / "bench"
MOST_P99_MS = 1000.0
# Of the memory after the first fifth: what an allocator moves by. A leak of 1 KB a search is 24 MB in ten minutes.
MOST_GROWTH = 0.05
_BETWEEN_LOOKS_S = 5.0
_FIRST_SHARE = 5
# The largest load is known to so much of itself.
_PRECISION = 0.1


@dataclass(frozen=True, slots=True)
class Held:
    """What came of so many calls at once.

    Attributes:
        statuses: how often each came: `ok` and the like, or that of HTTP where there was no answer.
        memory_mb: of the sidecar, every few seconds.
    """

    calls: int
    seconds: float
    milliseconds: Latency
    statuses: dict[str, int]
    errors: int
    outside: int
    memory_mb: list[float]

    @property
    def is_held(self) -> bool:
        """Whether every search was answered, and 99 in 100 within a second."""
        return self.errors == 0 and self.milliseconds["p99"] < MOST_P99_MS

    @property
    def growth(self) -> float:
        """How much more memory the last fifth of the time took than the first, as a share of it; 0.0 if flat."""
        share = max(1, len(self.memory_mb) // _FIRST_SHARE)
        first, last = (float(np.median(part)) for part in (self.memory_mb[:share], self.memory_mb[-share:]))
        return round(last / first - 1, 4)

    def figures(self) -> dict[str, Any]:
        """As they are written down."""
        return {
            "calls": self.calls,
            "seconds": self.seconds,
            "searches_a_second": round(self.milliseconds["n"] / self.seconds, 1),
            "milliseconds": self.milliseconds,
            "statuses": self.statuses,
            "errors": self.errors,
            "outside": self.outside,
            "memory_mb": [self.memory_mb[0], self.memory_mb[-1]],
            "memory_growth": self.growth,
            "is_held": self.is_held,
        }


async def largest(hold: Callable[[int], Awaitable[Held]], known: Held) -> list[Held]:
    """Double the calls until they are too many, then halve the difference; the steps, in order.

    Args:
        hold: holds so many calls for a while.
        known: a load that was held, or was not: then fewer are tried.
    """
    steps: list[Held] = []
    good, bad = (known.calls, None) if known.is_held else (0, known.calls)
    while bad is None or bad - good > max(1, good * _PRECISION):
        step = await hold(2 * good if bad is None else (good + bad) // 2)
        steps.append(step)
        if step.is_held:
            good = step.calls
        else:
            bad = step.calls
    return steps


async def hold_calls(
    plan: Plan,
    sidecar: Sidecar,
    organization: Searchable,
    asked: Iterator[str],
    progress: Progress,
    *,
    calls: int,
    seconds: float,
) -> Held:
    """So many calls at once for so long, each with a question every few seconds."""
    measured, memory = Measured(), [sidecar.memory_mb()]
    task = progress.add_task(f"{calls:,} calls", total=seconds)
    ended = asyncio.Event()

    async def look() -> None:
        begun = time.perf_counter()
        while not ended.is_set():
            try:
                async with asyncio.timeout(min(_BETWEEN_LOOKS_S, seconds / _FIRST_SHARE)):
                    await ended.wait()
            except TimeoutError:
                memory.append(sidecar.memory_mb())
                progress.update(task, completed=time.perf_counter() - begun)

    async with holding_calls(sidecar, organization, calls) as held, asyncio.TaskGroup() as group:
        group.create_task(look())
        await held.loop(calls, seconds, asked, measured, "load", pause_s=plan.think_s)
        ended.set()
    progress.update(task, completed=seconds)
    return Held(
        calls,
        seconds,
        latency(measured.samples["load"]),
        dict(measured.statuses),
        measured.errors,
        measured.outside,
        memory,
    )


@asynccontextmanager
async def _sidecar_with_data(
    plan: Plan, embedder: Embedder, name: str, console: Console, cache: Path
) -> AsyncIterator[tuple[Sidecar, Searchable]]:
    async with bench_data(plan, embedder, console, cache) as data:
        database = data.databases[0]
        async with running_sidecar(
            database.test, database.under_test.number, name, cache / "load-sidecar.log"
        ) as sidecar:
            yield sidecar, database.under_test


async def run(
    plan: Plan, embedder: Embedder, name: str, console: Console, *, seconds: float, step_s: float, cache: Path = CACHE
) -> dict[str, Any]:
    """The long load, then the largest; what is written to build/bench/load.json.

    Args:
        embedder: started; for what the data is made of. `name` is the sidecar's own.
        seconds: how long the plan's calls are held.
        step_s: how long each step of the search for the largest load takes; 0 leaves it out.
        cache: where the data is kept.
    """
    before = machine()
    columns = (TextColumn("{task.description:>12}"), BarColumn(), TimeElapsedColumn())
    async with _sidecar_with_data(plan, embedder, name, console, cache) as (sidecar, tenant):
        asked = mixed(asked_of(tenant.items))
        with Progress(*columns, console=console) as progress:

            async def hold(calls: int, seconds: float = step_s) -> Held:
                return await hold_calls(plan, sidecar, tenant, asked, progress, calls=calls, seconds=seconds)

            await hold(plan.clients, plan.warm_s)
            long = await hold(plan.calls, seconds)
            steps = await largest(hold, long) if step_s else []
    held = [step.calls for step in (long, *steps) if step.is_held]
    return {
        "machine": before,
        "embedder": name,
        "passages": plan.databases[0],
        "think_s": plan.think_s,
        "load": long.figures(),
        "steps": [step.figures() for step in steps],
        "largest": max(held, default=0) if step_s else None,
    }


def show(found: dict[str, Any], console: Console) -> None:
    """Print what was measured, a line each load."""
    for row in (found["load"], *found["steps"]):
        times = row["milliseconds"]
        first, last = row["memory_mb"]
        console.print(
            f"{row['calls']:6,} calls, {row['seconds']:4.0f} s: {row['searches_a_second']:6.1f} searches/s,"
            f" {times['p50']:6.0f} / {times['p95']:6.0f} / {times['p99']:6.0f} ms, {row['errors']} errors,"
            f" {first:.0f} → {last:.0f} MB ({100 * row['memory_growth']:+.1f} %)",
            highlight=False,
        )
    if found["largest"] is not None:
        console.print(f"The largest load it holds at p99 < 1 s: {found['largest']:,} calls.", highlight=False)


def failures(found: dict[str, Any]) -> list[str]:
    """What must not be, whatever the machine."""
    load, failed = found["load"], []
    if load["errors"]:
        failed.append(f"{load['errors']} searches had no answer")
    if load["outside"]:
        failed.append(f"{load['outside']} results outside of the scope")
    if load["memory_growth"] > MOST_GROWTH:
        failed.append(f"memory grew by {100 * load['memory_growth']:.1f} %")
    return failed


async def _measure(plan: Plan, console: Console, *, seconds: float, step_s: float) -> dict[str, Any]:
    embedder = LocalEmbedder()
    await embedder.start()
    try:
        return await run(plan, embedder, "local", console, seconds=seconds, step_s=step_s)
    finally:
        await embedder.close()


def main(
    minutes: Annotated[float, typer.Option(help="How long 200 calls are held.", min=0.1)] = 10.0,
    step_s: Annotated[
        float, typer.Option(help="Seconds of each step of the search for the largest load; 0: none.", min=0)
    ] = 30.0,
) -> None:
    """Hold 200 calls on one sidecar, find out how many it holds, and write build/bench/load.json.

    Ends with status 1 where a search had no answer, showed what it must not, or memory grew.
    """
    console = Console()
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(_measure(LOAD, console, seconds=60 * minutes, step_s=step_s))
    (RESULTS / "load.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    show(found, console)
    if failed := failures(found):
        console.print(f"Failed: {'; '.join(failed)}.", style="red", markup=False)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
