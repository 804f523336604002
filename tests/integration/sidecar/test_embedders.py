"""One suite for every embedder, and what becomes of an endpoint's faults."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from aiohttp import web

from retrieval_sidecar.embeddings import Embedder, Vectors, create_embedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.embeddings.openai import OpenAIEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.settings import Settings

KEY = "sentinel-key"
TEXTS = [
    "Parking costs three euros.",
    "Парковка стоит три евро.",
    "موقف السيارات بثلاثة يورو.",
    "停车三欧元",
    "👨‍👩‍👧‍👦",
    "44",
]
Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Endpoint:
    """A server that speaks OpenAI's wire format, backed by the fake embedder; each of `replies` goes before that."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        if self.replies:
            return await self.replies.pop(0)(request)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
        rows = await FakeEmbedder().embed_passages(self.requests[-1]["input"])
        return web.json_response(answer(rows))

    async def hang(self, _request: web.Request) -> web.StreamResponse:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.left.set()
        raise AssertionError("nobody answers")


def answer(rows: Vectors) -> dict[str, Any]:
    """Longer than unit length and last first, as the format allows."""
    data = [{"object": "embedding", "index": index, "embedding": (3 * row).tolist()} for index, row in enumerate(rows)]
    return {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def replying(body: Any, status: int = 200, content_type: str = "application/json") -> Reply:
    text = body if isinstance(body, str) else json.dumps(body)

    async def reply(_request: web.Request) -> web.Response:
        return web.Response(text=text, status=status, content_type=content_type)

    return reply


@asynccontextmanager
async def running_endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/embeddings", endpoint.embeddings)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


@asynccontextmanager
async def started(embedder: Embedder) -> AsyncIterator[Embedder]:
    await embedder.start()
    try:
        yield embedder
    finally:
        await embedder.close()


def as_set(**settings: Any) -> Embedder:
    """An embedder with the queue, the breaker and the cache that the sidecar puts around it."""
    return create_embedder(Settings.model_validate({"DATABASE_URL": "postgresql://db.example/answerline"} | settings))


@pytest_asyncio.fixture(scope="module", params=["fake", "local", "openai", "local as set", "openai as set"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    async with running_endpoint() as endpoint:
        made: dict[str, Callable[[], Embedder]] = {
            "fake": FakeEmbedder,
            "local": LocalEmbedder,
            "openai": lambda: OpenAIEmbedder(endpoint.url, KEY, "m", FakeEmbedder.dimensions),
            "local as set": lambda: as_set(embedder="local"),
            "openai as set": lambda: as_set(
                embedder="openai",
                embedding_base_url=endpoint.url,
                embedding_api_key=KEY,
                embedding_model="m",
                embedding_dimensions=FakeEmbedder.dimensions,
            ),
        }
        async with started(made[request.param]()) as ready:
            yield ready


def embeddings(embedder: Embedder) -> list[Callable[[Sequence[str]], Awaitable[Vectors]]]:
    return [embedder.embed_queries, embedder.embed_passages]


async def test_a_batch_is_one_row_of_unit_length_for_each_text(embedder: Embedder) -> None:
    for embed in embeddings(embedder):
        rows = await embed(TEXTS[:4])
        assert rows.shape == (4, embedder.dimensions)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)


async def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    for embed in embeddings(embedder):
        assert (await embed([])).shape == (0, embedder.dimensions)


async def test_each_row_is_its_own_texts_whatever_stands_beside_it(embedder: Embedder) -> None:
    for embed in embeddings(embedder):
        alone = np.concatenate([await embed([text]) for text in TEXTS])
        np.testing.assert_allclose(await embed(TEXTS), alone, atol=1e-5)
        np.testing.assert_allclose(await embed(TEXTS[::-1]), alone[::-1], atol=1e-5)


async def test_the_same_text_has_the_same_vector_each_time_also_at_once(embedder: Embedder) -> None:
    first, *others = await asyncio.gather(*(embedder.embed_queries(TEXTS[:2]) for _ in range(6)))
    for other in others:
        np.testing.assert_array_equal(other, first)


async def test_a_question_is_nearer_to_its_passage_than_to_another(embedder: Embedder) -> None:
    (question,) = await embedder.embed_queries(["what costs parking"])
    near, far = await embedder.embed_passages(["Parking costs three euros.", "The tortoise sleeps in winter."])
    assert question @ near > question @ far


async def test_odd_texts_have_vectors_too(embedder: Embedder) -> None:
    odd = ["", " ", "\x00", "\u200b", "🏳️‍🌈" * 10, "word " * 520, "a" * 200]
    for embed in embeddings(embedder):
        rows = await embed(odd)
        assert np.isfinite(rows).all()
        assert (np.linalg.norm(rows, axis=1) <= 1 + 1e-4).all()


async def test_work_can_be_cancelled_and_the_next_is_done(embedder: Embedder) -> None:
    task = asyncio.create_task(embedder.embed_passages(["word " * 100] * 40))
    await embedder.embed_queries(["meanwhile"])
    task.cancel()
    await asyncio.wait([task], timeout=1)
    assert task.done()
    assert (await embedder.embed_queries(["after"])).shape == (1, embedder.dimensions)


async def test_tokens_are_counted_up_with_the_text(embedder: Embedder) -> None:
    counts = [embedder.count_tokens("parking costs three euros " * times) for times in (1, 2, 4, 8)]
    assert counts == sorted(set(counts))
    assert 0 < counts[0] < embedder.max_tokens


def test_a_model_has_a_name_and_vectors_that_can_be_stored(embedder: Embedder) -> None:
    assert embedder.model
    assert 1 <= embedder.dimensions <= 4000


def test_the_fake_one_costs_nothing_to_start_and_the_others_say_when_they_are_not() -> None:
    async def embed(embedder: Embedder) -> Vectors:
        return await embedder.embed_queries(["text"])

    assert asyncio.run(embed(FakeEmbedder())).shape == (1, FakeEmbedder.dimensions)
    for other in (LocalEmbedder(), OpenAIEmbedder("http://127.0.0.1:9/v1", KEY, "m", 64)):
        with pytest.raises(EmbedderUnavailable):
            asyncio.run(embed(other))


async def test_the_local_model_tells_questions_from_passages() -> None:
    async with started(LocalEmbedder()) as local:
        (question,), (passage,) = await local.embed_queries(["parking"]), await local.embed_passages(["parking"])
    assert question @ passage < 0.999


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as endpoint:
        yield endpoint


@pytest_asyncio.fixture
async def remote(endpoint: Endpoint) -> AsyncIterator[Embedder]:
    async with started(OpenAIEmbedder(f"{endpoint.url}/", KEY, "m", FakeEmbedder.dimensions)) as embedder:
        yield embedder


async def test_an_endpoint_is_asked_for_model_texts_and_dimensions(endpoint: Endpoint, remote: Embedder) -> None:
    rows = await remote.embed_passages(TEXTS[:2])
    np.testing.assert_allclose(rows, await FakeEmbedder().embed_passages(TEXTS[:2]), atol=1e-5)
    assert endpoint.requests == [{"model": "m", "input": TEXTS[:2], "dimensions": 64}]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
async def test_a_passing_fault_is_tried_again(endpoint: Endpoint, remote: Embedder, status: int) -> None:
    endpoint.replies = [replying({"error": {}}, status)] * 2
    assert (await remote.embed_queries(["text"])).shape == (1, 64)
    assert len(endpoint.requests) == 3


async def test_a_fault_that_stays_is_unavailable_after_three_tries(endpoint: Endpoint, remote: Embedder) -> None:
    endpoint.replies = [replying("upstream down", 503, "text/plain")] * 5
    with pytest.raises(EmbedderUnavailable):
        await remote.embed_queries(["text"])
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_refusal_is_unavailable_at_once_and_repeats_nothing(
    endpoint: Endpoint, remote: Embedder, status: int
) -> None:
    endpoint.replies = [replying({"error": {"message": f"text {KEY}"}}, status)]
    with pytest.raises(EmbedderUnavailable, match=str(status)) as raised:
        await remote.embed_queries(["text"])
    assert len(endpoint.requests) == 1
    assert KEY not in str(raised.value)


async def test_a_wrong_key_is_unavailable(endpoint: Endpoint) -> None:
    async with started(OpenAIEmbedder(endpoint.url, "wrong-key", "m", 64)) as embedder:
        with pytest.raises(EmbedderUnavailable, match="401") as raised:
            await embedder.embed_queries(["text"])
    assert "wrong-key" not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("{", id="cut short"),
        pytest.param("", id="empty"),
        pytest.param("<html></html>", id="HTML"),
        pytest.param("[]", id="list"),
        pytest.param("null", id="null"),
        pytest.param({}, id="no data"),
        pytest.param({"data": None}, id="data is null"),
        pytest.param({"data": [{"embedding": [1.0] * 64}]}, id="no index"),
        pytest.param({"data": [{"index": 0}]}, id="no embedding"),
        pytest.param({"data": [{"index": 0, "embedding": "AAAA"}]}, id="base64"),
        pytest.param({"data": [{"index": 0, "embedding": ["a"] * 64}]}, id="texts"),
        pytest.param({"data": [{"index": 0, "embedding": [1.0] * 63}]}, id="too short a vector"),
        pytest.param({"data": [{"index": 0, "embedding": [1.0] * 1536}]}, id="too long a vector"),
        pytest.param({"data": []}, id="too few vectors"),
        pytest.param({"data": [{"index": n, "embedding": [1.0] * 64} for n in range(2)]}, id="too many vectors"),
        pytest.param({"data": [{"index": 0, "embedding": [float("nan")] * 64}]}, id="NaN"),
        pytest.param({"data": [{"index": 0, "embedding": [1e39] * 64}]}, id="infinite once it is a float32"),
        pytest.param({"data": [{"index": 0, "embedding": [[1.0] * 64]}]}, id="nested"),
    ],
)
async def test_another_answer_than_asked_for_is_unavailable(endpoint: Endpoint, remote: Embedder, body: Any) -> None:
    endpoint.replies = [replying(body)] * 3
    with pytest.raises(EmbedderUnavailable):
        await remote.embed_queries(["text"])


async def test_another_dimension_says_which_setting_to_check(endpoint: Endpoint, remote: Embedder) -> None:
    endpoint.replies = [replying({"data": [{"index": 0, "embedding": [1.0] * 3}]})]
    with pytest.raises(EmbedderUnavailable, match="ANSWERLINE_EMBEDDING_DIMENSIONS"):
        await remote.embed_queries(["text"])


async def test_json_of_another_content_type_is_tried_again_as_a_proxys(endpoint: Endpoint, remote: Embedder) -> None:
    endpoint.replies = [replying("{}", content_type="text/html")]
    assert (await remote.embed_queries(["text"])).shape == (1, 64)


async def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    async with started(OpenAIEmbedder("http://127.0.0.1:9/v1", KEY, "m", 64)) as embedder:
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_queries(["text"])


async def test_a_deadline_ends_the_request_and_the_tries(endpoint: Endpoint, remote: Embedder) -> None:
    endpoint.replies = [endpoint.hang]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await remote.embed_queries(["text"])
    async with asyncio.timeout(10):
        await endpoint.left.wait()
    assert len(endpoint.requests) == 1
