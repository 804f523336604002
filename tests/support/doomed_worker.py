"""A worker in a process of its own, made to be killed: how far it comes is in the test's hands."""

import asyncio
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Semaphore

from retrieval_sidecar.embeddings import Embedders, Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.jobs.process import Workshop
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.jobs.reading import Reader
from retrieval_sidecar.jobs.worker import Pace, work
from retrieval_sidecar.sources.limits import SourceLimits

MARK = "Lamp"  # stands in each text that a test adds, and in no sample of a language
_PACE = Pace(heartbeat=0.1, stalled=1.0, sweep=0.2, poll=0.1, grace=0)
# A server that has loaded everything forks each worker, which takes milliseconds where a new Python takes seconds.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


class _Permitted(FakeEmbedder):
    """Embeds one batch of a test's texts for each permit."""

    def __init__(self, permits: Semaphore) -> None:
        super().__init__()
        self._permits = permits

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any(MARK in text for text in texts):
            await asyncio.to_thread(self._permits.acquire)
        return await super().embed_passages(texts)


class Doomed:
    """Workers of one queue, one after the other.

    Attributes:
        permits: released once for each batch that may be embedded.
    """

    def __init__(self, conninfo: str) -> None:
        self.permits = _FORKS.Semaphore(0)
        self._conninfo = conninfo

    @contextmanager
    def working(self) -> Iterator[None]:
        """A worker, until the block is left; then SIGKILL."""
        process = _FORKS.Process(target=_run, args=(self._conninfo, self.permits), daemon=True)
        process.start()
        try:
            yield
        finally:
            process.kill()
            process.join()
            process.close()
            while self.permits.acquire(block=False):
                pass


def _run(conninfo: str, permits: Semaphore) -> None:
    asyncio.run(_work(conninfo, permits))


async def _work(conninfo: str, permits: Semaphore) -> None:
    limits = SourceLimits()
    shop = Workshop(conninfo, Embedders(_Permitted(permits)), limits, Reader(limits), progress_s=0.01)
    async with JobQueue(conninfo, connections=4) as queue:
        await work(queue, shop, asyncio.Event(), pace=_PACE)
