"""Many cases at once, over worlds that are in one database."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, islice
from uuid import UUID

from retrieval_sidecar.database import Pool
from tests.oracle.examine import Examiner, Tally
from tests.oracle.generate import CASES_A_WORLD, generate
from tests.oracle.rows import Written
from tests.oracle.world import Case
from tests.oracle.write import write
from tests.support.database import TestDatabase
from tests.support.sidecar import connected, token_for

# While one waits for PostgreSQL the other reads and ranks.
_LANES = 2
_FEWEST_WORLDS = 12


@dataclass
class Survey:
    """Worlds in a database, and connections of the voice role to it.

    Attributes:
        token: may answer for all organizations; `token_id` is its id.
    """

    database: TestDatabase
    worlds: list[Written]
    token: str
    pool: Pool
    tally: Tally = None

    @property
    def token_id(self) -> UUID:
        return UUID(hex=self.token.split("_")[1])

    def cases(self) -> Iterator[tuple[Written, Case]]:
        """The cases of all worlds in turn, so that the first few hundred are of all kinds."""
        of_each = ([(world, case) for case in world.world.cases] for world in self.worlds)
        return chain.from_iterable(zip(*of_each, strict=True))

    async def examine(self, most: int) -> Tally:
        """Examine so many cases, or all that there are. Raises Discrepancy with the first."""
        tally = self.tally = Tally()
        cases = islice(self.cases(), most)

        async def lane() -> None:
            examiner = Examiner(self.pool, self.token_id, tally)
            for world, case in cases:
                await examiner.examine(world, case)

        lanes = [asyncio.create_task(lane()) for _ in range(_LANES)]
        try:
            await asyncio.gather(*lanes)
        finally:
            for each in lanes:
                each.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
        return tally


@asynccontextmanager
async def prepared_survey(database: TestDatabase, cases: int, seed: int) -> AsyncIterator[Survey]:
    """Worlds for so many cases, written into an empty database."""
    token = await token_for(database)
    async with Pool(database.url("voice"), _LANES) as pool:
        survey = Survey(database, [], token, pool)
        async with connected(database, "owner") as connection:
            for number, world in enumerate(generate(max(-(-cases // CASES_A_WORLD), _FEWEST_WORLDS), seed)):
                survey.worlds.append(await write(connection, world, number, survey.token_id))
            await connection.execute("analyze")
        yield survey
