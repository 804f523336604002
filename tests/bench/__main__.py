"""`make bench`: the search, measured; docs/benchmarks.md says what each number means."""

import asyncio
import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from retrieval_sidecar.embeddings.local import LocalEmbedder
from tests.bench.plan import PLANS, Plan
from tests.bench.report import show
from tests.bench.runner import run
from tests.bench.verdicts import Verdict, judge

RESULTS = Path(__file__).parents[2] / "build" / "bench"
_WIDTH = 140  # of a log


class PlanName(StrEnum):
    """How much is measured."""

    full = "full"
    quick = "quick"
    tiny = "tiny"


class Strictness(StrEnum):
    """What ends the run with status 1."""

    nothing = "nothing"
    correctness = "correctness"
    everything = "everything"


async def measure(plan: Plan, console: Console, *, with_peers: bool) -> dict[str, Any]:
    embedder = LocalEmbedder()
    await embedder.start()
    try:
        return await run(plan, embedder, "local", console, RESULTS / "sidecar.log", with_peers=with_peers)
    finally:
        await embedder.close()


def failures(verdicts: list[Verdict], strict: Strictness) -> list[Verdict]:
    """The missed numbers that count."""
    missed = [each for each in verdicts if each.outcome == "missed"]
    if strict is Strictness.everything:
        return missed
    return [each for each in missed if each.is_correctness] if strict is Strictness.correctness else []


def main(
    plan: Annotated[PlanName, typer.Option(help="How much is measured.")] = PlanName.full,
    strict: Annotated[
        Strictness, typer.Option(help="What ends with status 1: wrong or failed searches, or any number missed.")
    ] = Strictness.nothing,
    *,
    peers: Annotated[
        bool, typer.Option(help="Measure the other stores too, where `make peers` installed them.")
    ] = True,
) -> None:
    """Measure the search and write build/bench/search.json."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    RESULTS.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(measure(PLANS[plan], console, with_peers=peers))
    verdicts = judge(found)
    judged = [asdict(each) | {"outcome": each.outcome} for each in verdicts]
    (RESULTS / "search.json").write_text(
        json.dumps(found | {"verdicts": judged}, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    show(found, verdicts, console)
    if failed := failures(verdicts, strict):
        console.print(f"Missed: {', '.join(each.what for each in failed)}", style="red", markup=False)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
