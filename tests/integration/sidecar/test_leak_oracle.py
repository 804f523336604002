"""No search says what the oracle refuses, and none misses what it allows: 10,000 cases on real PostgreSQL.

`LEAK_CASES` makes it quicker, `LEAK_SEED` different; a failure names both the seed and the one case.
"""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

import pytest_asyncio

from retrieval_sidecar.database import Pool
from retrieval_sidecar.local_database import LocalServer
from tests.oracle.examine import Examiner
from tests.oracle.generate import CASES_A_WORLD, generate
from tests.oracle.rows import Written
from tests.oracle.world import Case
from tests.oracle.write import write
from tests.support.database import TestDatabase, clone
from tests.support.sidecar import connected, token_for

CASES = int(os.environ.get("LEAK_CASES", "10000"))
SEED = int(os.environ.get("LEAK_SEED", "20261130"))


@dataclass(frozen=True)
class Prepared:
    """Worlds in one database, and a pool of the voice role's connections to it."""

    database: TestDatabase
    worlds: list[Written]
    pool: Pool
    token_id: UUID

    def cases(self) -> Iterator[tuple[Written, Case]]:
        """The worlds' cases in turn, so that the first few hundred are of all kinds."""
        in_turn = zip(*([(world, case) for case in world.world.cases] for world in self.worlds), strict=True)
        return chain.from_iterable(in_turn)


@pytest_asyncio.fixture(scope="module")
async def prepared(postgres: LocalServer, empty_template: str) -> AsyncIterator[Prepared]:
    with clone(postgres, empty_template) as database:
        token = await token_for(database)
        token_id = UUID(hex=token.split("_")[1])
        async with connected(database, "owner") as connection:
            worlds = [
                await write(connection, world, number, token_id)
                for number, world in enumerate(generate(-(-CASES // CASES_A_WORLD), SEED))
            ]
            await connection.execute("analyze")
        async with Pool(database.url("voice"), 2) as pool:
            yield Prepared(database, worlds, pool, token_id)


async def test_a_search_finds_what_the_oracle_allows_and_nothing_else(prepared: Prepared) -> None:
    examiner = Examiner(prepared.pool, prepared.token_id)
    for world, case in prepared.cases():
        await examiner.examine(world, case)
    print(examiner.tally)  # noqa: T201
    assert examiner.tally.cases >= CASES
