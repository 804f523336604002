"""A sidecar over real HTTP, and a session that talks in text, as a call has them."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from livekit.agents import Agent, AgentSession
from livekit.agents.voice.run_result import RunResult

from tests.support import fake_call
from tests.support.contract_exchange import ContractExchanges
from tests.support.fake_sidecar import AGENT, ORG, SESSION, TOKEN, FakeSidecar, serving
from tests.support.scripted_llm import ScriptedLLM
from worker.call import CallDeps
from worker.deadline import Deadline
from worker.search_knowledge import get_knowledge_tools
from worker.sidecar_client import SessionIds, SidecarClient
from worker.timeline import Timeline
from worker.waiting import SearchLimits

IDS = SessionIds(SESSION, ORG, AGENT)
in_both_pipelines = pytest.mark.parametrize("pipeline", ["cascade", "realtime"], indirect=True)
QUESTION = "Hi, what is the door code for the north entrance?"


@pytest.fixture(autouse=True)
def pipeline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The pipeline of calls on a line; a test with the mark `in_both_pipelines` runs once in each."""
    chosen = str(getattr(request, "param", "cascade"))
    monkeypatch.setattr(fake_call, "PIPELINE", chosen)
    return chosen


@pytest.fixture
async def sidecar(contract_exchanges: ContractExchanges) -> AsyncIterator[FakeSidecar]:
    """A sidecar that finds one passage for everybody."""
    async with serving(FakeSidecar(contract_exchanges)) as running:
        yield running


@pytest.fixture
async def client(sidecar: FakeSidecar) -> AsyncIterator[SidecarClient]:
    """The worker's client of that sidecar."""
    async with SidecarClient.connect(sidecar.url, TOKEN) as connected:
        yield connected


@dataclass
class TextCall:
    """Starts sessions in text, which end with the test."""

    client: SidecarClient
    resources: AsyncExitStack
    timelines: list[Timeline] = field(default_factory=list)

    async def start(
        self, llm: ScriptedLLM, limits: SearchLimits | None = None, language: str = "en", **deps_fields: Any
    ) -> AgentSession[CallDeps]:
        """A session of an agent that has the knowledge tool and follows that script."""
        timeline = Timeline(self.client, IDS, interval_s=3600)
        self.timelines.append(timeline)
        deps = CallDeps(self.client, IDS, timeline, language, language, **deps_fields)
        session = AgentSession(llm=llm, vad=None, userdata=deps, max_tool_steps=2)
        await self.resources.enter_async_context(session)
        agent = Agent(instructions="Answer.", tools=[*get_knowledge_tools(limits)])
        await session.start(agent)
        return session

    async def report(self) -> None:
        """Report the timelines, as the end of a call does."""
        for timeline in self.timelines:
            await timeline.aclose(Deadline.after(5))


@pytest.fixture
async def call(client: SidecarClient) -> AsyncIterator[TextCall]:
    """A call in text."""
    async with AsyncExitStack() as resources:
        text_call = TextCall(client, resources)
        yield text_call
        await text_call.report()


async def ask(session: AgentSession[CallDeps], words: str = QUESTION) -> tuple[dict[str, Any], RunResult[None]]:
    """What the tool gave the model when the caller said this, and the whole turn."""
    result: RunResult[None] = await session.run(user_input=words)
    outputs = [event.item.output for event in result.events if event.type == "function_call_output"]
    assert len(outputs) == 1
    assert all(not event.item.is_error for event in result.events if hasattr(event.item, "is_error"))
    return json.loads(outputs[0]), result
