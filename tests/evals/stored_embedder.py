"""An embedder that remembers: evaluation sets are large, models slow, and texts the same each time."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from retrieval_sidecar.embeddings import Embedder, Vectors

_BATCH = 64


class StoredEmbedder:
    """Another embedder behind a file of vectors, keyed by model, kind and content."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        self.model, self.dimensions, self.max_tokens = inner.model, inner.dimensions, inner.max_tokens
        file.parent.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(file)
        self._store.execute("create table if not exists vector (key blob primary key, embedding blob) without rowid")

    async def start(self) -> None:
        await self._inner.start()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed("query", texts, self._inner.embed_queries)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed("passage", texts, self._inner.embed_passages)

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    async def close(self) -> None:
        self._store.close()
        await self._inner.close()

    async def _embed(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Vectors]]
    ) -> Vectors:
        keys = [blake2b(f"{self.model}\0{kind}\0{text}".encode(), digest_size=20).digest() for text in texts]
        found = {key: row for key in keys if (row := self._read(key)) is not None}
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in found}.items())
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            rows = await embed([text for _, text in batch])
            with self._store:
                self._store.executemany(
                    "insert or ignore into vector values (?, ?)",
                    [(key, row.tobytes()) for (key, _), row in zip(batch, rows, strict=True)],
                )
            found |= {key: row for (key, _), row in zip(batch, rows, strict=True)}
            await asyncio.sleep(0)
        if not keys:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack([found[key] for key in keys])

    def _read(self, key: bytes) -> Vectors | None:
        row = self._store.execute("select embedding from vector where key = ?", [key]).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)
