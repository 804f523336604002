"""Bench 2: the search on questions that people asked; the sample always, ../shared/data where it is there."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from tests.evals.artifacts import Run
from tests.evals.bench import Bench, Outcome, Plan
from tests.evals.datasets import Dataset
from tests.evals.retrieval import Measured, measure, sets, shortfalls

NAME: Final = "real_questions"


async def run(plan: Plan) -> Outcome:
    """Measure each set; a case is a set, and passes where no figure is below its baseline."""
    recorder = plan.recorder(NAME)
    measured: list[Measured] = []
    for dataset in _chosen(plan):

        async def once(run: Run, dataset: Dataset = dataset) -> None:
            found = await measure(plan.template, dataset, plan.embedder)
            measured.append(found)
            below = shortfalls(found)
            reason = "; ".join(below) or "at or above every baseline"
            run.check("baseline", not below or not found.is_whole, reason)
            run.more = asdict(found)

        # The search is deterministic: once more would show the same.
        await recorder.run(dataset.name, "set", once, times=1)
    figures = {"below baseline": float(sum(not result.passed for result in recorder.results))}
    return Outcome(recorder.results, figures | _figures(measured), _charts(measured))


def _chosen(plan: Plan) -> Sequence[Dataset]:
    every = sets(full=plan.full)
    return [next(every)] if plan.quick else list(every)


def _figures(measured: Sequence[Measured]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for each in measured:
        for mode, ranking in each.rankings.items():
            figures[f"{each.name}, {mode}: R@1"] = round(ranking.r1, 3)
            figures[f"{each.name}, {mode}: R@5"] = round(ranking.r5, 3)
            figures[f"{each.name}, {mode}: MRR@5"] = round(ranking.mrr5, 3)
        if refusal := each.refusal.get("relevance"):
            figures[f"{each.name}, refusal: AUROC"] = round(refusal.auroc, 3)
            refused, lost = each.refused or 0.0, each.lost
            others, answerable = refusal.others, refusal.answerable
            right = refused * others
            figures[f"{each.name}, no match: precision"] = round(right / max(1e-9, right + lost * answerable), 3)
            figures[f"{each.name}, no match: recall"] = round(refused, 3)
    return figures


def _charts(measured: Sequence[Measured]) -> dict[str, Any]:
    return {
        "recall of sets": {
            each.name: {mode: ranking.r5 for mode, ranking in each.rankings.items()} for each in measured
        },
        "refusal": {
            each.name: {"curve": refusal.curve, "now": [each.lost, each.refused]}
            for each in measured
            if (refusal := each.refusal.get("relevance"))
        },
    }


BENCH: Final = Bench(NAME, "Questions that people asked", run)
