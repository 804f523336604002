"""Vectors of questions are kept, embedded once for all who ask at the same time, and nobody's trouble is another's."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.cache import CachedEmbedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from tests.support.embedders import HeldEmbedder, settled


class CountingEmbedder(FakeEmbedder):
    def __init__(self) -> None:
        self.requests: list[list[str]] = []

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.requests.append(list(texts))
        return await super().embed_queries(texts)


@pytest.fixture
def counting() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def held() -> HeldEmbedder:
    return HeldEmbedder()


async def plain(*texts: str) -> Vectors:
    return await FakeEmbedder().embed_queries(texts)


async def test_a_question_asked_again_is_not_embedded_again(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    for _ in range(3):
        np.testing.assert_array_equal(await cached.embed_queries(["opening hours"]), await plain("opening hours"))
    assert counting.requests == [["opening hours"]]


async def test_questions_that_differ_in_invisible_ways_only_are_one(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    for text in ("opening hours", " opening\u200b  hours\n", "ｏｐｅｎｉｎｇ hours"):
        np.testing.assert_array_equal(await cached.embed_queries([text]), await plain("opening hours"))
    assert counting.requests == [["opening hours"]]


async def test_a_question_counts_by_model(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    await cached.embed_queries(["opening hours"])
    cached.model = "another"
    await cached.embed_queries(["opening hours"])
    assert len(counting.requests) == 2


async def test_of_several_questions_the_unknown_ones_go_in_one_request(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    await cached.embed_queries(["b"])
    rows = await cached.embed_queries(["a", "b", "c", "a"])
    np.testing.assert_array_equal(rows, await plain("a", "b", "c", "a"))
    assert counting.requests == [["b"], ["a", "c"]]


async def test_no_questions_are_no_rows(counting: CountingEmbedder) -> None:
    assert (await CachedEmbedder(counting, 10).embed_queries([])).shape == (0, counting.dimensions)
    assert counting.requests == []


async def test_the_question_longest_not_asked_makes_room(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cached.embed_queries([text])
    assert counting.requests == [["a"], ["b"], ["c"], ["b"]]


async def test_more_questions_at_once_than_are_kept_are_answered(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 2)
    await cached.embed_queries(["a"])
    rows = await cached.embed_queries(["a", "b", "c", "d"])
    np.testing.assert_array_equal(rows, await plain("a", "b", "c", "d"))


async def test_what_is_kept_cannot_be_changed_by_who_gets_it(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    for _ in range(2):
        rows = await cached.embed_queries(["opening hours"])
        np.testing.assert_array_equal(rows, await plain("opening hours"))
        rows[:] = 0


async def test_passages_are_not_kept(counting: CountingEmbedder) -> None:
    cached = CachedEmbedder(counting, 10)
    await cached.embed_passages(["opening hours"])
    await cached.embed_queries(["opening hours"])
    assert counting.requests == [["opening hours"]]


async def test_equal_questions_at_once_are_embedded_once(held: HeldEmbedder) -> None:
    cached = CachedEmbedder(held, 10)
    asking = [asyncio.create_task(cached.embed_queries([text])) for text in ("hours", " hours ", "hours")]
    await settled()
    held.answer(0)
    for rows in await asyncio.gather(*asking):
        np.testing.assert_array_equal(rows, await plain("hours"))
    assert held.requests == [["hours"]]


async def test_a_request_waits_for_what_is_under_way_and_asks_for_the_rest(held: HeldEmbedder) -> None:
    cached = CachedEmbedder(held, 10)
    first = asyncio.create_task(cached.embed_queries(["a", "b"]))
    await held.asked(1)
    second = asyncio.create_task(cached.embed_queries(["c", "b", "d"]))
    await held.asked(2)
    assert held.requests == [["a", "b"], ["c", "d"]]
    held.answer(1)
    await settled()
    assert not second.done()
    held.answer(0)
    np.testing.assert_array_equal(await second, await plain("c", "b", "d"))
    await first


@pytest.mark.parametrize("leaver", [0, 1])
async def test_one_who_leaves_does_not_stop_it_for_the_others(held: HeldEmbedder, leaver: int) -> None:
    cached = CachedEmbedder(held, 10)
    asking = [asyncio.create_task(cached.embed_queries(["hours"])) for _ in range(2)]
    await held.asked(1)
    asking[leaver].cancel()
    await settled()
    assert asking[leaver].cancelled()
    held.answer(0)
    np.testing.assert_array_equal(await asking[1 - leaver], await plain("hours"))
    assert held.stopped == []


async def test_the_last_who_leaves_stops_it_and_nothing_is_left_behind(held: HeldEmbedder) -> None:
    cached = CachedEmbedder(held, 10)
    asking = [asyncio.create_task(cached.embed_queries(["hours"])) for _ in range(2)]
    await held.asked(1)
    for task in asking:
        task.cancel()
    await settled()
    assert held.stopped == [["hours"]]
    again = asyncio.create_task(cached.embed_queries(["hours"]))
    await held.asked(2)
    held.answer(1)
    np.testing.assert_array_equal(await again, await plain("hours"))


class Reluctant(HeldEmbedder):
    """Takes its time to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.may_stop = asyncio.Event()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        try:
            return await super().embed_queries(texts)
        except asyncio.CancelledError:
            await self.may_stop.wait()
            raise


async def test_who_comes_while_it_is_being_stopped_is_not_stopped_with_it() -> None:
    reluctant = Reluctant()
    cached = CachedEmbedder(reluctant, 10)
    leaver = asyncio.create_task(cached.embed_queries(["hours"]))
    await reluctant.asked(1)
    leaver.cancel()
    await settled()
    comer = asyncio.create_task(cached.embed_queries(["hours"]))
    await reluctant.asked(2)
    reluctant.may_stop.set()
    await settled()
    # The first one's end takes nothing from those who join the second.
    joiner = asyncio.create_task(cached.embed_queries(["hours"]))
    await settled()
    assert len(reluctant.requests) == 2
    reluctant.answer(1)
    for task in (comer, joiner):
        np.testing.assert_array_equal(await task, await plain("hours"))


async def test_a_failure_is_everybodys_who_waited_and_nobodys_after(held: HeldEmbedder) -> None:
    cached = CachedEmbedder(held, 10)
    asking = [asyncio.create_task(cached.embed_queries(["hours"])) for _ in range(2)]
    await held.asked(1)
    held.fail(0)
    for task in asking:
        with pytest.raises(EmbedderUnavailable):
            await task
    again = asyncio.create_task(cached.embed_queries(["hours"]))
    await held.asked(2)
    held.answer(1)
    np.testing.assert_array_equal(await again, await plain("hours"))


async def test_who_waits_for_two_requests_and_loses_one_leaves_the_other(held: HeldEmbedder) -> None:
    cached = CachedEmbedder(held, 10)
    first = asyncio.create_task(cached.embed_queries(["a"]))
    await held.asked(1)
    second = asyncio.create_task(cached.embed_queries(["a", "b"]))
    await held.asked(2)
    held.fail(0)
    for task in (first, second):
        with pytest.raises(EmbedderUnavailable):
            await task
    await settled()
    assert held.stopped == [["b"]]
