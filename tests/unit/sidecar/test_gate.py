"""The gate: who goes on, who waits, who is turned away."""

import asyncio

import pytest

from retrieval_sidecar.errors import Unavailable
from retrieval_sidecar.gate import Gate

LONG_S = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Guest:
    """Passes a gate and stays until it is let go."""

    def __init__(self, gate: Gate, patience_s: float = LONG_S) -> None:
        self.inside, self._leave = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._pass(gate, patience_s))

    async def _pass(self, gate: Gate, patience_s: float) -> None:
        async with gate.passed(patience_s):
            self.inside.set()
            await self._leave.wait()

    async def leave(self) -> None:
        self._leave.set()
        await self.task


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_as_many_as_there_are_slots_go_on_at_once() -> None:
    gate = Gate(slots=2, waiting=9)
    first, second, third = (Guest(gate) for _ in range(3))
    await settled()
    assert [guest.inside.is_set() for guest in (first, second, third)] == [True, True, False]
    await second.leave()
    await third.inside.wait()
    for guest in (first, third):
        await guest.leave()


async def test_those_who_wait_go_on_in_their_order() -> None:
    gate = Gate(slots=1, waiting=9)
    guests = [Guest(gate) for _ in range(4)]
    for guest in guests:
        await guest.inside.wait()
        assert sum(each.inside.is_set() for each in guests) == guests.index(guest) + 1
        await guest.leave()


@pytest.mark.parametrize("waiting", [0, 2])
async def test_a_full_queue_turns_the_next_away_at_once(waiting: int) -> None:
    gate = Gate(slots=1, waiting=waiting)
    guests = [Guest(gate) for _ in range(1 + waiting)]
    await settled()
    with pytest.raises(Unavailable):
        async with gate.passed(LONG_S):
            pytest.fail("went on")
    for guest in guests:
        await guest.leave()
    async with gate.passed(LONG_S):
        pass


async def test_a_wait_that_would_be_too_long_is_refused_at_once_and_a_shorter_one_is_not(clock: Clock) -> None:
    gate = Gate(slots=1, waiting=9, clock=clock)
    async with gate.passed(LONG_S):
        clock.now += 20  # by the moving average, the next stays are expected to last 2 s
    occupant = Guest(gate)
    await occupant.inside.wait()
    with pytest.raises(Unavailable):
        async with gate.passed(1.9):
            pytest.fail("went on")
    patient = Guest(gate, 2.1)
    await settled()
    # There is one who waits already.
    with pytest.raises(Unavailable):
        async with gate.passed(3.9):
            pytest.fail("went on")
    await occupant.leave()
    await patient.leave()


async def test_long_stays_turn_nobody_away_while_there_is_room(clock: Clock) -> None:
    gate = Gate(slots=2, waiting=9, clock=clock)
    async with gate.passed(LONG_S), gate.passed(LONG_S):
        clock.now += 1000
    async with gate.passed(0.01), gate.passed(0.01):
        pass


async def test_a_wait_that_turns_out_too_long_ends() -> None:
    gate = Gate(slots=1, waiting=9)
    occupant = Guest(gate)
    await occupant.inside.wait()
    with pytest.raises(Unavailable):
        async with gate.passed(0.001):
            pytest.fail("went on")
    await occupant.leave()
    async with gate.passed(LONG_S):
        pass


async def test_who_gives_up_leaves_no_gap_in_the_queue() -> None:
    gate = Gate(slots=1, waiting=1)
    occupant, leaver = Guest(gate), Guest(gate)
    await settled()
    leaver.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaver.task
    heir = Guest(gate)
    await occupant.leave()
    await heir.inside.wait()
    await heir.leave()


async def test_a_failure_inside_frees_the_slot_and_is_passed_on() -> None:
    gate = Gate(slots=1, waiting=0)
    for _ in range(2):
        with pytest.raises(KeyError):
            async with gate.passed(LONG_S):
                raise KeyError
    async with gate.passed(LONG_S):
        pass
