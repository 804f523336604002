"""Work that outlives its request, and is waited for before the process ends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from aiohttp import web

from retrieval_sidecar.database import Pool

_T = TypeVar("_T")


class Background:
    """Holds running tasks, so that none is collected half done."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def drain(self, timeout_s: float) -> None:
        """Wait for what runs; cancel what is not done in time."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=timeout_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def pools_open(
    pool: Pool, probe: Pool, background: Background, drain_s: float
) -> Callable[[web.Application], AsyncIterator[None]]:
    """For an application's `cleanup_ctx`: its pools, closed once the work behind its answers is done.

    Args:
        pool: of requests and of `background`.
        probe: of readiness.
        background: what is waited for.
        drain_s: seconds, at most.
    """

    async def opened(_app: web.Application) -> AsyncIterator[None]:
        await probe.open(wait=False)
        await pool.open(wait=False)
        yield
        await background.drain(drain_s)
        await pool.close()
        await probe.close()

    return opened
