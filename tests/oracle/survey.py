"""Many cases, over worlds that are in one database."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, islice
from uuid import UUID

from retrieval_sidecar.database import Pool
from retrieval_sidecar.partitions.move import place_organization
from tests.oracle.examine import Discrepancy, Examiner, Tally
from tests.oracle.generate import CASES_A_WORLD, generate
from tests.oracle.rows import Written
from tests.oracle.world import Case
from tests.oracle.write import write
from tests.support.database import TestDatabase
from tests.support.sidecar import connected, token_for

# While one waits for PostgreSQL the other reads and ranks.
_LANES = 2
# So that even a few hundred cases are of all kinds.
_FEWEST_WORLDS = 24


@dataclass(frozen=True)
class Survey:
    """Worlds in a database, and connections of the voice role to it.

    Attributes:
        token: may answer for all organizations.
    """

    database: TestDatabase
    seed: int
    worlds: list[Written]
    token: str
    pool: Pool

    def cases(self) -> Iterator[tuple[Written, Case]]:
        """The cases of all worlds in turn."""
        of_each = ([(world, case) for case in world.world.cases] for world in self.worlds)
        return chain.from_iterable(zip(*of_each, strict=True))

    async def examine(self, most: int) -> Tally:
        """Examine so many cases, or all that there are. Raises Discrepancy with the first."""
        tally = Tally()
        cases = islice(self.cases(), most)

        async def lane() -> None:
            examiner = Examiner(self.pool, _token_id(self.token), tally)
            for world, case in cases:
                await examiner.examine(world, case)

        lanes = [asyncio.create_task(lane()) for _ in range(_LANES)]
        try:
            await asyncio.gather(*lanes)
        except Discrepancy as discrepancy:
            discrepancy.add_note(f"LEAK_SEED={self.seed}, {len(self.worlds)} worlds, noticed in case {tally.cases}")
            raise
        finally:
            for each in lanes:
                each.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
        return tally


@asynccontextmanager
async def prepared_survey(
    database: TestDatabase, cases: int, seed: int, *, own_partitions: bool = False
) -> AsyncIterator[Survey]:
    """Worlds for so many cases, written into an empty database.

    Args:
        own_partitions: have the first organization of each world in a partition of its own; the others share theirs.
    """
    token = await token_for(database)
    worlds = generate(max(-(-cases // CASES_A_WORLD), _FEWEST_WORLDS), seed)
    async with connected(database, "owner") as connection:
        written = [await write(connection, world, n, _token_id(token)) for n, world in enumerate(worlds)]
        if own_partitions:
            await _move(database, [world.organization_id(0) for world in written])
        await connection.execute("analyze")
    async with Pool(database.url("voice"), _LANES) as pool:
        await pool.wait()  # on a busy machine a search would wait for its connection too long
        yield Survey(database, seed, written, token, pool)


async def _move(database: TestDatabase, organizations: Sequence[UUID]) -> None:
    async def nobody_is_searching() -> None:
        return

    async with connected(database, "owner") as connection, connected(database, "owner") as watch:
        for organization_id in organizations:
            await place_organization(connection, watch, organization_id, own_partition=True, settle=nobody_is_searching)


def _token_id(token: str) -> UUID:
    return UUID(hex=token.split("_")[1])
