"""Who may go on, who waits, and who is better turned away at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from retrieval_sidecar.errors import Unavailable
from retrieval_sidecar.metrics import INSIDE, SHED, SLOTS, WAITING, WAITS

_SMOOTHING = 0.1  # weight of the newest stay in the average


class Gate:
    """Lets so many through at once and so many wait, in the order in which they came."""

    def __init__(
        self, slots: int, waiting: int, clock: Callable[[], float] = time.monotonic, *, name: str = "other"
    ) -> None:
        """Make a gate.

        Args:
            slots: how many may be inside.
            waiting: how many more may wait for their turn.
            clock: seconds; times how long each stays.
            name: of what one waits for, in the metrics.
        """
        self._wait, self._shed = WAITS.labels(name), SHED.labels(name)
        self._waiting_now, self._inside_now = WAITING.labels(name), INSIDE.labels(name)
        SLOTS.labels(name).inc(slots)
        self._slots = slots
        self._longest_queue = waiting
        self._clock = clock
        self._free = asyncio.Semaphore(slots)
        self._waiting = 0
        self._mean_stay_s = 0.0

    @asynccontextmanager
    async def passed(self, patience_s: float) -> AsyncIterator[None]:
        """Be inside for the block.

        Raises:
            Unavailable: the queue is full, or the wait would be longer than `patience_s` by how long others stayed of
                late: both at once. Or it was longer.
        """
        if self._free.locked() and (self._waiting >= self._longest_queue or self._expected_wait_s() > patience_s):
            self._shed.inc()
            raise Unavailable("The sidecar has more to do than it can.")
        came = self._clock()
        self._waiting += 1
        self._waiting_now.inc()
        try:
            async with asyncio.timeout(patience_s):
                await self._free.acquire()
        except TimeoutError as error:
            self._shed.inc()
            raise Unavailable("The sidecar has more to do than it can.") from error
        finally:
            self._waiting -= 1
            self._waiting_now.dec()
        entered = self._clock()
        self._wait.observe(entered - came)
        self._inside_now.inc()
        try:
            yield
        finally:
            self._inside_now.dec()
            self._mean_stay_s += _SMOOTHING * (self._clock() - entered - self._mean_stay_s)
            self._free.release()

    def _expected_wait_s(self) -> float:
        return (self._waiting + 1) * self._mean_stay_s / self._slots
