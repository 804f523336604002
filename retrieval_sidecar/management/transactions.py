"""What operations do with the database: read, or change one thing and say so in the audit log."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from retrieval_sidecar.database import Connection, Pool, translated_errors
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.http.background import Background
from retrieval_sidecar.management.audit import Change, record
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.search.service import Clock

READ_S, WRITE_S = 10.0, 60.0
_T = TypeVar("_T")


def deadline_in(seconds: float) -> Deadline:
    """Nobody waits on the line here, so it may be later than a call's."""
    return Deadline(asyncio.get_running_loop().time() + seconds)


class Transactions:
    """The management API's own connections."""

    def __init__(self, pool: Pool, background: Background, clock: Clock) -> None:
        self._pool = pool
        self._background = background
        self._clock = clock

    async def read(self, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        """What `work` finds; it must change nothing, as it may be done twice. Ends when the client leaves."""
        deadline = deadline_in(READ_S)
        async with deadline.enforced(), translated_errors():
            return await self._pool.read(deadline, work)

    async def change(
        self,
        caller: Caller,
        work: Callable[[Connection], Awaitable[tuple[_T, Change | Sequence[Change]]]],
        *,
        seconds: float = WRITE_S,
    ) -> _T:
        """What `work` gives; what it did and its entries in the audit log are one transaction.

        Done to its end even when the client leaves; only its deadline stops it, and then nothing of it is left.
        """
        deadline = deadline_in(seconds)

        async def bounded() -> _T:
            async with (
                deadline.enforced(),
                translated_errors(),
                self._pool.within(deadline) as connection,
                connection.transaction(),
            ):
                result, done = await work(connection)
                for change in [done] if isinstance(done, Change) else done:
                    await record(connection, caller.organization_id, change, caller.actor, self._clock())
            return result

        return await self.to_its_end(bounded())

    async def to_its_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What comes of work that goes on when the client leaves, and that the process waits for before it ends."""
        return await asyncio.shield(self._background.start(work))
