"""From settings to an embedder with its queue and its cache."""

from typing import Any

import pytest

from retrieval_sidecar.embeddings import Embedder, create_embedder
from retrieval_sidecar.embeddings.cache import CachedEmbedder
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings


def made(**settings: Any) -> Embedder:
    return create_embedder(Settings.model_validate({"DATABASE_URL": "postgresql://db.example/answerline"} | settings))


@pytest.mark.parametrize(
    ("settings", "model", "dimensions"),
    [
        ({"embedder": "local"}, "multilingual-e5-small-q4", 384),
        ({"embedder": "fake"}, "fake-words", 64),
        (
            {
                "embedder": "openai",
                "embedding_api_key": "key",
                "embedding_model": "some-model",
                "embedding_dimensions": 12,
            },
            "some-model@12",
            12,
        ),
    ],
)
def test_whatever_is_around_it_it_is_the_model_that_is_named(
    settings: dict[str, Any], model: str, dimensions: int
) -> None:
    for size in (0, 1):
        embedder = made(**settings, query_cache_size=size)
        assert (embedder.model, embedder.dimensions) == (model, dimensions)
        assert isinstance(embedder, CachedEmbedder) is (size > 0)


def test_a_service_without_a_key_is_refused_by_the_variable_s_name() -> None:
    with pytest.raises(ConfigurationError, match="ANSWERLINE_EMBEDDING_API_KEY"):
        made(embedder="openai")
