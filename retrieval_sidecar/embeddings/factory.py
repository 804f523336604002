"""From settings to the embedder that they name."""

from retrieval_sidecar.embeddings.base import Embedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.embeddings.openai import OpenAIEmbedder
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings


def create_embedder(settings: Settings) -> Embedder:
    """Make the embedder, not started yet. Raises ConfigurationError naming what is missing."""
    if settings.embedder == "local":
        return LocalEmbedder()
    if settings.embedder == "fake":
        return FakeEmbedder()
    if settings.embedding_api_key is None:
        raise ConfigurationError("Set ANSWERLINE_EMBEDDING_API_KEY for ANSWERLINE_EMBEDDER=openai.")
    return OpenAIEmbedder(
        settings.embedding_base_url,
        settings.embedding_api_key.get_secret_value(),
        settings.embedding_model,
        settings.embedding_dimensions,
    )
