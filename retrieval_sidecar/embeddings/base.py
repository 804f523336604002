"""What an embedder is."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """A model that turns text into vectors. Queries and passages may be embedded differently.

    Attributes:
        model: the name recorded with every vector; vectors of two names are never compared.
        dimensions: the length of a vector.
        max_tokens: the longest text, in the model's own tokens, that one vector stands for undiluted.
    """

    model: str
    dimensions: int
    max_tokens: int

    async def start(self) -> None:
        """Load what is needed. Raises ConfigurationError where that cannot succeed."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, (len(texts), dimensions). Raises EmbedderUnavailable; may be cancelled."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, (len(texts), dimensions). Raises EmbedderUnavailable; may be cancelled."""

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens a passage of this text takes, its prefix included."""

    async def close(self) -> None:
        """Let go of threads and connections."""


class EmbedderWrapper:
    """Another embedder, to be changed in part by a subclass."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model, self.dimensions, self.max_tokens = inner.model, inner.dimensions, inner.max_tokens

    async def start(self) -> None:
        await self._inner.start()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._inner.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._inner.embed_passages(texts)

    def count_tokens(self, text: str) -> int:
        return self._inner.count_tokens(text)

    async def close(self) -> None:
        await self._inner.close()


def unit_rows(vectors: Vectors) -> Vectors:
    """Each row divided by its length; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled
