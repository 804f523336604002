"""The embedders of a process: the one that is wanted, and those whose vectors still answer."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from retrieval_sidecar.embeddings.base import Embedder
from retrieval_sidecar.errors import ConfigurationError


class Embedders:
    """Embedders by the name of their model.

    Attributes:
        preferred: what new organizations are embedded by, and what `reembed` moves the others to.
    """

    def __init__(self, preferred: Embedder, *others: Embedder) -> None:
        """Collect them. Raises ConfigurationError where two have one model."""
        self.preferred = preferred
        self._by_model = {embedder.model: embedder for embedder in (preferred, *others)}
        if len(self._by_model) <= len(others):
            raise ConfigurationError(
                f"ANSWERLINE_EMBEDDER and ANSWERLINE_PREVIOUS_EMBEDDER are both {preferred.model}: name two models,"
                " or only the first."
            )

    @classmethod
    def of(cls, embedders: "Embedder | Embedders") -> "Embedders":
        """One embedder is a collection too."""
        return embedders if isinstance(embedders, Embedders) else cls(embedders)

    @property
    def models(self) -> Sequence[str]:
        return list(self._by_model)

    def __iter__(self) -> Iterator[Embedder]:
        return iter(self._by_model.values())

    def get(self, model: str | None) -> Embedder | None:
        """The embedder of a model; None where that is not configured here."""
        return None if model is None else self._by_model.get(model)

    def require(self, model: str) -> None:
        """Hold that a model is configured. Raises ConfigurationError."""
        if model not in self._by_model:
            raise ConfigurationError(
                f"{model} is not configured here: a sidecar with these settings would search by words alone."
                f" Configured: {', '.join(self.models)}"
            )

    async def start(self) -> None:
        """Load all of them. Raises ConfigurationError where one cannot be."""
        await asyncio.gather(*(embedder.start() for embedder in self))

    async def close(self) -> None:
        await asyncio.gather(*(embedder.close() for embedder in self))


class CountsTokens(Protocol):
    """How long a passage may be.

    Attributes:
        max_tokens: in the tokens that `count_tokens` counts.
    """

    max_tokens: int

    def count_tokens(self, text: str) -> int:
        """The tokens of a passage, its prefix included."""


class StrictestLimit:
    """The limit of passages that several models share: a text is within it when it is within each model's own."""

    def __init__(self, embedders: Sequence[CountsTokens]) -> None:
        """Combine limits, at least one."""
        self._embedders = embedders
        self.max_tokens = min(embedder.max_tokens for embedder in embedders)

    def count_tokens(self, text: str) -> int:
        """Tokens of the model that the text fills most, in proportion to the smallest limit."""
        shares = (embedder.count_tokens(text) / embedder.max_tokens for embedder in self._embedders)
        return math.ceil(max(shares) * self.max_tokens)
