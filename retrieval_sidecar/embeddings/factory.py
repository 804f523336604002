"""From settings to the embedders that they name."""

from retrieval_sidecar.embeddings.base import Embedder
from retrieval_sidecar.embeddings.breaker import CircuitBreaker
from retrieval_sidecar.embeddings.cache import CachedEmbedder
from retrieval_sidecar.embeddings.collection import Embedders
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.embeddings.openai import OpenAIEmbedder
from retrieval_sidecar.embeddings.queue import QueuedEmbedder
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import EmbedderChoice, Settings

# The local engine has two threads; so many more are handed to it that none of them waits for the event loop. Texts
# go one by one: eight in one call take as long as eight calls (measured: 34 and 33 ms a question of 21 tokens).
_LOCAL_AT_ONCE = 4


def create_embedders(settings: Settings) -> Embedders:
    """Make the embedder, and the previous one where that is set; not started yet, each with its queue and its cache.

    Raises ConfigurationError naming what is missing.
    """
    previous = settings.previous_embedder_choice
    others = [] if previous is None else [_cached(previous, settings)]
    return Embedders(create_embedder(settings), *others)


def create_embedder(settings: Settings) -> Embedder:
    """Make the embedder, without the previous one. Raises ConfigurationError naming what is missing."""
    return _cached(settings.embedder_choice, settings)


def _cached(choice: EmbedderChoice, settings: Settings) -> Embedder:
    embedder = _queued(choice, settings)
    return CachedEmbedder(embedder, settings.query_cache_size) if settings.query_cache_size > 0 else embedder


def _queued(choice: EmbedderChoice, settings: Settings) -> Embedder:
    waiting = settings.embedding_queue
    if choice.embedder == "local":
        return QueuedEmbedder(LocalEmbedder(), at_once=_LOCAL_AT_ONCE, together=1, waiting=waiting)
    if choice.embedder == "fake":
        return FakeEmbedder()
    guarded = CircuitBreaker(
        _openai(choice),
        failures=settings.embedding_failures,
        pause_s=settings.embedding_pause_s,
        patience_s=settings.embedding_timeout_s,
    )
    return QueuedEmbedder(
        guarded, at_once=settings.embedding_requests, together=settings.embedding_batch, waiting=waiting
    )


def _openai(choice: EmbedderChoice) -> OpenAIEmbedder:
    if choice.api_key is None:
        raise ConfigurationError(f"Set {choice.prefix}EMBEDDING_API_KEY for {choice.prefix}EMBEDDER=openai.")
    return OpenAIEmbedder(
        choice.base_url,
        choice.api_key.get_secret_value(),
        choice.model,
        choice.dimensions,
    )
