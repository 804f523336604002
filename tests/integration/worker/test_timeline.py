"""The timeline on its way to a sidecar over real HTTP."""

import asyncio
import time
from uuid import uuid4

from contracts.voice import ErrorEvent, TurnEvent
from tests.integration.worker.conftest import IDS
from tests.support.fake_sidecar import FakeSidecar, answering, hanging, in_turn, refusing
from worker.deadline import Deadline
from worker.sidecar_client import SidecarClient
from worker.timeline import Timeline, now

ACCEPTED = answering(202, '{"accepted": 1, "duplicates": 0}')


def turn(text: str = "hello") -> TurnEvent:
    return TurnEvent(id=uuid4(), at=now(), role="caller", text=text)


async def test_events_arrive_in_order_in_batches_of_at_most_a_hundred(
    client: SidecarClient, sidecar: FakeSidecar
) -> None:
    timeline = Timeline(client, IDS, interval_s=3600)
    events = [turn(str(number)) for number in range(250)]
    for event in events:
        timeline.add(event)
    await timeline.aclose(Deadline.after(5))
    assert [len(request.events) for request in sidecar.reported] == [100, 100, 50]
    assert sidecar.timeline == events


async def test_events_are_reported_while_the_call_lasts(client: SidecarClient, sidecar: FakeSidecar) -> None:
    timeline = Timeline(client, IDS, interval_s=0.01)
    timeline.add(turn())
    await asyncio.wait_for(sidecar.reported_some.wait(), 2)
    await timeline.aclose(Deadline.after(1))
    assert len(sidecar.timeline) == 1


async def test_adding_never_waits_for_a_sidecar_that_hangs(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.events = hanging(asyncio.Event())
    timeline = Timeline(client, IDS, interval_s=0)
    timeline.add(turn())
    await asyncio.sleep(0)
    started = time.monotonic()
    for _ in range(5000):
        timeline.add(turn())
    assert time.monotonic() - started < 1
    await timeline.aclose(Deadline.after(0.2))
    assert time.monotonic() - started < 2


async def test_a_sidecar_that_comes_back_gets_what_it_missed_once(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.events = in_turn(refusing(503), refusing(503), refusing(500), ACCEPTED)
    timeline = Timeline(client, IDS, interval_s=3600)
    event = turn()
    timeline.add(event)
    await timeline.aclose(Deadline.after(5))
    assert sidecar.timeline == [event]


async def test_beyond_the_capacity_the_oldest_give_way(client: SidecarClient, sidecar: FakeSidecar) -> None:
    timeline = Timeline(client, IDS, interval_s=3600, capacity=3)
    for number in range(5):
        timeline.add(turn(str(number)))
    await timeline.aclose(Deadline.after(5))
    assert [event.text for event in sidecar.timeline] == ["2", "3", "4"]


async def test_a_refused_batch_does_not_hold_up_the_next(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.events = in_turn(refusing(404), ACCEPTED)
    timeline = Timeline(client, IDS, interval_s=3600)
    for number in range(101):
        timeline.add(turn(str(number)))
    await timeline.aclose(Deadline.after(5))
    assert [event.text for event in sidecar.timeline] == ["100"]


async def test_closing_without_a_sidecar_ends_at_the_deadline(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.events = refusing(503)
    timeline = Timeline(client, IDS, interval_s=3600)
    timeline.add(ErrorEvent(id=uuid4(), at=now(), source="llm", code="http_500"))
    started = time.monotonic()
    await timeline.aclose(Deadline.after(0.3))
    assert time.monotonic() - started < 1
