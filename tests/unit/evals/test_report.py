"""The report is one page that asks nobody for anything, shows what failed, and tells what differs from before."""

import re
from pathlib import Path

import pytest

from tests.evals.artifacts import Recorder, Run
from tests.evals.bench import Bench, Outcome, Plan
from tests.evals.report import changes, page, summary

HOSTILE = '</pre><script>alert("no")</script><img src="https://elsewhere.example/x">'


async def _never(_plan: Plan) -> Outcome:
    raise NotImplementedError


BENCH = Bench("leak", "Leaks", _never)


async def _outcome(folder: Path, *, passed: bool) -> Outcome:
    recorder = Recorder(folder / "cases", "leak", times=2)

    async def once(run: Run) -> None:
        run.transcript.append(HOSTILE)
        run.check("oracle", passed, HOSTILE)

    await recorder.run("a case / with: signs", "kind", once)
    charts = {"latency": {"search": [20.0, 40.0, 900.0]}, "recall by language": {"en": 1.0, "ar": 0.5}}
    return Outcome(recorder.results, {"search ms p50": 40.0}, charts)


async def test_the_page_is_whole_by_itself_and_runs_nothing(tmp_path: Path) -> None:
    outcomes = {"leak": await _outcome(tmp_path, passed=False)}
    document = summary("pipeline", 2, [BENCH], outcomes, ["leak: passed is 0"], quick=False)
    html = page(document, outcomes, [], tmp_path)
    assert html.count("<svg") == 2
    assert "<script" not in html
    assert not re.search(r'(?:src|href)="(?!#)', re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL))
    assert "&lt;script&gt;" in html
    assert "leak: passed is 0" in html


async def test_a_case_passes_only_if_all_its_runs_do_and_what_it_raises_is_its_failure(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "leak", times=3)
    verdicts = iter([True, False, True])

    async def once(run: Run) -> None:
        run.check("exact", next(verdicts), "second time unlucky")

    async def breaks(_run: Run) -> None:
        raise ValueError("gone")

    async def judges_nothing(_run: Run) -> None:
        return

    assert not (await recorder.run("now and then", "kind", once)).passed
    assert (await recorder.run("breaks", "kind", breaks)).reasons == ["ValueError: gone"]
    assert not (await recorder.run("unjudged", "kind", judges_nothing)).passed
    assert len(list((tmp_path / "leak").glob("*.json"))) == 3


@pytest.mark.parametrize(
    ("before", "now", "count"),
    [
        ({"passed": 1.0}, {"passed": 0.9}, 1),
        ({"passed": 1.0}, {"passed": 1.0}, 0),
        ({}, {"passed": 1.0}, 1),
        ({"search ms p50": 100.0}, {"search ms p50": 110.0}, 0),
        ({"search ms p50": 100.0}, {"search ms p50": 190.0}, 1),
    ],
)
def test_what_differs_from_before_is_told_and_the_machines_moods_are_not(
    before: dict[str, float], now: dict[str, float], count: int
) -> None:
    def run_of(figures: dict[str, float]) -> dict[str, object]:
        return {"quick": False, "benches": {"leak": {"skipped": None, "figures": figures}}}

    assert len(changes(run_of(before), run_of(now))) == count
