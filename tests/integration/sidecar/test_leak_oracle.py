"""No search says what the oracle refuses, and none misses what it allows: 10,000 cases on real PostgreSQL.

`LEAK_CASES` makes it quicker, `LEAK_SEED` different; a failure names the seed and tells the one case.
"""

import json
import os
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
import yaml

from retrieval_sidecar.ingest.load import load_organization
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.partitions import rule
from retrieval_sidecar.search.statement import SQL
from retrieval_sidecar.search.whole import find_documents
from tests.oracle.examine import Discrepancy, EmbedderDown, Examiner, Tally, expect
from tests.oracle.mutants import MUTANTS, Mutant
from tests.oracle.routes import by_voice
from tests.oracle.rules import judge
from tests.oracle.survey import Survey, prepared_survey
from tests.support.database import TestDatabase, clone
from tests.support.sidecar import (
    TestClock,
    VoiceClient,
    connected,
    running_sidecar,
)
from tests.support.small_organization import OPEN_NUMBER, SELECTED_NUMBER, items, organization

CASES = int(os.environ.get("LEAK_CASES", "10000"))
SEED = int(os.environ.get("LEAK_SEED", "20261130"))
# Half of them of an organization that is in a partition of its own.
CASES_OF_PARTITIONS = min(CASES, 1_500)
# The oracle notices any mutant within so many cases.
FEW = 1_200
STATUSES = {"ok", "no_match", "restricted_empty"}
RULES = {
    "item: removed",
    "item: deleted",
    "item: draft",
    "item: internal",
    "item: not for the phone",
    "item: source not ready",
    "item: base of a team or a person",
    "item: other segment",
    "item: not yet valid",
    "item: no longer valid",
    "item: closed",
    "item: not selected",
    "item: narrowed away",
    "instruction: removed",
    "instruction: deleted",
    "instruction: draft",
    "instruction: other segment",
    "instruction: not selected",
}


@pytest_asyncio.fixture(scope="module")
async def survey(postgres: LocalServer, empty_template: str) -> AsyncIterator[Survey]:
    with clone(postgres, empty_template) as database:
        async with prepared_survey(database, CASES, SEED) as prepared:
            yield prepared


@pytest.mark.timeout(600)
async def test_a_search_finds_what_the_oracle_allows_and_nothing_else(survey: Survey) -> None:
    tally = await survey.examine(CASES)
    assert tally.cases == CASES
    if tally.cases < 10_000:
        return  # too few for some of everything
    # Each rule was put to the test by itself, and each answer was given.
    assert {rule for rule, times in tally.decided_alone.items() if times >= 100} == RULES
    assert {status for status, times in tally.statuses.items() if times >= 100} == STATUSES


@pytest_asyncio.fixture(scope="module")
async def partitioned_survey(postgres: LocalServer, empty_template: str) -> AsyncIterator[Survey]:
    with clone(postgres, empty_template) as database:
        async with prepared_survey(database, CASES_OF_PARTITIONS, SEED + 1, own_partitions=True) as prepared:
            yield prepared


@pytest.fixture(params=["exact", "approximate"])
def plan(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Approximate: whatever is in a partition of its own goes by its index, however little it is."""
    chosen: str = request.param
    if chosen == "approximate":
        monkeypatch.setattr(rule, "EXACT_ROWS", -1)
        monkeypatch.setattr(rule, "KEPT_SHARE", 0.0)
    return chosen


@pytest.mark.timeout(600)
async def test_a_partition_of_its_own_changes_nothing(partitioned_survey: Survey, plan: str) -> None:
    tally = await partitioned_survey.examine(CASES_OF_PARTITIONS)
    assert tally.cases == CASES_OF_PARTITIONS


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.statements is SQL], ids=lambda m: m.name)
async def test_the_oracle_notices_in_partitions_too(partitioned_survey: Survey, mutant: Mutant, plan: str) -> None:
    with mutant.alive(), pytest.raises(Discrepancy):
        await partitioned_survey.examine(FEW)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_the_oracle_notices(survey: Survey, mutant: Mutant) -> None:
    with mutant.alive(), pytest.raises(Discrepancy):
        await survey.examine(FEW)


async def test_what_is_told_whole_is_what_the_oracle_allows(survey: Survey) -> None:
    assert await _examine_whole(survey, CASES // 5) > 0


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in MUTANTS if mutant.statements is SQL and "{pool}" not in mutant.condition],
    ids=lambda mutant: mutant.name,
)
async def test_the_oracle_notices_in_what_is_told_whole_too(survey: Survey, mutant: Mutant) -> None:
    with mutant.alive(), pytest.raises(Discrepancy):
        await _examine_whole(survey, FEW)


async def _examine_whole(survey: Survey, most: int) -> int:
    """Of so many cases all that is told whole; how many there were. Raises Discrepancy."""
    examiner = Examiner(survey.pool, UUID(hex=survey.token.split("_")[1]), Tally())
    told = 0
    async with connected(survey.database, "voice") as connection:
        for written, case in islice(survey.cases(), most):
            call = written.world.calls[case.call]
            judgement = judge(written.world.organizations[call.organization], call, case.moment)
            scope = await examiner._scope(written, case)(connection, case.moment)
            found = [(each.is_instruction, each.id) for each in await find_documents(connection, scope)]
            expect(written, case, call, judgement, found, complete=True)
            told += bool(found)
    return told


async def test_the_route_answers_within_the_oracles_bounds(survey: Survey) -> None:
    clock = TestClock()
    few = islice(survey.cases(), 0, CASES, 40)
    async with (
        running_sidecar(survey.database, survey.token, clock=clock) as whole,
        running_sidecar(survey.database, survey.token, clock=clock, embedder=EmbedderDown()) as degraded,
    ):
        for written, case in few:
            clock.now = case.moment
            await by_voice(whole if case.leg == "meaning" else degraded, written, case)


# What the oracle found.


async def test_a_selection_of_what_is_a_draft_by_its_own_row_is_empty(
    voice: VoiceClient, database: TestDatabase
) -> None:
    session = await voice.open(SELECTED_NUMBER)
    assert (await session.search("parking garage"))["status"] == "ok"
    async with connected(database, "owner") as connection:
        await connection.execute("update knowledge_item set status = 'draft'; update instruction set status = 'draft'")
    assert (await session.search("parking garage"))["status"] == "restricted_empty"


@pytest.mark.parametrize(
    "restriction",
    [
        pytest.param({"segments": ["staff"]}, id="segment"),
        pytest.param({"valid_until": "2026-11-30"}, id="window"),
        pytest.param({"schedule": {"mon": [["09:00", "17:00"]]}}, id="hours"),
    ],
)
async def test_what_is_restricted_by_a_new_file_is_not_said_until_it_is_indexed_again(
    voice: VoiceClient, database: TestDatabase, tmp_path: Path, restriction: dict[str, Any]
) -> None:
    session = await voice.open(OPEN_NUMBER)
    assert (await session.search("parking garage"))["status"] == "ok"
    changed = [entry | restriction if entry["external_id"] == "parking" else entry for entry in items()]
    (tmp_path / "organization.yaml").write_text(yaml.safe_dump(organization()), encoding="utf-8")
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, changed)), encoding="utf-8")
    async with connected(database, "manage") as connection:
        await load_organization(connection, tmp_path / "organization.yaml", tmp_path / "items.jsonl")
    assert "Parking garage" not in [each["title"] for each in (await session.search("parking garage"))["results"]]
