"""Putting the caller through to a person: when it is offered, and how the telephone side answers."""

import asyncio
import json
from typing import Any

import pytest
from livekit import api, rtc
from livekit.agents import AgentSession

from tests.support.fake_call import FakeCall, fake_call
from tests.support.fake_sidecar import (
    FakeSidecar,
    answering,
    bootstrap_answer,
    found,
    hanging,
    in_turn,
    nothing,
    refusing,
)
from tests.support.scripted_llm import Call, Fail, Say, ScriptedLLM, search
from worker.messages import line

PERSON = "+1 555 010 1999"
TRANSFER = Call("{}", name="transfer_to_person")
MISS = answering(200, nothing().to_wire())


@pytest.fixture
def with_person(sidecar: FakeSidecar) -> FakeSidecar:
    """The sidecar of an agent that has a number to put callers through to."""
    sidecar.bootstrap = answering(201, bootstrap_answer(agent={"handoffNumber": PERSON}).to_wire())
    return sidecar


class Telephone:
    """LiveKit's answer to a transfer, which is what LiveKit SIP says of the REFER."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call: FakeCall, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.ringing, self.answered = asyncio.Event(), asyncio.Event()
        self.answered.set()
        self._error = error
        monkeypatch.setattr(call.ctx, "transfer_sip_participant", self.transfer)

    def transfer(self, participant: Any, to: str, *, play_dialtone: bool) -> "asyncio.Future[None]":
        self.asked.append((participant.identity, to))
        return asyncio.ensure_future(self._answer(play_dialtone=play_dialtone))

    async def _answer(self, *, play_dialtone: bool) -> None:
        assert play_dialtone
        self.ringing.set()
        await self.answered.wait()
        if self._error:
            raise self._error


def refused(status: str) -> api.TwirpError:
    return api.TwirpError("unavailable", "the far side said no", status=503, metadata={"sip_status_code": status})


async def outputs(session: AgentSession[Any], words: str) -> list[dict[str, Any]]:
    result: Any = await session.run(user_input=words)
    return [json.loads(event.item.output) for event in result.events if event.type == "function_call_output"]


def handoffs(sidecar: FakeSidecar) -> list[tuple[str, str]]:
    return [(event.reason, event.outcome) for event in sidecar.timeline if event.type == "handoff"]


async def test_a_caller_who_asks_is_told_put_through_and_the_call_ends_as_transferred(
    monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar
) -> None:
    async with fake_call(monkeypatch, with_person, ScriptedLLM(TRANSFER)) as call:
        telephone = Telephone(monkeypatch, call)
        await call.answer()
        call.session.generate_reply(user_input="A person, please.")
        await call.shut_down()
        call.room.leave(call.caller, rtc.DisconnectReason.CLIENT_INITIATED)
    assert telephone.asked == [(call.caller.identity, "tel:+15550101999")]
    assert call.said[-1] == "I'll put you through to a person. One moment."
    assert with_person.endings == [("transferred", "transferred")]
    assert handoffs(with_person) == [("caller_asked", "accepted"), ("caller_asked", "transferred")]


@pytest.mark.parametrize("error", [refused("603"), api.TwirpError("deadline_exceeded", "", status=504)])
async def test_complaint_20_a_refusal_is_told_to_the_caller_who_stays(
    monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar, error: api.TwirpError
) -> None:
    llm = ScriptedLLM(TRANSFER, Say("I couldn't reach anybody."))
    async with fake_call(monkeypatch, with_person, llm) as call:
        Telephone(monkeypatch, call, error)
        await call.answer()
        (output,) = await outputs(call.session, "A person, please.")
        assert output["status"] == "refused"
        assert output["suggested_reply"] == "I'm sorry, I couldn't put you through."
        assert call.shutdowns == []
        call.room.leave(call.caller, rtc.DisconnectReason.CLIENT_INITIATED)
    assert with_person.endings == [("completed", "caller_hung_up")]
    assert handoffs(with_person) == [("caller_asked", "accepted"), ("caller_asked", "failed")]


@pytest.mark.parametrize(
    ("error", "ending"), [(None, ("transferred", "transferred")), (refused("487"), ("completed", "caller_hung_up"))]
)
async def test_complaint_19_a_telephone_that_leaves_while_it_rings_ends_the_call_once_and_rightly(
    monkeypatch: pytest.MonkeyPatch,
    with_person: FakeSidecar,
    error: api.TwirpError | None,
    ending: tuple[str, str],
) -> None:
    async with fake_call(monkeypatch, with_person, ScriptedLLM(TRANSFER)) as call:
        telephone = Telephone(monkeypatch, call, error)
        telephone.answered.clear()
        await call.answer()
        call.session.generate_reply(user_input="A person, please.")
        await asyncio.wait_for(telephone.ringing.wait(), 5)
        call.room.leave(call.caller, rtc.DisconnectReason.CLIENT_INITIATED)
        assert call.shutdowns == []
        telephone.answered.set()
        await call.shut_down()
    assert with_person.endings == [ending]


async def test_without_a_number_nobody_is_promised_a_person(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.search = MISS
    llm = ScriptedLLM(search("parking"), Say("No."), search("bicycles"), Say("No."))
    async with fake_call(monkeypatch, sidecar, llm) as call:
        await call.answer()
        assert [tool.info.name for tool in call.session.current_agent.tools] == ["search_knowledge"]  # type: ignore[union-attr]
        for words in ("Where can I park?", "And my bicycle?"):
            (output,) = await outputs(call.session, words)
            assert "person" not in output["guidance"]
    assert handoffs(sidecar) == []


async def test_a_person_is_offered_after_two_misses_in_a_row_and_not_after_each(
    monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar
) -> None:
    with_person.search = in_turn(MISS, answering(200, found().to_wire()), MISS, MISS, MISS)
    asked = ["parking fee", "door code", "bicycle stand", "lost property", "taxi rank"]
    steps = [step for query in asked for step in (search(query), Say("All right."))]
    due = []
    async with fake_call(monkeypatch, with_person, ScriptedLLM(*steps, TRANSFER)) as call:
        Telephone(monkeypatch, call)
        await call.answer()
        for query in asked:
            (output,) = await outputs(call.session, query)
            due.append("Offer now" in output["guidance"])
        call.session.generate_reply(user_input="Yes please.")
        await call.shut_down()
    assert due == [False, False, False, True, False]
    assert handoffs(with_person) == [("misses", "offered"), ("misses", "accepted"), ("misses", "transferred")]


async def test_two_searches_for_one_question_are_one_miss(
    monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar
) -> None:
    with_person.search = MISS
    llm = ScriptedLLM(
        search("parking fee"), search("where to leave a car"), Say("No."), search("taxi rank"), Say("No.")
    )
    async with fake_call(monkeypatch, with_person, llm) as call:
        await call.answer()
        first = await outputs(call.session, "Where can I park?")
        assert not any("Offer now" in output["guidance"] for output in first)
        (second,) = await outputs(call.session, "And a taxi?")
        assert "Offer now" in second["guidance"]


@pytest.mark.parametrize("answer", [refusing(500), hanging(asyncio.Event())], ids=["error", "hangs"])
async def test_a_person_is_offered_when_the_knowledge_is_away(
    monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar, answer: Any
) -> None:
    with_person.search = answer
    async with fake_call(monkeypatch, with_person, ScriptedLLM(search("parking"), Say("A person?"))) as call:
        await call.answer()
        (output,) = await outputs(call.session, "Where can I park?")
        assert "Offer now" in output["guidance"]
    assert handoffs(with_person) == [("outage", "offered")]


@pytest.mark.parametrize(
    ("error", "ending", "last"),
    [
        (None, ("transferred", "transferred"), "I'll put you through to a person. One moment."),
        (refused("486"), ("failed", "outage"), line("call.out_of_order", "en")),
    ],
)  # fmt: skip
async def test_models_that_are_away_put_the_caller_through_or_say_goodbye(
    monkeypatch: pytest.MonkeyPatch,
    with_person: FakeSidecar,
    error: api.TwirpError | None,
    ending: tuple[str, str],
    last: str,
) -> None:
    async with fake_call(monkeypatch, with_person, ScriptedLLM(Fail(), Fail(), Fail())) as call:
        Telephone(monkeypatch, call, error)
        await call.answer()
        for _ in range(3):
            await call.session.generate_reply(user_input="Hello?")
        await call.shut_down()
    assert call.said[-1] == last
    assert with_person.endings == [ending]
    outcomes = [outcome for _, outcome in handoffs(with_person)]
    assert outcomes == ["accepted", "failed" if error else "transferred"]


async def test_only_a_telephone_can_be_put_through(monkeypatch: pytest.MonkeyPatch, with_person: FakeSidecar) -> None:
    async with fake_call(monkeypatch, with_person, ScriptedLLM(TRANSFER, Say("I cannot."))) as call:
        telephone = Telephone(monkeypatch, call)
        call.caller.kind = rtc.ParticipantKind.PARTICIPANT_KIND_STANDARD
        call.ctx.job.metadata = json.dumps({"agentId": str(bootstrap_answer().agent.agent_id)})
        await call.answer()
        (output,) = await outputs(call.session, "A person, please.")
    assert output["status"] == "refused"
    assert telephone.asked == []
