"""What a run comes to: summary.json for machines, report.html for people, and the difference to the run before."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.evals import charts
from tests.evals.bench import Bench, Outcome

_TEMPLATES: Final = Path(__file__).parent
_SAME: Final = 1e-9
# A difference of time is told from here on: less is the machine's.
_TIME_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Change:
    """A figure that is another than in the run before."""

    bench: str
    figure: str
    before: float | None
    now: float | None


def summary(
    target: str,
    times: int,
    benches: Sequence[Bench],
    outcomes: Mapping[str, Outcome],
    below: Sequence[str],
    *,
    quick: bool,
) -> dict[str, Any]:
    """What build/eval/summary.json holds."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": target,
        "runs of each case": times,
        "quick": quick,
        "passed": not below,
        "below the gates": list(below),
        "benches": {
            bench.name: {
                "title": bench.title,
                "skipped": outcome.skipped,
                "seconds": round(outcome.seconds, 1),
                "figures": outcome.figures,
                "failed": [
                    {"case": r.case, "reasons": r.reasons, "artifact": r.file} for r in outcome.results if not r.passed
                ],
            }
            for bench in benches
            if (outcome := outcomes.get(bench.name)) is not None
        },
    }


def changes(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> list[Change]:
    """The figures that differ from those of the run before, of benches that both ran."""
    if before is None or before.get("quick") != now["quick"]:
        return []
    found = []
    for name, bench in now["benches"].items():
        earlier = before.get("benches", {}).get(name)
        if earlier is None or bench["skipped"] or earlier["skipped"]:
            continue
        figures, others = bench["figures"], earlier["figures"]
        for figure in sorted(figures.keys() | others.keys()):
            one, other = others.get(figure), figures.get(figure)
            if not _is_same(figure, one, other):
                found.append(Change(name, figure, one, other))
    return found


def _is_same(figure: str, one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    slack = _TIME_SHARE * max(abs(one), abs(other)) if " ms " in figure else _SAME
    return abs(one - other) <= slack


def page(document: Mapping[str, Any], outcomes: Mapping[str, Outcome], changed: Sequence[Change], folder: Path) -> str:
    """The report as one HTML file without any other."""
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined)
    drawn: dict[str, Any] = {}
    for outcome in outcomes.values():
        drawn |= outcome.charts
    pictures = [
        charts.inline(charts.latency, drawn.get("latency")),
        charts.inline(charts.shares("Recall@5 by the language of the question"), drawn.get("recall by language")),
        charts.inline(charts.shares("Recall@1 by what the agent may tell"), drawn.get("recall by selectivity")),
        charts.inline(charts.sets, drawn.get("recall of sets")),
        charts.inline(charts.refusal, drawn.get("refusal")),
    ]
    failures = [
        {"bench": result.bench, "case": result.case, "kind": result.kind, "reasons": result.reasons}
        | {"artifact": json.dumps(_artifact(folder, result.file), indent=1, ensure_ascii=False)}
        for outcome in outcomes.values()
        for result in outcome.results
        if not result.passed
    ]
    return environment.get_template("report.html.j2").render(
        summary=document, changed=changed, pictures=[each for each in pictures if each], failures=failures
    )


def _artifact(folder: Path, file: str) -> Any:
    """The first run that failed: the others of a case are in its artifact."""
    document = json.loads((folder / "cases" / file).read_text("utf-8"))
    runs = document["runs"]
    failed = (run for run in runs if run["trace"] or not all(verdict["passed"] for verdict in run["verdicts"]))
    return next(failed, runs[0])
