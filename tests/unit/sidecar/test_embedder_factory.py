"""From settings to an embedder with its queue and its cache."""

from typing import Any

import pytest

from retrieval_sidecar.embeddings import Embedder, Embedders, create_embedder, create_embedders
from retrieval_sidecar.embeddings.cache import CachedEmbedder
from retrieval_sidecar.embeddings.collection import StrictestLimit
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


def several(**settings: Any) -> Embedders:
    return create_embedders(Settings.model_validate({"DATABASE_URL": "postgresql://db.example/answerline"} | settings))


def test_without_a_previous_embedder_there_is_one() -> None:
    embedders = several(embedder="fake")
    assert embedders.models == ["fake-words"]
    assert embedders.get("fake-words") is embedders.preferred
    assert embedders.get(None) is embedders.get("another") is None


def test_the_previous_embedder_has_settings_of_its_own_and_is_not_preferred() -> None:
    remote = {"embedding_api_key": "key", "embedding_model": "m", "embedding_dimensions": 12}
    previous = {f"previous_{name}": value for name, value in remote.items()}
    embedders = several(embedder="local", previous_embedder="openai", **previous)
    assert (embedders.preferred.model, embedders.models) == (
        "multilingual-e5-small-q4",
        [embedders.preferred.model, "m@12"],
    )
    # One model of two lengths is two models.
    same_name = several(
        embedder="openai", previous_embedder="openai", **remote, **previous | {"previous_embedding_dimensions": 24}
    )
    assert same_name.models == ["m@12", "m@24"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"embedder": "fake", "previous_embedder": "fake"}, "both fake-words"),
        ({"embedder": "fake", "previous_embedder": "openai"}, "Set ANSWERLINE_PREVIOUS_EMBEDDING_API_KEY"),
    ],
)
def test_two_of_one_model_or_a_previous_one_without_its_key_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        several(**settings)


class Limited:
    """Counts so many tokens for each word."""

    def __init__(self, tokens_a_word: int, max_tokens: int) -> None:
        self.tokens_a_word, self.max_tokens = tokens_a_word, max_tokens

    def count_tokens(self, text: str) -> int:
        return self.tokens_a_word * len(text.split())


def test_the_strictest_limit_is_kept_exactly_by_texts_that_each_model_takes() -> None:
    for one, other in [
        (Limited(1, 10), Limited(3, 21)),
        (Limited(3, 21), Limited(1, 10)),
        (Limited(1, 7), Limited(1, 7)),
    ]:
        both = StrictestLimit([one, other])
        for count in range(15):
            text = "word " * count
            fits = all(each.count_tokens(text) <= each.max_tokens for each in (one, other))
            assert (both.count_tokens(text) <= both.max_tokens) is fits
