"""Embedders that do as a test tells them."""

import asyncio
from collections.abc import Sequence

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable


class HeldEmbedder(FakeEmbedder):
    """Answers each request for questions when it is told to; keeps what was asked.

    Attributes:
        requests: the texts of each request, in order.
        stopped: those that were cancelled.
    """

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        self.stopped: list[list[str]] = []
        self._answers: list[asyncio.Future[None]] = []
        self._asked = asyncio.Condition()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        answer = asyncio.get_running_loop().create_future()
        async with self._asked:
            self.requests.append(list(texts))
            self._answers.append(answer)
            self._asked.notify_all()
        try:
            await answer
        except asyncio.CancelledError:
            self.stopped.append(list(texts))
            raise
        return await super().embed_queries(texts)

    async def asked(self, count: int) -> None:
        """Wait until there were so many requests."""
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= count)

    def answer(self, request: int) -> None:
        """Let a request, by its number, have its vectors."""
        self._answers[request].set_result(None)

    def fail(self, request: int) -> None:
        """Let a request, by its number, fail."""
        self._answers[request].set_exception(EmbedderUnavailable("Told to fail."))


class GatedEmbedder(FakeEmbedder):
    """Embeds passages once its gate is open; counts the texts.

    Attributes:
        asked: set when it was asked for passages.
        gate: passages wait for it.
        fails_after: so many texts of passages, then it fails.
        questions, passages: how many texts of each it has embedded.
    """

    def __init__(self, model: str | None = None, dimensions: int | None = None, *, is_open: bool = True) -> None:
        super().__init__(model, dimensions)
        self.asked, self.gate = asyncio.Event(), asyncio.Event()
        self.fails_after: int | None = None
        self.questions = self.passages = 0
        if is_open:
            self.gate.set()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.questions += len(texts)
        return await super().embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.set()
        await self.gate.wait()
        if self.fails_after is not None and self.passages + len(texts) > self.fails_after:
            raise EmbedderUnavailable("Told to fail.")
        self.passages += len(texts)
        return await super().embed_passages(texts)


async def settled() -> None:
    """Let every task run until it waits for something else."""
    for _ in range(10):
        await asyncio.sleep(0)
