"""Bench 3: 10,000 generated calls against an oracle in plain Python, in every mode of search and through every route.

The worlds, the oracle and its own mutants are the tests' (`tests/oracle`); here they are counted, and held by a gate.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import pytest

from retrieval_sidecar.partitions import rule
from tests.evals.artifacts import Run
from tests.evals.bench import Bench, Outcome, Plan
from tests.oracle.examine import EmbedderDown
from tests.oracle.routes import by_test_search, by_voice
from tests.oracle.rows import Written
from tests.oracle.survey import Survey, prepared_survey
from tests.oracle.world import Case
from tests.support.database import clone
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, running_sidecar

NAME: Final = "leak"
_SEED: Final = 20261130
_EACH: Final = 40  # of the cases that go through HTTP


@dataclass
class _Tally:
    cases: int = 0
    routes: set[str] = field(default_factory=set)


async def run(plan: Plan) -> Outcome:
    """Examine all modes and routes; a mode is a case, which passes without a single discrepancy."""
    seed = int(os.environ.get("LEAK_SEED", _SEED))
    many, fewer = (600, 200) if plan.quick else (10_000, 1_500)
    recorder, tally = plan.recorder(NAME), _Tally()

    async def mode(name: str, route: str, work: Callable[[], Awaitable[int]]) -> None:
        async def once(run: Run) -> None:
            run.more = {"seed": seed}
            examined = await work()  # raises Discrepancy, which tells the one case
            tally.cases += examined
            tally.routes.add(route)
            run.check("oracle", examined > 0, f"{examined} cases, none of them more or less than the oracle allows")

        # Worlds and cases follow from the seed: once more would show the same.
        await recorder.run(name, route, once, times=1)

    async with _survey(plan, many, seed) as survey:

        async def exact() -> int:
            return (await survey.examine(many)).cases

        await mode("exact: by meaning, and degraded by words and by codes", "search", exact)
        await mode("over HTTP, as workers ask", "voice API", lambda: _by_voice(survey, many, degraded=False))
        await mode(
            "over HTTP, the embedder down", "voice API, degraded", lambda: _by_voice(survey, many, degraded=True)
        )
        await mode("the operators' search", "management API", lambda: _by_test_search(survey, many))
    async with _survey(plan, fewer, seed + 1, own_partitions=True) as survey:

        async def partitioned() -> int:
            return (await survey.examine(fewer)).cases

        await mode("in a partition of its own, exact", "search", partitioned)
        with _by_index():
            await mode("in a partition of its own, by its index", "search by index", partitioned)
    leaks = sum("Discrepancy" in (run.trace or "") for result in recorder.results for run in result.runs)
    return Outcome(
        recorder.results, {"cases": float(tally.cases), "leaks": float(leaks), "routes": float(len(tally.routes))}
    )


@asynccontextmanager
async def _survey(plan: Plan, cases: int, seed: int, *, own_partitions: bool = False) -> AsyncIterator[Survey]:
    with clone(plan.template.server, plan.template.name) as database:
        async with prepared_survey(database, cases, seed, own_partitions=own_partitions) as survey:
            yield survey


@contextmanager
def _by_index() -> Iterator[None]:
    """Whatever is in a partition of its own goes by its index, however little it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "EXACT_ROWS", -1)
        patch.setattr(rule, "KEPT_SHARE", 0.0)
        yield


async def _by_voice(survey: Survey, many: int, *, degraded: bool) -> int:
    clock = TestClock()
    examined = 0
    embedder = EmbedderDown() if degraded else None
    async with running_sidecar(survey.database, survey.token, clock=clock, embedder=embedder) as client:
        for written, case in islice(survey.cases(), 0, many, _EACH):
            if (case.leg != "meaning") == degraded:
                clock.now = case.moment
                await by_voice(client, written, case)
                examined += 1
    return examined


async def _by_test_search(survey: Survey, many: int) -> int:
    clock = TestClock()
    clients: dict[tuple[int, int], ManagementClient] = {}
    examined = 0
    key = await key_for(survey.database, survey.worlds[0].organization_id(0))
    async with running_management(survey.database, key, clock=clock) as client:
        for written, case in islice(survey.cases(), 0, many, _EACH):
            if case.leg != "meaning":
                continue
            clock.now = case.moment
            of = (written.number, written.world.calls[case.call].organization)
            if of not in clients:
                clients[of] = client.with_key(await _key(survey, written, case))
            examined += await by_test_search(clients[of], written, case)
    return examined


async def _key(survey: Survey, written: Written, case: Case) -> str:
    return await key_for(survey.database, written.organization_id(written.world.calls[case.call].organization))


BENCH: Final = Bench(NAME, "Leaks, against an oracle", run)
