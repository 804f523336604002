"""A call from the first ring to its one terminal status, against a sidecar over real HTTP."""

import asyncio
import time

import pytest
from aiohttp.test_utils import unused_port
from livekit import rtc

from tests.support.fake_call import CALLED, CALLER, fake_call, participant
from tests.support.fake_sidecar import (
    AGENT,
    SESSION,
    FakeSidecar,
    answering,
    bootstrap_answer,
    hanging,
    in_turn,
    refusing,
)
from tests.support.scripted_llm import Say, ScriptedLLM, search

Reason = rtc.DisconnectReason
ENDED = answering(
    200,
    f'{{"sessionId": "{SESSION}", "status": "completed", "endedAt": "2026-11-30T20:17:41Z"}}',
)


async def test_a_call_is_opened_greeted_answered_reported_and_ended(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    llm = ScriptedLLM(search("door code"), Say("It is LF-27-B."))
    async with fake_call(monkeypatch, sidecar, llm) as call:
        await call.answer()
        await call.heard("Larkfield Clinic, how can I help?")
        await call.session.run(user_input="What is the door code?")
        call.room.leave(call.caller, Reason.CLIENT_INITIATED)
        await call.shut_down()
        await call.finish()
    (opened,) = sidecar.bootstraps
    assert (opened.called_number, opened.caller_number) == (CALLED, CALLER)
    assert opened.call_id == "SCL_9xkTq2"
    heard = [(event.type, getattr(event, "text", "")) for event in sidecar.timeline]
    assert heard == [
        ("turn", "Larkfield Clinic, how can I help?"),
        ("turn", "What is the door code?"),
        ("kb.search", ""),
        ("turn", "It is LF-27-B."),
    ]
    assert [getattr(event, "role", None) for event in sidecar.timeline] == [
        "agent", "caller", None, "agent",
    ]  # fmt: skip
    assert sidecar.endings == [("completed", "caller_hung_up")]
    assert call.deleted == 1
    assert llm.prompts[0].items[0].text_content.startswith("You are on a telephone call")  # type: ignore[union-attr]


@pytest.mark.parametrize("reason", sorted(Reason.values()))
async def test_whatever_makes_the_caller_leave_ends_the_call_once(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, reason: int
) -> None:
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
        call.room.leave(call.caller, reason)
        call.room.emit("disconnected", Reason.ROOM_DELETED)
        await call.shut_down()
    hung_up = reason in {Reason.CLIENT_INITIATED, Reason.USER_REJECTED}
    assert sidecar.endings == [("completed", "caller_hung_up") if hung_up else ("failed", "caller_lost")]


async def test_somebody_else_leaving_ends_nothing(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
        listener = participant("listener", rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD)
        call.room.join(listener)
        call.room.leave(listener, Reason.CLIENT_INITIATED)
        assert call.shutdowns == []


async def test_a_caller_who_left_before_we_were_ready_is_not_talked_to_for_ever(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = asyncio.Event()
    sidecar.bootstrap = hanging(released, answering(201, bootstrap_answer().to_wire()))
    async with fake_call(monkeypatch, sidecar) as call:
        answering_it = asyncio.create_task(call.answer())
        await asyncio.wait_for(sidecar.bootstrapping.wait(), 2)
        call.room.leave(call.caller, Reason.CLIENT_INITIATED)
        released.set()
        await answering_it
        await call.shut_down()
    assert sidecar.endings == [("completed", "caller_hung_up")]


async def test_a_job_that_is_shut_down_reports_so(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
    assert sidecar.endings == [("failed", "worker_shutdown")]
    assert call.deleted == 1


async def test_a_room_that_is_gone_reports_so(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
        call.room.emit("disconnected", Reason.UNKNOWN_REASON)
        await call.shut_down()
    assert sidecar.endings == [("failed", "room_disconnected")]


async def test_the_end_is_told_again_to_a_sidecar_that_was_briefly_away(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.end = in_turn(refusing(503), refusing(500), ENDED)
    async with fake_call(monkeypatch, sidecar) as call:
        await call.answer()
        call.room.leave(call.caller, Reason.CLIENT_INITIATED)
    assert sidecar.endings == [("completed", "caller_hung_up")] * 3


async def test_an_unknown_number_hears_a_polite_sentence_and_the_call_ends(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.bootstrap = refusing(404)
    async with fake_call(monkeypatch, sidecar, default_language="ru") as call:
        await call.answer()
        await call.shut_down()
        await call.finish()
        assert call.said == ["Извините, этот номер не обслуживается. До свидания."]
        assert call.shutdowns == ["unknown_number"]
        assert call.deleted == 1
    assert sidecar.ends == []


@pytest.mark.parametrize("failure", ["away", "hanging", "failing", "refusing"])
async def test_without_a_sidecar_the_caller_hears_an_apology_in_time(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, failure: str
) -> None:
    sidecar.bootstrap = {
        "away": refusing(503),
        "hanging": hanging(asyncio.Event()),
        "failing": refusing(500),
        "refusing": refusing(401),
    }[failure]
    url = f"http://127.0.0.1:{unused_port()}" if failure == "away" else None
    async with fake_call(monkeypatch, sidecar, sidecar_url=url) as call:
        started = time.monotonic()
        await call.answer()
        assert time.monotonic() - started < 3
        assert call.said[0].startswith("I'm sorry, we can't take your call just now.")
        assert call.shutdowns == ["sidecar_unavailable"]
    assert call.deleted == 1


async def test_metadata_that_cannot_be_read_opens_no_session(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    async with fake_call(monkeypatch, sidecar, metadata='{"knowledgeBase": "all"}') as call:
        await call.answer()
        assert call.shutdowns == ["dispatch_unreadable"]
        assert len(call.said) == 1
    assert sidecar.bootstraps == []


async def test_the_dispatch_names_the_agent(monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar) -> None:
    async with fake_call(monkeypatch, sidecar, metadata=f'{{"agentId": "{AGENT}"}}') as call:
        await call.answer()
    assert sidecar.bootstraps[0].agent_id == AGENT
    assert sidecar.bootstraps[0].called_number is None


@pytest.mark.parametrize(
    ("identity", "joined", "refused"),
    [("agent-a", 0, True), ("agent-c", 0, True), ("agent-a", 2, False), ("agent-a", 1, True),
     ("agent-c", 1, False)],
)  # fmt: skip
async def test_complaint_21_of_two_agents_the_one_that_joined_first_stays(
    monkeypatch: pytest.MonkeyPatch,
    sidecar: FakeSidecar,
    identity: str,
    joined: int,
    refused: bool,  # noqa: FBT001 - a column of the table
) -> None:
    async with fake_call(monkeypatch, sidecar) as call:
        kind = rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
        call.room.join(participant(identity, kind, joined=joined))
        await call.answer()
        assert bool(call.shutdowns) == refused
    assert (len(sidecar.bootstraps), call.deleted) == ((0, 0) if refused else (1, 1))
