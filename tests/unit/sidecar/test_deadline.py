"""The time that is left, on the event loop's clock."""

import asyncio

import pytest

from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.errors import DeadlineExceeded


async def test_no_deadline_is_later_than_the_sidecars_own() -> None:
    now = asyncio.get_running_loop().time()
    assert Deadline.after(60).at == pytest.approx(now + LONGEST_S, abs=0.1)
    assert Deadline.after(1).at == pytest.approx(now + 1, abs=0.1)


async def test_what_remains_shrinks_to_nothing_and_not_below() -> None:
    now = asyncio.get_running_loop().time()
    assert 0.9 < Deadline(now + 1).remaining() <= 1
    assert Deadline(now - 1).remaining() == 0


async def test_work_is_cancelled_when_the_time_is_up() -> None:
    work = asyncio.get_running_loop().create_future()
    with pytest.raises(DeadlineExceeded):
        async with Deadline.after(0.001).enforced():
            await work
    assert work.cancelled()


async def test_work_that_is_done_in_time_keeps_its_result_and_its_errors() -> None:
    async with Deadline.after(3).enforced():
        pass
    with pytest.raises(KeyError):
        async with Deadline.after(3).enforced():
            raise KeyError


async def test_a_cancellation_from_outside_stays_one() -> None:
    started = asyncio.Event()

    async def work() -> None:
        async with Deadline.after(3).enforced():
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
