"""Deterministic vectors for tests: texts that share words are near, nothing is learned and nothing is fetched."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from retrieval_sidecar.embeddings.base import Vectors, unit_rows
from retrieval_sidecar.text.normalize import words


class FakeEmbedder:
    """The sum of one random direction for each word, so that cosine is word overlap."""

    model = "fake-words"
    dimensions = 64
    max_tokens = 510

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
                seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
                rows[index] += np.random.default_rng(seed).standard_normal(self.dimensions, np.float32)
        return unit_rows(rows)
