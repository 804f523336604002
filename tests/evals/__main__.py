"""`make eval`: every bench, held against the gates; `build/eval/report.html` shows what came of it."""

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from typing import Annotated, cast

import structlog
import typer
from rich.console import Console

from retrieval_sidecar.embeddings.local import LocalEmbedder
from tests.evals.bench import BUILD, Bench, Outcome, Plan
from tests.evals.benches import BENCHES
from tests.evals.gates import TARGETS, Target, missed, read_gates
from tests.evals.report import changes, page, summary
from tests.evals.retrieval import VECTORS
from tests.evals.stored_embedder import StoredEmbedder
from tests.support.database import TestDatabase, migrated_template, test_server

console = Console(highlight=False)


def main(
    only: Annotated[str, typer.Option(help="Only benches whose name holds this.")] = "",
    target: Annotated[str, typer.Option(envvar="EVAL_TARGET", help="pipeline or realtime.")] = "pipeline",
    times: Annotated[int, typer.Option("--k", envvar="EVAL_K", min=1, help="How often each case is run.")] = 1,
    *,
    full: Annotated[bool, typer.Option("--full", envvar="EVAL_FULL", help="All questions of the large sets.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A part of the cases, in a few minutes.")] = False,
) -> None:
    """Run the benches and write summary.json, report.html and an artifact of each case to build/eval.

    A case passes only if all its runs do. Exit status 1 where a gate is missed.
    """
    if target not in TARGETS:
        raise typer.BadParameter(f"must be one of {', '.join(TARGETS)}", param_hint="--target")
    gates = read_gates(cast("Target", target))
    chosen = [bench for bench in BENCHES if only in bench.name]
    quieten()
    outcomes = asyncio.run(run(chosen, times=times, quick=quick, full=full))
    below = list(missed(gates, outcomes, quick=quick))
    document = summary(target, times, chosen, outcomes, below, quick=quick)
    write(document, outcomes)
    for line in below:
        console.print(line, style="red", markup=False)
    console.print(f"{'passed' if not below else 'FAILED'}: build/eval/report.html")
    if below:
        raise typer.Exit(1)


async def run(benches: Sequence[Bench], *, times: int, quick: bool, full: bool) -> dict[str, Outcome]:
    """Run benches one after the other, on one server; one that breaks has failed, and the others go on."""
    embedder = StoredEmbedder(LocalEmbedder(), VECTORS)
    await embedder.start()
    outcomes: dict[str, Outcome] = {}
    try:
        with test_server() as server:
            template = TestDatabase(server, migrated_template(server))
            plan = Plan(BUILD, times, quick, full, template, embedder, console)
            for bench in benches:
                started = time.monotonic()
                console.print(f"{bench.title} …", markup=False)
                try:
                    outcome = await bench.run(plan)
                except Exception:  # noqa: BLE001 - whatever breaks a bench is told beside what the others found
                    console.print_exception()
                    outcome = Outcome(skipped="it broke", broke=True)
                outcome.seconds = time.monotonic() - started
                outcomes[bench.name] = outcome
                console.print(_told(outcome), markup=False)
    finally:
        await embedder.close()
    return outcomes


def write(document: dict[str, object], outcomes: dict[str, Outcome]) -> None:
    """Write the summary and the report; the difference is to the summary that was there."""
    file = BUILD / "summary.json"
    before = json.loads(file.read_text("utf-8")) if file.exists() else None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
    html = page(document, outcomes, changes(before, document), BUILD)
    (BUILD / "report.html").write_text(html, encoding="utf-8")


def quieten() -> None:
    """What the worker's parts log in this process would bury what is printed for people."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.getLogger("livekit").setLevel(logging.CRITICAL)


def _told(outcome: Outcome) -> str:
    if outcome.skipped is not None:
        return f"  not run: {outcome.skipped}"
    figures = outcome.figures
    return f"  {figures['cases']:,.0f} cases, {figures['passed']:.1%} passed, {outcome.seconds:.0f} s"


if __name__ == "__main__":
    typer.run(main)
