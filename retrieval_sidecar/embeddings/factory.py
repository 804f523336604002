"""From settings to the embedder that they name."""

from retrieval_sidecar.embeddings.base import Embedder
from retrieval_sidecar.embeddings.breaker import CircuitBreaker
from retrieval_sidecar.embeddings.cache import CachedEmbedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.embeddings.openai import OpenAIEmbedder
from retrieval_sidecar.embeddings.queue import QueuedEmbedder
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings

# The local engine has two threads; so many more are handed to it that none of them waits for the event loop. Texts
# go one by one: eight in one call take as long as eight calls (measured: 34 and 33 ms a question of 21 tokens).
_LOCAL_AT_ONCE = 4


def create_embedder(settings: Settings) -> Embedder:
    """Make the embedder, not started yet: the model, its queue and its cache.

    Raises ConfigurationError naming what is missing.
    """
    embedder = _queued(settings)
    return CachedEmbedder(embedder, settings.query_cache_size) if settings.query_cache_size > 0 else embedder


def _queued(settings: Settings) -> Embedder:
    waiting = settings.embedding_queue
    if settings.embedder == "local":
        return QueuedEmbedder(LocalEmbedder(), at_once=_LOCAL_AT_ONCE, together=1, waiting=waiting)
    if settings.embedder == "fake":
        return FakeEmbedder()
    guarded = CircuitBreaker(
        _openai(settings),
        failures=settings.embedding_failures,
        pause_s=settings.embedding_pause_s,
        patience_s=settings.embedding_timeout_s,
    )
    return QueuedEmbedder(
        guarded, at_once=settings.embedding_requests, together=settings.embedding_batch, waiting=waiting
    )


def _openai(settings: Settings) -> OpenAIEmbedder:
    if settings.embedding_api_key is None:
        raise ConfigurationError("Set ANSWERLINE_EMBEDDING_API_KEY for ANSWERLINE_EMBEDDER=openai.")
    return OpenAIEmbedder(
        settings.embedding_base_url,
        settings.embedding_api_key.get_secret_value(),
        settings.embedding_model,
        settings.embedding_dimensions,
    )
