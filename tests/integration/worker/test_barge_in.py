"""The caller goes on to something else: before, during and after a search, whatever becomes of that search."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from livekit.agents import RunContext
from livekit.agents.llm import ChatContext, FunctionCallOutput

from tests.integration.worker.conftest import in_both_pipelines
from tests.support.fake_call import FakeCall, fake_call
from tests.support.fake_sidecar import FakeSidecar, answering, found, hanging, passage, refusing
from tests.support.scripted_llm import RuledLLM, Say, Step, Wait, search
from tests.support.spoken_line import SpokenLine
from worker import search_knowledge
from worker.call import CallDeps
from worker.tool_output import GUIDANCE
from worker.waiting import SearchLimits, while_waiting

pytestmark = in_both_pipelines
GREETING = "how can I help"
CODE, HOURS = "What is the door code?", "No, tell me when you are open."
LONG_GRACE = SearchLimits(grace=3, filler=10)
UNHEARD = SearchLimits(filler=10)  # a realtime model's words come after the grace, so that each turn has it


def last(context: ChatContext) -> Any:
    """The last item that is no note of ours."""
    return next(item for item in reversed(context.items) if item.type != "message" or item.role != "system")


def respond(context: ChatContext) -> Step:
    """A model that searches for what it is asked, and says what came of it."""
    item = last(context)
    if isinstance(item, FunctionCallOutput):
        output = json.loads(item.output)
        return Say(output["results"][0]["content"] if output["results"] else output["status"])
    asked = item.text_content or ""
    if "door code" in asked:
        return search("door code")
    if "open" in asked:
        return search("opening hours")
    pending = [json.loads(each.output) for each in context.items if isinstance(each, FunctionCallOutput)]
    if pending and pending[-1]["results"]:
        return Say(pending[-1]["results"][0]["content"])
    return Say("Go on.")


class Knowledge:
    """Finds the opening hours at once; what becomes of the door code is the test's to say."""

    def __init__(self, sidecar: FakeSidecar, code: str) -> None:
        self.released = asyncio.Event()
        self._answers = {
            "ok": answering(200, found(passage(content="The code is LF-27-B.")).to_wire()),
            "slow": hanging(self.released, answering(200, found(passage(content="The code is LF-27-B.")).to_wire())),
            "hang": hanging(asyncio.Event()),
            "error": refusing(500),
        }
        self._sidecar, self._code = sidecar, code
        sidecar.search = self.search

    async def search(self, request: web.Request) -> web.Response:
        if self._sidecar.searches[-1].query == "door code":
            return await self._answers[self._code](request)
        return web.Response(text=found(passage(content="We open at nine.")).to_wire(), content_type="application/json")


def assert_whole(call: FakeCall) -> list[dict[str, Any]]:
    """Each call of a tool has its one output, which reads as what it was; gives the outputs."""
    items = call.session.history.items
    called = [item.call_id for item in items if item.type == "function_call"]
    outputs = {item.call_id: item for item in items if isinstance(item, FunctionCallOutput)}
    assert sorted(called) == sorted(outputs)
    assert not any(item.is_error for item in outputs.values())
    return [json.loads(item.output) for item in outputs.values()]


@pytest.mark.parametrize("search_is", ["ok", "slow", "hang", "error"])
async def test_complaint_9_before_the_search_the_new_question_is_answered_and_the_old_never_asked(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, search_is: str
) -> None:
    Knowledge(sidecar, search_is)
    thinking = asyncio.Event()

    def slow_to_call(context: ChatContext) -> Step:
        step = respond(context)
        if step != search("door code"):
            return step
        thinking.set()
        return Wait(asyncio.Event())

    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, RuledLLM(slow_to_call), line=line, limits=LONG_GRACE) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(CODE)
        await asyncio.wait_for(thinking.wait(), 5)
        await line.until(lambda: call.session.history.messages()[-1].role == "user")  # the turn is the agent's now
        await line.says(HOURS)
        await line.hears_whole("We open at nine.")
        assert [output["status"] for output in assert_whole(call)] == ["ok"]
    assert [request.query for request in sidecar.searches] == ["opening hours"]


@pytest.mark.parametrize("search_is", ["ok", "slow", "hang", "error"])
async def test_complaints_4_12_and_28_during_the_search_it_is_given_up_at_once_and_never_read_as_not_found(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, pipeline: str, search_is: str
) -> None:
    Knowledge(sidecar, search_is)
    line = SpokenLine()
    limits = LONG_GRACE if pipeline == "cascade" else UNHEARD
    async with fake_call(monkeypatch, sidecar, RuledLLM(respond), line=line, limits=limits) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(CODE)
        await sidecar.searched_times(1)
        await line.says(HOURS)
        if search_is in {"slow", "hang"}:
            # the long grace would be three seconds
            await asyncio.wait_for(sidecar.disconnected.wait(), 1)
        await line.hears_whole("We open at nine.")
        statuses = [output["status"] for output in assert_whole(call)]
    expected = {"slow": "aborted", "hang": "aborted", "ok": "ok", "error": "unavailable"}[search_is]
    assert statuses == [expected, "ok"]
    assert [event.outcome for event in sidecar.searched] == [expected, "ok"]
    assert len(sidecar.searches) == 2


@pytest.mark.parametrize("search_is", ["ok", "slow", "hang", "error"])
async def test_complaint_3_after_the_search_the_answer_breaks_off_and_is_marked_as_not_heard(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar, search_is: str
) -> None:
    knowledge = Knowledge(sidecar, search_is)
    knowledge.released.set()
    line, llm = SpokenLine(), RuledLLM(respond)
    limits = SearchLimits(total=0.4, http=0.3, filler=10)
    spoken = {"error": "unavailable", "hang": "unavailable"}.get(search_is, "The code is LF-27-B.")
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=limits) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        line.word_s = 5
        await line.says(CODE)
        answer = await line.hears(spoken)
        line.word_s = 0.04
        await line.says(HOURS)
        await line.hears_whole("We open at nine.")
        assert answer.whole is False
        assert_whole(call)
        notes = [
            item.text_content or ""
            for item in llm.prompts[-1].items
            if item.type == "message" and item.role == "system"
        ]
        kept = [message for message in call.session.history.messages() if message.role == "system"]
    assert any("has not heard it to its end" in note for note in notes)
    assert not any("has not heard it" in (message.text_content or "") for message in kept)
    broken_off = [event for event in sidecar.timeline if event.type == "turn" and event.interrupted]
    assert {event.role for event in broken_off} == {"agent"}


def waits_seen(monkeypatch: pytest.MonkeyPatch) -> list[RunContext[CallDeps]]:
    """The contexts of searches that are waited for, as they begin."""
    seen: list[RunContext[CallDeps]] = []

    async def waiting(search: asyncio.Task[Any], ctx: RunContext[CallDeps], *rest: Any) -> None:
        seen.append(ctx)
        await while_waiting(search, ctx, *rest)

    monkeypatch.setattr(search_knowledge, "while_waiting", waiting)
    return seen


async def test_complaint_2_an_okay_does_not_throw_a_nearly_finished_search_away(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    knowledge = Knowledge(sidecar, "slow")
    line, llm = SpokenLine(), RuledLLM(respond)
    asking = waits_seen(monkeypatch)
    async with fake_call(monkeypatch, sidecar, llm, line=line, limits=LONG_GRACE) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(CODE)
        await sidecar.searched_times(1)
        await line.says("Okay.")
        await line.until(lambda: asking[0].speech_handle.interrupted)
        knowledge.released.set()
        await line.hears_whole("The code is LF-27-B.")
        assert [output["status"] for output in assert_whole(call)] == ["ok"]
        assert any("not been told this result" in (item.text_content or "") for item in llm.prompts[-1].messages())
    assert not sidecar.disconnected.is_set()
    assert len(sidecar.searches) == 1


async def test_complaint_24_a_result_that_comes_while_the_caller_speaks_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    knowledge = Knowledge(sidecar, "slow")
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, RuledLLM(respond), line=line, limits=LONG_GRACE) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(CODE)
        await sidecar.searched_times(1)
        line.begins_to_speak()
        knowledge.released.set()
        await line.until(lambda: any(isinstance(item, FunctionCallOutput) for item in call.session.history.items))
        line.has_said("the one at the north entrance I mean")
        await line.hears_whole("The code is LF-27-B.")
        assert [output["status"] for output in assert_whole(call)] == ["ok"]


async def test_a_cough_neither_ends_a_search_nor_is_answered(
    monkeypatch: pytest.MonkeyPatch, sidecar: FakeSidecar
) -> None:
    knowledge = Knowledge(sidecar, "slow")
    line = SpokenLine()
    async with fake_call(monkeypatch, sidecar, RuledLLM(respond), line=line, limits=LONG_GRACE) as call:
        await call.answer()
        await line.hears_whole(GREETING)
        await line.says(CODE)
        await sidecar.searched_times(1)
        await line.says("")
        knowledge.released.set()
        await line.hears_whole("The code is LF-27-B.")
        assert [output["status"] for output in assert_whole(call)] == ["ok"]


def test_an_abort_tells_the_model_that_nothing_is_known() -> None:
    assert "Never present this as no information found" in GUIDANCE["aborted"]
