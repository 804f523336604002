"""Deterministic vectors for tests: texts that share words are near, nothing is learned and nothing is fetched."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from retrieval_sidecar.embeddings.base import Vectors, unit_rows
from retrieval_sidecar.text.normalize import words


class FakeEmbedder:
    """The sum of one random direction for each word, so that cosine is word overlap."""

    model: str = "fake-words"
    dimensions: int = 64
    max_tokens = 510

    def __init__(self, model: str | None = None, dimensions: int | None = None) -> None:
        """Make one; of another name and length of vectors, where they are given."""
        self.model = model or type(self).model
        self.dimensions = dimensions or type(self).dimensions

    async def start(self) -> None:
        return

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def count_tokens(self, text: str) -> int:
        return len(words(text)) + 4

    async def close(self) -> None:
        return

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for index, text in enumerate(texts):
            for word in words(text):
                rows[index] += _direction(word, self.dimensions)
        return unit_rows(rows)


@lru_cache(maxsize=100_000)
def _direction(word: str, dimensions: int) -> Vectors:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimensions, np.float32)
