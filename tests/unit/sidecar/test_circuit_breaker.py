"""The circuit breaker of a remote embedder, on a clock that the test moves."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from structlog.testing import capture_logs

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.breaker import CircuitBreaker
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from tests.support.embedders import HeldEmbedder, settled

FAILURES, PAUSE_S = 3, 10.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Service(FakeEmbedder):
    """Up or down, as told; counts what it is asked."""

    def __init__(self) -> None:
        self.is_up = True
        self.requests = 0

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.requests += 1
        if not self.is_up:
            raise EmbedderUnavailable("The embedding service does not answer.")
        return await super().embed_queries(texts)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def breaker(service: Service, clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(service, failures=FAILURES, pause_s=PAUSE_S, patience_s=60, clock=clock)


async def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(EmbedderUnavailable):
            await breaker.embed_queries(["hours"])


async def open_circuit(breaker: CircuitBreaker, service: Service) -> None:
    service.is_up = False
    await fail(breaker, FAILURES)
    service.requests = 0


async def test_a_service_that_is_up_is_passed_through(breaker: CircuitBreaker) -> None:
    expected = await FakeEmbedder().embed_queries(["hours"])
    np.testing.assert_array_equal(await breaker.embed_queries(["hours"]), expected)


async def test_failures_in_a_row_open_it_and_nothing_is_asked_during_the_pause(
    breaker: CircuitBreaker, service: Service, clock: Clock
) -> None:
    service.is_up = False
    await fail(breaker, FAILURES)
    assert service.requests == FAILURES
    await fail(breaker, 5)
    clock.now += PAUSE_S - 0.1
    await fail(breaker, 5)
    assert service.requests == FAILURES


async def test_failures_that_are_not_in_a_row_do_not_open_it(breaker: CircuitBreaker, service: Service) -> None:
    for _ in range(4):
        service.is_up = False
        await fail(breaker, FAILURES - 1)
        service.is_up = True
        await breaker.embed_queries(["hours"])
    assert service.requests == 4 * FAILURES


async def test_a_trial_that_succeeds_closes_it(breaker: CircuitBreaker, service: Service, clock: Clock) -> None:
    await open_circuit(breaker, service)
    clock.now += PAUSE_S
    service.is_up = True
    for _ in range(3):
        await breaker.embed_queries(["hours"])
    assert service.requests == 3
    # As new: it takes all the failures again to open it.
    service.is_up = False
    await fail(breaker, FAILURES - 1)
    service.is_up = True
    await breaker.embed_queries(["hours"])


async def test_a_trial_that_fails_begins_another_whole_pause(
    breaker: CircuitBreaker, service: Service, clock: Clock
) -> None:
    await open_circuit(breaker, service)
    for trial in range(1, 4):
        clock.now += PAUSE_S
        await fail(breaker, 4)
        assert service.requests == trial


def held_breaker(held: HeldEmbedder, clock: Clock, *, patience_s: float = 60) -> CircuitBreaker:
    return CircuitBreaker(held, failures=1, pause_s=PAUSE_S, patience_s=patience_s, clock=clock)


async def failed_once(held: HeldEmbedder, breaker: CircuitBreaker) -> None:
    asking = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(1)
    held.fail(0)
    with pytest.raises(EmbedderUnavailable):
        await asking


async def test_during_a_trial_the_others_are_still_refused(clock: Clock) -> None:
    held = HeldEmbedder()
    breaker = held_breaker(held, clock)
    await failed_once(held, breaker)
    clock.now += PAUSE_S
    trial = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(2)
    await fail(breaker, 2)
    held.answer(1)
    await trial
    assert len(held.requests) == 2


async def test_a_trial_whose_caller_leaves_is_followed_by_another(clock: Clock) -> None:
    held = HeldEmbedder()
    breaker = held_breaker(held, clock)
    await failed_once(held, breaker)
    clock.now += PAUSE_S
    leaver = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(2)
    leaver.cancel()
    await settled()
    trial = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(3)
    held.answer(2)
    await trial


async def test_a_caller_who_leaves_is_no_failure(clock: Clock) -> None:
    held = HeldEmbedder()
    breaker = held_breaker(held, clock)
    for request in range(1, 4):
        leaver = asyncio.create_task(breaker.embed_queries(["hours"]))
        await held.asked(request)
        leaver.cancel()
        await settled()


async def leave_after(held: HeldEmbedder, breaker: CircuitBreaker, clock: Clock, seconds: float) -> None:
    """Ask, and be gone so long after."""
    count = len(held.requests) + 1
    leaver = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(count)
    clock.now += seconds
    leaver.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaver


async def test_a_service_that_keeps_callers_waiting_until_they_leave_has_failed_them(clock: Clock) -> None:
    # With deadlines that are all shorter than the patience nothing else would ever open the circuit.
    held = HeldEmbedder()
    breaker = held_breaker(held, clock, patience_s=2.0)
    await leave_after(held, breaker, clock, 0.49)
    await leave_after(held, breaker, clock, 0.5)
    with pytest.raises(EmbedderUnavailable, match="left alone"):
        await breaker.embed_queries(["hours"])
    clock.now += PAUSE_S
    await leave_after(held, breaker, clock, 0.5)
    with pytest.raises(EmbedderUnavailable, match="left alone"):
        await breaker.embed_queries(["hours"])
    assert len(held.requests) == 3


async def test_an_answer_that_is_too_late_is_a_failure(clock: Clock) -> None:
    held = HeldEmbedder()
    breaker = held_breaker(held, clock, patience_s=0.001)
    await fail(breaker, 2)
    assert held.requests == held.stopped == [["hours"]]


async def test_what_was_under_way_when_it_opened_does_not_prolong_the_pause(clock: Clock) -> None:
    held = HeldEmbedder()
    breaker = held_breaker(held, clock)
    straggler = asyncio.create_task(breaker.embed_queries(["late"]))
    await held.asked(1)
    opener = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(2)
    for request, task in ((1, opener), (0, straggler)):
        held.fail(request)
        with pytest.raises(EmbedderUnavailable):
            await task
        clock.now += PAUSE_S / 2
    trial = asyncio.create_task(breaker.embed_queries(["hours"]))
    await held.asked(3)
    held.answer(2)
    await trial


async def test_passages_pass_whatever_questions_do(breaker: CircuitBreaker, service: Service) -> None:
    await open_circuit(breaker, service)
    expected = await FakeEmbedder().embed_passages(["hours"])
    np.testing.assert_array_equal(await breaker.embed_passages(["hours"]), expected)


async def test_each_change_of_state_is_one_line_of_the_log(
    breaker: CircuitBreaker, service: Service, clock: Clock
) -> None:
    with capture_logs() as logs:
        await open_circuit(breaker, service)
        await fail(breaker, 3)
        clock.now += PAUSE_S
        service.is_up = True
        await breaker.embed_queries(["hours"])
        await breaker.embed_queries(["hours"])
    assert [entry["event"] for entry in logs] == [
        "embedding circuit open",
        "embedding circuit half-open",
        "embedding circuit closed",
    ]
    assert (logs[0]["failures"], logs[0]["pause_s"]) == (FAILURES, PAUSE_S)
    assert "hours" not in str(logs)
