"""Any endpoint that speaks OpenAI's embeddings API."""

from collections.abc import Sequence
from typing import Any

import aiohttp
import numpy as np
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from retrieval_sidecar.embeddings.base import Vectors, unit_rows
from retrieval_sidecar.errors import EmbedderUnavailable

_TIMEOUT = aiohttp.ClientTimeout(total=30, connect=2)
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


class _Transient(Exception):
    """Worth another try; never leaves this module."""


class OpenAIEmbedder:
    """POST {base_url}/embeddings. The caller's deadline bounds the retries, by cancelling them.

    One model can be asked for vectors of several lengths, which cannot be compared: the name recorded with the vectors
    is that of both, such as `text-embedding-3-small@1536`.
    """

    max_tokens = 8000

    def __init__(self, base_url: str, api_key: str, model: str, dimensions: int) -> None:
        self.model = f"{model}@{dimensions}"
        self._requested = model
        self.dimensions = dimensions
        self._url = base_url.rstrip("/") + "/embeddings"
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT, headers=self._headers)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts)

    def count_tokens(self, text: str) -> int:
        # A token of the o200k vocabulary is at least one byte, and four of them on average in English.
        return len(text.encode()) // 2

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        try:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(_Transient),
                stop=stop_after_attempt(3),
                wait=wait_random_exponential(multiplier=0.1, max=1.0),
                reraise=True,
            ):
                with attempt:
                    return self._rows(await self._post(texts), len(texts))
        except _Transient as error:
            raise EmbedderUnavailable("The embedding service does not answer.") from error
        raise AssertionError("unreachable: tenacity returns or raises")

    async def _post(self, texts: Sequence[str]) -> Any:
        if self._session is None:
            raise EmbedderUnavailable("The embedder is not started yet.")
        body = {"model": self._requested, "input": list(texts), "dimensions": self.dimensions}
        try:
            async with self._session.post(self._url, json=body) as response:
                if response.status in _RETRIED:
                    raise _Transient(f"HTTP {response.status}")
                if response.status != 200:
                    raise EmbedderUnavailable(f"The embedding service refused the request with HTTP {response.status}.")
                return await response.json()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _Transient(type(error).__name__) from error
        except ValueError as error:
            raise EmbedderUnavailable("The embedding service answered in another format.") from error

    def _rows(self, answer: Any, count: int) -> Vectors:
        try:
            entries = sorted(answer["data"], key=lambda entry: entry["index"])
            with np.errstate(over="ignore"):  # infinite ones are refused below
                rows = np.array([entry["embedding"] for entry in entries], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderUnavailable("The embedding service answered in another format.") from error
        if rows.shape != (count, self.dimensions) or not np.isfinite(rows).all():
            raise EmbedderUnavailable(
                f"The embedding service gave vectors of shape {rows.shape},"
                f" not {(count, self.dimensions)}: check ANSWERLINE_EMBEDDING_DIMENSIONS."
            )
        return unit_rows(rows)
