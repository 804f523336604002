"""Too much to do, or an embedder that is down: refused at once or answered by words, and never left to wait."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from retrieval_sidecar.embeddings import create_embedder
from retrieval_sidecar.embeddings.queue import QueuedEmbedder
from retrieval_sidecar.settings import Settings
from tests.support.database import TestDatabase
from tests.support.embedders import HeldEmbedder
from tests.support.embedding_service import EmbeddingService, embedding_service
from tests.support.inspection import rows, running_statements, until
from tests.support.sidecar import Answer, Session, connected, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID

AT_ONCE_S = 0.7  # for two busy cores; far from the 3.5 s of a search without a deadline
FAILURES, PAUSE_S = 2, 0.3


async def ask(session: Session, query: str) -> Answer:
    path = f"{session.path}/tools/knowledge-search"
    return await session.client.post(path, session.identity | {"query": query})


async def assert_shed_at_once(session: Session, query: str) -> None:
    started = time.perf_counter()
    answer = await ask(session, query)
    assert (answer.status, answer.body["code"], answer.headers["Retry-After"]) == (503, "unavailable", "1")
    assert time.perf_counter() - started < AT_ONCE_S


@asynccontextmanager
async def stuck(database: TestDatabase) -> AsyncIterator[None]:
    """Searches do not get on."""
    async with connected(database, "owner") as connection, connection.transaction():
        await connection.execute("lock table passage_vector")
        yield


async def waiting_for_a_lock(database: TestDatabase) -> bool | None:
    return any("passage_vector" in statement for statement in await running_statements(database)) or None


async def test_with_all_connections_in_use_and_the_queue_full_a_search_is_refused_at_once(
    database: TestDatabase,
) -> None:
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, pool_size=1, pool_queue=1) as client:
        session = await client.open(OPEN_NUMBER)
        async with stuck(database):
            first = asyncio.create_task(ask(session, "parking garage"))
            await until(lambda: waiting_for_a_lock(database))
            second = asyncio.create_task(ask(session, "gift voucher"))
            # Of those that come now one may wait, whichever it is, and every other is refused.
            third = asyncio.create_task(ask(session, "card terminal"))
            (refused,), waiting = await asyncio.wait({second, third}, return_when=asyncio.FIRST_COMPLETED)
            assert (await refused).status == 503
            await assert_shed_at_once(session, "member lounge")
            # Overload is no reason to take it out of service: it would only be more for the others.
            assert (await client.get("/readyz")).status == 200
            assert not first.done()
        assert (await first).status == 200
        for each in waiting:
            assert (await each).status == 200
        assert (await ask(session, "member lounge")).status == 200


async def test_all_operations_are_shed_alike_and_liveness_is_not(database: TestDatabase) -> None:
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, pool_size=1, pool_queue=0) as client:
        session = await client.open(OPEN_NUMBER)
        async with stuck(database):
            first = asyncio.create_task(ask(session, "parking garage"))
            await until(lambda: waiting_for_a_lock(database))
            assert (await session.end()).status == 503
            assert (await client.get("/livez")).status == 200
        assert (await first).status == 200
        assert (await session.end()).status == 200


async def test_what_was_found_is_logged_though_requests_queue(database: TestDatabase) -> None:
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, pool_size=1, pool_queue=64) as client:
        session = await client.open(OPEN_NUMBER)
        answers = await asyncio.gather(*(ask(session, f"parking garage {number}") for number in range(20)))
    found = [answer for answer in answers if answer.status == 200]
    assert len(found) == 20
    assert await rows(database, "select count(*) from search_log") == [(20,)]


async def test_an_embedder_with_too_many_waiting_sheds_and_is_not_taken_for_broken(database: TestDatabase) -> None:
    held = HeldEmbedder()
    embedder = QueuedEmbedder(held, at_once=1, together=1, waiting=0)
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, embedder=embedder) as client:
        session = await client.open(OPEN_NUMBER)
        first = asyncio.create_task(ask(session, "parking garage"))
        await held.asked(1)
        await assert_shed_at_once(session, "gift voucher")
        assert (await client.get("/readyz")).status == 200
        held.answer(0)
        answer = await first
        assert (answer.body["status"], answer.body["degraded"]) == ("ok", False)


@pytest_asyncio.fixture
async def service() -> AsyncIterator[EmbeddingService]:
    async with embedding_service() as running:
        yield running


@pytest_asyncio.fixture
async def remote(database: TestDatabase, service: EmbeddingService) -> AsyncIterator[Session]:
    """A call at a sidecar whose embedder is a service, as its settings make it."""
    settings: dict[str, Any] = {
        "embedder": "openai",
        "embedding_base_url": service.url,
        "embedding_api_key": "key",
        "embedding_model": "fake-words",
        "embedding_dimensions": 64,
        "embedding_failures": FAILURES,
        "embedding_pause_s": PAUSE_S,
    }
    embedder = create_embedder(Settings.model_validate({"DATABASE_URL": database.url("owner")} | settings))
    # The service has the vectors that the fake embedder stored.
    await rows(database, "update embedding_space set model = %s", [embedder.model])
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID), embedder=embedder) as client:
        yield await client.open(OPEN_NUMBER)


async def test_a_question_of_several_callers_is_embedded_once_and_found_by_each(
    remote: Session, service: EmbeddingService
) -> None:
    answers = await asyncio.gather(*(remote.search(query) for query in ["parking garage", " parking  garage "] * 4))
    assert {answer["results"][0]["title"] for answer in answers} == {"Parking garage"}
    assert not any(answer["degraded"] for answer in answers)
    assert service.requests == [["parking garage"]]


async def test_what_is_cached_is_the_vector_and_not_what_was_found(
    remote: Session, service: EmbeddingService, database: TestDatabase
) -> None:
    assert (await remote.search("parking garage"))["results"][0]["title"] == "Parking garage"
    await rows(database, "update knowledge_item set status = 'draft' where title = 'Parking garage'")
    assert (await remote.search("parking garage"))["results"] == []
    assert service.requests == [["parking garage"]]


async def test_a_service_that_fails_again_and_again_is_left_alone_and_found_again(
    remote: Session, service: EmbeddingService
) -> None:
    service.status = 400
    for number in range(6):
        answer = await remote.search(f"parking in the garage {number}")
        assert (answer["status"], answer["degraded"]) == ("ok", True)
        assert answer["results"][0]["title"] == "Parking garage"
    assert len(service.requests) == FAILURES
    service.status = 200

    async def found_by_meaning() -> bool | None:
        return not (await remote.search("parking in the garage"))["degraded"] or None

    await until(found_by_meaning)
    assert len(service.requests) == FAILURES + 1


async def test_what_the_cache_knows_is_found_by_meaning_while_the_service_is_down(
    remote: Session, service: EmbeddingService
) -> None:
    assert not (await remote.search("parking garage"))["degraded"]
    service.status = 400
    assert not (await remote.search("parking garage"))["degraded"]
    assert (await remote.search("garage parking"))["degraded"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_fault_of_the_service_is_tried_again_unseen(
    remote: Session, service: EmbeddingService, status: int
) -> None:
    service.status = status
    searching = asyncio.create_task(remote.search("parking garage"))
    await until(lambda: _requests(service))
    service.status = 200
    assert not (await searching)["degraded"]
    assert service.requests == [["parking garage"]] * 2


async def _requests(service: EmbeddingService) -> int:
    await asyncio.sleep(0)
    return len(service.requests)
