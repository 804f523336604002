"""Bench 1: calls to a help centre of 3,143 items, through bootstrap, tool, sidecar process and database."""

import json
from collections.abc import Sequence
from typing import Final

from tests.evals.artifacts import Result, Run
from tests.evals.bench import Bench, Outcome, Plan, quantiles
from tests.evals.case import Case
from tests.evals.help_centre.allowed import allowed
from tests.evals.help_centre.cases import cases, neighbours
from tests.evals.help_centre.centre import Item, items
from tests.evals.help_centre.organization import (
    FIVE,
    FOLDER,
    ORGANIZATION_ID,
    SELECTED_FOLDERS,
    TENTH_FOLDERS,
    organization,
)
from tests.evals.judges import judge, recall
from tests.evals.parts import Knowledge, Sidecar, loaded, sidecar_process
from tests.evals.text_call import TextCall, text_call
from tests.support.database import clone

NAME: Final = "help_centre"
_EACH: Final = 4  # of a quick run: each fourth case of a kind


async def run(plan: Plan) -> Outcome:
    """Load the help centre, and hold all calls."""
    chosen, stored = (some_cases(), some_items()) if plan.quick else (cases(), items())
    with clone(plan.template.server, plan.template.name) as database:
        knowledge = await loaded(database, organization(), stored, plan.embedder)
        async with sidecar_process(database, ORGANIZATION_ID, plan.log(NAME), embedder="local") as sidecar:
            return await hold(plan, chosen, knowledge, sidecar, stored)


async def hold(
    plan: Plan, chosen: Sequence[Case], knowledge: Knowledge, sidecar: Sidecar, stored: Sequence[Item]
) -> Outcome:
    """Hold the calls of these cases with a sidecar that is up."""
    recorder = plan.recorder(NAME)
    # Not the bare numbers, which an id or a year may hold as well.
    secrets = [str(item["code"]) for item in stored if "-" in item.get("code", "")]
    for case in chosen:

        async def once(run: Run, case: Case = case) -> None:
            await _hold(case, run, knowledge, sidecar, secrets)

        await recorder.run(case.id, case.kind, once, language=case.language, selectivity=case.selectivity)
    return _outcome(recorder.results)


async def _hold(case: Case, run: Run, knowledge: Knowledge, sidecar: Sidecar, secrets: Sequence[str]) -> None:
    async with text_call(sidecar, knowledge.names, case.called, case.caller, language=case.language) as call:
        run.scope = json.loads(call.bootstrap.scope.to_wire())
        _nothing_preloaded(run, call, secrets)
        for turn in case.turns:
            heard = await call.say(turn.say, turn.query)
            run.turns.append(heard)
            run.usage.searches += len(heard.statuses)
            run.transcript += [f"caller: {turn.say}", f"agent: {heard.answer}"]
            judge(run, heard, turn.expected, allowed(case.called, case.caller), case.language)


def _nothing_preloaded(run: Run, call: TextCall, secrets: Sequence[str]) -> None:
    sent = call.bootstrap.to_wire() + call.prompt
    held = [code for code in secrets if code in sent]
    is_clean = call.bootstrap.inline_knowledge is None and not held
    run.check("preload", is_clean, f"codes in the bootstrap and in the prompt: {len(held)}")


def _outcome(results: Sequence[Result]) -> Outcome:
    searches = [ms for result in results for run in result.runs for heard in run.turns for ms in heard.ms]
    verdicts = [verdict for result in results for run in result.runs for verdict in run.verdicts]

    def failed(name: str) -> float:
        return float(sum(not verdict.passed for verdict in verdicts if verdict.judge == name))

    by_language: dict[str, list[bool]] = {}
    by_selectivity: dict[str, list[bool]] = {}
    for result in results:
        if result.kind.startswith("paraphrase"):
            by_language.setdefault(result.language, []).append(_was_found(result))
        if result.selectivity:
            by_selectivity.setdefault(result.selectivity, []).append(_was_found(result))
    figures = {
        "preloaded": failed("preload"),
        "out of scope": failed("scope"),
        "over 3 s": failed("time"),
        **quantiles(searches, "search ms"),
        **{f"recall@5, asked in {group}": share for group, share in recall(by_language).items()},
        **{f"recall@1, of {group}": share for group, share in recall(by_selectivity).items()},
    }
    charts = {
        "latency": {"search in a call": searches},
        "recall by language": recall(by_language),
        "recall by selectivity": recall(by_selectivity),
    }
    return Outcome(results, figures, charts)


def _was_found(result: Result) -> bool:
    return all(verdict.passed for run in result.runs for verdict in run.verdicts if verdict.judge == "ids")


def some_cases() -> list[Case]:
    """Some of each kind."""
    kinds: dict[str, list[Case]] = {}
    for case in cases():
        kinds.setdefault(case.kind, []).append(case)
    return [case for of_kind in kinds.values() for case in of_kind[::_EACH]]


def some_items() -> list[Item]:
    """What those cases are about, with all that is like it: as hard to tell apart as the whole."""
    needed = {id_ for case in some_cases() for id_ in neighbours(case)} | set(FIVE) | {"policy:overtime:draft"}
    first_of = {item["folder"]: item["external_id"] for item in reversed(items())}  # what is selected has to be there
    needed |= {first_of[folder] for folder in (*SELECTED_FOLDERS, *TENTH_FOLDERS, FOLDER)}
    return [item for item in items() if item["external_id"] in needed]


BENCH: Final = Bench(NAME, "Help centre of 3,143 items", run)
