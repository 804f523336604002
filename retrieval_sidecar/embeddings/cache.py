"""Questions are asked again: their vectors are kept, what was found never is."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from retrieval_sidecar.embeddings.base import Embedder, EmbedderWrapper, Vectors
from retrieval_sidecar.embeddings.shared_work import SharedWork
from retrieval_sidecar.text.normalize import for_embedding

_Key = tuple[str, str]
_Rows = dict[_Key, Vectors]


class CachedEmbedder(EmbedderWrapper):
    """Keeps the vectors of the latest questions by model and normalised text; equal ones at once are embedded once."""

    def __init__(self, inner: Embedder, size: int) -> None:
        """Wrap an embedder; `size` is how many vectors are kept, at least one."""
        super().__init__(inner)
        self._size = size
        self._kept: OrderedDict[_Key, Vectors] = OrderedDict()
        self._under_way: dict[_Key, SharedWork[_Rows]] = {}

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        keys = [(self.model, for_embedding(text)) for text in texts]
        rows = {key: row for key in keys if (row := self._find(key)) is not None}
        missing = [key for key in dict.fromkeys(keys) if key not in rows]
        self._begin([key for key in missing if not self._is_under_way(key)])
        with ExitStack() as stack:
            # All are joined before any is waited for: another might be given up meanwhile.
            works = [stack.enter_context(work) for work in {self._under_way[key] for key in missing}]
            for found in await asyncio.gather(*(work.result() for work in works)):
                rows |= found
        if not keys:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack([rows[key] for key in keys])

    def _find(self, key: _Key) -> Vectors | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def _is_under_way(self, key: _Key) -> bool:
        work = self._under_way.get(key)
        return work is not None and not work.is_abandoned

    def _begin(self, keys: Sequence[_Key]) -> None:
        """Embed these, in one request."""
        if not keys:
            return
        work = SharedWork(self._embed(keys))
        self._under_way |= dict.fromkeys(keys, work)
        work.when_over(lambda: self._forget(keys, work))

    async def _embed(self, keys: Sequence[_Key]) -> _Rows:
        vectors = await self._inner.embed_queries([text for _, text in keys])
        # Copies: a row of the whole would keep all of it.
        rows = {key: row.copy() for key, row in zip(keys, vectors, strict=True)}
        self._kept |= rows
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return rows

    def _forget(self, keys: Sequence[_Key], work: SharedWork[_Rows]) -> None:
        for key in keys:
            if self._under_way.get(key) is work:
                del self._under_way[key]
