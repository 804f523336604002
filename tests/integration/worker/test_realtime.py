"""What a call with a realtime model has of its own: words that come late, connections that break, an end."""

import asyncio
import json
import time
from typing import Any

import pytest

from demo.standins.faults import Endpoint, Fault
from demo.standins.realtime.session import Session
from tests.support.fake_call import fake_call
from tests.support.fake_sidecar import FakeSidecar, answering, bootstrap_answer, found, hanging
from tests.support.scripted_llm import Call, Say, ScriptedLLM, Wait, search
from tests.support.spoken_line import SpokenLine
from worker.messages import line as canned

GREETING = "how can I help"
CODE = "The code of the north entrance is LF-27-B."
LATEST_S = 6.0
ASKED = "What is the code of the north door?"

pytestmark = pytest.mark.parametrize("pipeline", ["realtime"], indirect=True)


def late_words(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """What the caller said is not written before this is set."""
    released = asyncio.Event()
    transcribed = Session._transcribed

    async def late(self: Session, *arguments: Any) -> None:
        await released.wait()
        await transcribed(self, *arguments)

    monkeypatch.setattr(Session, "_transcribed", late)
    return released


async def test_words_that_come_after_the_answer_stand_before_it_and_belong_to_its_turn(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    released = late_words(monkeypatch)
    line, llm = SpokenLine(), ScriptedLLM(search("north door code"), Say(CODE))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await line.hears_whole(CODE)
        released.set()
        await line.until(lambda: any(message.text_content == ASKED for message in call.session.history.messages()))
    turns = sorted((event for event in sidecar.timeline if event.type == "turn"), key=lambda event: event.at)
    assert [event.text for event in turns][1:] == [ASKED, CODE]
    assert turns[-1].latency_ms is not None
    assert [event for event in sidecar.timeline if event.type == "error"] == []
    assert sidecar.searches[0].utterance is None


async def test_the_callers_words_go_along_with_a_search_if_they_are_known_and_never_those_of_another_turn(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    asked = asyncio.Event()
    llm = ScriptedLLM(Wait(asked, search("north door code")), Say(CODE), search("lab hours"), Say("At nine."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await line.until(lambda: any(message.text_content == ASKED for message in call.session.history.messages()))
        asked.set()
        await line.hears_whole(CODE)
        late_words(monkeypatch)
        await line.says("When is the lab open?")
        await line.hears_whole("At nine.")
    assert [request.utterance for request in sidecar.searches] == [ASKED, None]


async def test_a_cough_is_answered_and_is_no_turn_of_the_callers_on_the_timeline(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(Say("Pardon?"))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("")
        await line.hears_whole("Pardon?")
    assert [event.role for event in sidecar.timeline if event.type == "turn"] == ["agent", "agent"]


async def test_searching_ahead_is_left_alone_where_words_come_too_late_for_it(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search("north door code"), Say(CODE))
    async with fake_call(monkeypatch, sidecar, llm, line=line, prefetch=True) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await line.hears_whole(CODE)
    assert [request.query for request in sidecar.searches] == ["north door code"]


@pytest.mark.parametrize("after", [0, 1], ids=["before a word", "in the middle of one"])
async def test_a_connection_that_drops_is_apologised_for_and_the_call_goes_on(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, after: int
) -> None:
    line = SpokenLine()
    llm = ScriptedLLM(search("north door code"), Say("It is LF-27-B."), Say("At nine, all days of the week."))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await line.hears_whole("LF-27-B")
        if not after:
            llm.then(Say("At nine, all days of the week."))
        call.faults.set(Fault(endpoint=Endpoint.RESPONSE, times=1, drop=True, after=after))
        await line.says("When are you open?")
        await line.hears_whole("say that again?")
        if after:
            llm.then(Say("At nine, all days of the week."))
        await line.says("When are you open?")
        await line.hears_whole("At nine")
    assert [(event.source, event.code) for event in sidecar.timeline if event.type == "error"] == [
        ("realtime", "connection")
    ]
    remembered = [item for prompt in llm.prompts[-1:] for item in prompt.items]
    assert any(getattr(item, "name", "") == "search_knowledge" for item in remembered)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(endpoint=Endpoint.RESPONSE, status=402, times=1), "insufficient_quota"),
        (Fault(endpoint=Endpoint.RESPONSE, drop=True, times=1), "APIConnectionError"),
    ],
    ids=["not paid for", "away for good"],
)
async def test_a_model_that_is_lost_for_good_ends_the_call_once_with_an_apology(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, fault: Fault, code: str
) -> None:
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, ScriptedLLM(Say("At nine.")), line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("When are you open?")
        await line.hears_whole("At nine.")
        call.faults.set(fault)
        call.faults.set(Fault(endpoint=Endpoint.REALTIME, status=503))
        await line.says("And tomorrow?")
        await line.hears_whole("try again later", seconds=30)
        await asyncio.wait_for(call._down.wait(), 10)
    assert sidecar.endings == [("failed", "outage")]
    assert ("realtime", code) in [(e.source, e.code) for e in sidecar.timeline if e.type == "error"]


async def test_a_server_that_falls_silent_altogether_leaves_no_dead_air(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    deaf, released = asyncio.Event(), asyncio.Event()
    handle = Session._handle

    async def hear(self: Session, data: str) -> None:
        if deaf.is_set():
            await asyncio.Event().wait()
        await handle(self, data)

    monkeypatch.setattr(Session, "_handle", hear)
    sidecar.search = hanging(released, answering(200, found().to_wire()))
    line, llm = SpokenLine(), ScriptedLLM(search("north door code"))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await sidecar.searched_times(1)
        deaf.set()
        released.set()
        found_at = time.monotonic()
        sound = await line.hears(CODE)
        assert sound.at - found_at < LATEST_S
    assert ("realtime", "TimeoutError") in [(e.source, e.code) for e in sidecar.timeline if e.type == "error"]


async def test_a_model_that_is_away_from_the_start_ends_the_call_with_an_apology(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line = SpokenLine()
    async with fake_call(
        monkeypatch, sidecar, line=line, keep_llm=True, pipeline="realtime", realtime_base_url="http://127.0.0.1:1/v1"
    ) as call:
        await call.answer()
        await line.hears_whole("try again later", seconds=30)
        await asyncio.wait_for(call._down.wait(), 10)
    assert line.said()[0] == "Larkfield Clinic, how can I help?"
    assert line.said()[-1].endswith("Goodbye.")
    assert sidecar.endings == [("failed", "outage")]


async def test_a_person_is_reached_and_nothing_is_said_after_that(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    sidecar.bootstrap = answering(201, bootstrap_answer(agent={"handoffNumber": "+15550101999"}).to_wire())
    line, llm = SpokenLine(), ScriptedLLM(Call("{}", name="transfer_to_person"))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        asked: list[str] = []

        async def transfer(_participant: Any, to: str, *, play_dialtone: bool) -> None:
            assert play_dialtone
            asked.append(to)

        monkeypatch.setattr(call.ctx, "transfer_sip_participant", transfer)
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says("A person, please.")
        await asyncio.wait_for(call._down.wait(), 10)
    assert asked == ["tel:+15550101999"]
    assert " ".join(line.said()[1:]) == canned("handoff.connecting", "en")
    assert sidecar.endings == [("transferred", "transferred")]


async def test_the_model_has_the_prompt_the_tools_and_their_output_as_in_a_cascade(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    line, llm = SpokenLine(), ScriptedLLM(search("north door code"), Say(CODE))
    async with fake_call(monkeypatch, sidecar, llm, line=line) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(ASKED)
        await line.hears_whole(CODE)
    first, second = llm.prompts
    assert "You answer the phone of a clinic." in (first.messages()[0].text_content or "")
    (output,) = [item for item in second.items if item.type == "function_call_output"]
    assert json.loads(output.output)["status"] == "ok"
