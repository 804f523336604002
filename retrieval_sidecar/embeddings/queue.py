"""Requests to an embedder take turns: so many at once, those that wait go together, and too many are turned away."""

from collections.abc import Sequence

import numpy as np

from retrieval_sidecar.deadline import LONGEST_S
from retrieval_sidecar.embeddings.base import Embedder, EmbedderWrapper, Vectors
from retrieval_sidecar.embeddings.shared_work import SharedWork
from retrieval_sidecar.gate import Gate


class QueuedEmbedder(EmbedderWrapper):
    """A question goes out at once while there is room; otherwise with all others that wait for room by then."""

    def __init__(self, inner: Embedder, *, at_once: int, together: int, waiting: int) -> None:
        """Wrap an embedder.

        Args:
            at_once: requests under way.
            together: texts in a request of several callers; one caller's own texts are never torn apart.
            waiting: requests that wait; a caller beyond them gets Unavailable.
        """
        super().__init__(inner)
        self._together = together
        self._gate = Gate(at_once, waiting, name="embedder")
        # The texts that go next, and their request, which waits for its turn.
        self._next: tuple[list[str], SharedWork[Vectors]] | None = None

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        batch, work = self._joinable(len(texts))
        start = len(batch)
        batch += texts
        with work:
            rows = await work.result()
        return rows[start : start + len(texts)]

    def _joinable(self, count: int) -> tuple[list[str], SharedWork[Vectors]]:
        """The request that waits, while there is room in it; otherwise a new one."""
        if self._next is not None:
            batch, work = self._next
            if len(batch) + count <= self._together and not work.is_abandoned:
                return self._next
        batch = []
        self._next = batch, SharedWork(self._send(batch))
        return self._next

    async def _send(self, batch: list[str]) -> Vectors:
        try:
            async with self._gate.passed(LONGEST_S):
                self._close(batch)
                return await self._inner.embed_queries(batch)
        finally:
            self._close(batch)  # turned away or stopped: nobody else may join

    def _close(self, batch: list[str]) -> None:
        if self._next is not None and self._next[0] is batch:
            self._next = None
