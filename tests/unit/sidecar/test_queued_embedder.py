"""Requests to an embedder: so many at once, the rest together, none beyond what can wait."""

import asyncio

import numpy as np
import pytest

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.queue import QueuedEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable, Unavailable
from tests.support.embedders import HeldEmbedder, settled


@pytest.fixture
def held() -> HeldEmbedder:
    return HeldEmbedder()


def queued(held: HeldEmbedder, *, at_once: int = 1, together: int = 8, waiting: int = 8) -> QueuedEmbedder:
    return QueuedEmbedder(held, at_once=at_once, together=together, waiting=waiting)


async def plain(*texts: str) -> Vectors:
    return await FakeEmbedder().embed_queries(texts)


async def asking(embedder: QueuedEmbedder, *questions: str | list[str]) -> list[asyncio.Task[Vectors]]:
    """Callers who ask one after the other, and wait."""
    tasks = []
    for texts in questions:
        tasks.append(asyncio.create_task(embedder.embed_queries([texts] if isinstance(texts, str) else texts)))
        await settled()
    return tasks


async def test_while_there_is_room_each_goes_at_once(held: HeldEmbedder) -> None:
    tasks = await asking(queued(held, at_once=3), "a", "b", "c")
    assert held.requests == [["a"], ["b"], ["c"]]
    for request in (2, 0, 1):
        held.answer(request)
    for task, text in zip(tasks, "abc", strict=True):
        np.testing.assert_array_equal(await task, await plain(text))


async def test_those_who_wait_go_together_and_each_gets_what_is_its_own(held: HeldEmbedder) -> None:
    tasks = await asking(queued(held), "a", "b", ["c", "d"], "e")
    assert held.requests == [["a"]]
    held.answer(0)
    await held.asked(2)
    assert held.requests[1] == ["b", "c", "d", "e"]
    held.answer(1)
    for task, texts in zip(tasks, ("a", "b", "cd", "e"), strict=True):
        np.testing.assert_array_equal(await task, await plain(*texts))


async def test_a_request_holds_so_many_texts_and_a_caller_s_own_stay_together(held: HeldEmbedder) -> None:
    tasks = await asking(queued(held, together=3), "a", "b", "c", ["d", "e"], ["f", "g", "h", "i"], "j")
    for request in range(5):
        await held.asked(request + 1)
        held.answer(request)
    await asyncio.gather(*tasks)
    assert held.requests == [["a"], ["b", "c"], ["d", "e"], ["f", "g", "h", "i"], ["j"]]


async def test_no_texts_are_no_request(held: HeldEmbedder) -> None:
    assert (await queued(held).embed_queries([])).shape == (0, held.dimensions)
    assert held.requests == []


async def test_one_who_leaves_takes_nobody_along(held: HeldEmbedder) -> None:
    _, leaver, stayer = tasks = await asking(queued(held), "a", "b", "c")
    held.answer(0)
    await held.asked(2)
    leaver.cancel()
    await settled()
    assert leaver.cancelled()
    held.answer(1)
    np.testing.assert_array_equal(await stayer, await plain("c"))
    assert held.stopped == []
    await tasks[0]


async def test_a_request_that_everybody_left_is_stopped_and_its_place_is_free(held: HeldEmbedder) -> None:
    leaver, waiting = await asking(queued(held), "a", "b")
    leaver.cancel()
    await held.asked(2)
    assert held.stopped == [["a"]]
    held.answer(1)
    np.testing.assert_array_equal(await waiting, await plain("b"))


async def test_a_waiting_request_that_everybody_left_is_never_sent(held: HeldEmbedder) -> None:
    embedder = queued(held)
    first, leaver = await asking(embedder, "a", "b")
    leaver.cancel()
    comer = asyncio.create_task(embedder.embed_queries(["c"]))
    await settled()
    held.answer(0)
    await held.asked(2)
    held.answer(1)
    np.testing.assert_array_equal(await comer, await plain("c"))
    assert held.requests == [["a"], ["c"]]
    await first


async def test_more_than_can_wait_are_turned_away_at_once_and_no_one_else(held: HeldEmbedder) -> None:
    embedder = queued(held, together=1, waiting=2)
    tasks = await asking(embedder, "a", "b", "c")
    for _ in range(2):
        with pytest.raises(Unavailable) as refused:
            await embedder.embed_queries(["d"])
        # Not as if the embedder were down: the search is refused, not made by words.
        assert not isinstance(refused.value, EmbedderUnavailable)
    for request in range(3):
        await held.asked(request + 1)
        held.answer(request)
    await asyncio.gather(*tasks)
    (late,) = await asking(embedder, "d")
    held.answer(3)
    np.testing.assert_array_equal(await late, await plain("d"))


async def test_a_failure_is_of_one_request_and_the_next_goes_on(held: HeldEmbedder) -> None:
    embedder = queued(held)
    first, *together = await asking(embedder, "a", "b", "c")
    held.answer(0)
    await held.asked(2)
    (last,) = await asking(embedder, "d")
    held.fail(1)
    for task in together:
        with pytest.raises(EmbedderUnavailable):
            await task
    await held.asked(3)
    held.answer(2)
    np.testing.assert_array_equal(await last, await plain("d"))
    await first


async def test_passages_do_not_queue_with_questions(held: HeldEmbedder) -> None:
    embedder = queued(held)
    (question,) = await asking(embedder, "a")
    np.testing.assert_array_equal(await embedder.embed_passages(["b"]), await FakeEmbedder().embed_passages(["b"]))
    held.answer(0)
    await question
