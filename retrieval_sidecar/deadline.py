"""The time that is left for a request, handed down to everything that waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

from retrieval_sidecar.errors import DeadlineExceeded

LONGEST_S = 3.5  # so that an answer, even 504, is back before the worker's own 3.8 s are over


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the event loop's clock.

    Attributes:
        at: seconds on `asyncio.get_running_loop().time()`.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """So many seconds from now, and never more than LONGEST_S."""
        return cls(asyncio.get_running_loop().time() + min(seconds, LONGEST_S))

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cancel the block when the time is up. Raises DeadlineExceeded."""
        try:
            async with asyncio.timeout_at(self.at):
                yield
        except TimeoutError as error:
            raise DeadlineExceeded from error
