"""A call in writing: everything of a call but the sound.

Bootstrap over HTTP, the worker's own prompt, agent, tools and timeline in a real session; the model is told what to
search for and reads out what came, so that what is judged is the retrieval and the words around it, not a model's luck.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import UUID, uuid4

from livekit.agents import AgentSession
from livekit.agents.llm import ChatContext, FunctionCall, FunctionCallOutput

from contracts.voice import Bootstrap, BootstrapRequest, SearchEvent
from demo.standins.responder import Message, respond
from demo.standins.responder import Say as Said
from tests.evals.artifacts import Heard
from tests.evals.parts import Sidecar
from tests.support.scripted_llm import RuledLLM, Say, Step, search
from worker.agent import PhoneAgent, compose
from worker.call import CallDeps, language_of_call
from worker.conversation import Conversation, Ending
from worker.deadline import Deadline
from worker.handoff import Handoff
from worker.search_knowledge import get_knowledge_tools
from worker.sidecar_client import Event, SessionIds, SidecarClient
from worker.timeline import Timeline
from worker.transfer_to_person import get_handoff_tools

if TYPE_CHECKING:
    from livekit.agents.voice.run_result import RunResult

_OPEN_S: Final = 10.0
_REPLY_S: Final = 10.0  # a model's time to its first word; the machine may be busy with other things
_SILENCE_S: Final = 3600.0

Rule: TypeAlias = Callable[[ChatContext], Step]


class _KeptTimeline(Timeline):
    """Keeps what it reports, to be looked at."""

    def __init__(self, client: SidecarClient, ids: SessionIds) -> None:
        super().__init__(client, ids)
        self.kept: list[Event] = []

    def add(self, event: Event) -> None:
        self.kept.append(event)
        super().add(event)


@dataclass
class TextCall:
    """A call that is on.

    Attributes:
        bootstrap: what the sidecar said of it.
        names: external ids by the ids of the wire.
        transferred: the numbers that the caller was put through to.
        endings: for which the call asked to be ended.
    """

    bootstrap: Bootstrap
    session: AgentSession[CallDeps]
    timeline: _KeptTimeline
    client: SidecarClient
    ids: SessionIds
    names: Mapping[str, str]
    prompt: str
    transferred: list[str] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    _query: str | None = None

    async def say(self, words: str, query: str | None = None) -> Heard:
        """The caller says something; the whole of the agent's turn.

        Args:
            query: what the model searches for, where that is not what was said.
        """
        self._query = query
        before = len(self.timeline.kept)
        result: RunResult[None] = await self.session.run(user_input=words)
        heard = Heard(words)
        for event in result.events:
            item = event.item
            if isinstance(item, FunctionCall):
                heard.tool_inputs.append({"tool": item.name, "arguments": _read(item.arguments)})
            elif isinstance(item, FunctionCallOutput):
                heard.tool_outputs.append(_read(item.output))
            elif item.type == "message" and item.role == "assistant":
                heard.answer = f"{heard.answer} {item.text_content or ''}".strip()
        for reported in self.timeline.kept[before:]:
            if isinstance(reported, SearchEvent):
                heard.statuses.append(reported.outcome)
                heard.ms.append(round(reported.ms, 1))
        found = [
            each["id"]
            for output in heard.tool_outputs
            if isinstance(output, dict)
            for each in output.get("results", ())
        ]
        heard.ids = list(dict.fromkeys(found))
        heard.found = [self.names.get(id_, f"unknown {id_}") for id_ in heard.ids]
        return heard

    async def report(self) -> None:
        """Report the timeline to its end, as the end of a call does."""
        await self.timeline.aclose(Deadline.after(_OPEN_S))

    def follow(self, chat_ctx: ChatContext) -> Step:
        """Search for what was said, or for what the case makes of it; read out what came."""
        messages = messages_of(chat_ctx)
        if messages and messages[-1].role == "user":
            return search(self._query or messages[-1].text)
        reply = respond(messages, can_search=False)
        return Say(reply.text) if isinstance(reply, Said) else search(reply.query)


def messages_of(chat_ctx: ChatContext) -> list[Message]:
    """The conversation as the demo's extractive responder reads it."""
    messages = []
    for item in chat_ctx.items:
        if item.type == "message" and item.role in {"user", "assistant"}:
            messages.append(
                Message(role="user" if item.role == "user" else "assistant", content=item.text_content or "")
            )
        elif item.type == "function_call_output":
            messages.append(Message(role="tool", content=item.output))
    return messages


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@asynccontextmanager
async def text_call(
    sidecar: Sidecar,
    names: Mapping[str, str],
    called: str,
    caller: str | None = None,
    *,
    rule: Rule | None = None,
    language: str = "en",
    narrow_to: list[UUID] | None = None,
) -> AsyncIterator[TextCall]:
    """A call to a number, ended as `completed` where nothing else ended it.

    Args:
        rule: what the model does; by default it searches and reads out.
        language: of the caller, who is not always the agent's.
    """
    async with SidecarClient.connect(sidecar.url, sidecar.token) as client:
        request = BootstrapRequest(
            called_number=called,
            caller_number=caller,
            room_name="eval",
            call_id=f"eval-{uuid4()}",
            narrow_to_knowledge_base_ids=narrow_to,
        )
        bootstrap = await client.bootstrap(request, Deadline.after(_OPEN_S))
        ids = SessionIds(bootstrap.session_id, bootstrap.org_id, bootstrap.agent.agent_id)
        timeline = _KeptTimeline(client, ids)
        transferred: list[str] = []

        async def transfer(number: str) -> None:
            transferred.append(number)

        spoken = language_of_call(bootstrap)
        deps = CallDeps(
            client,
            ids,
            timeline,
            spoken,
            spoken if language == spoken else None,
            region_code=bootstrap.agent.region_code,
            handoff=Handoff(bootstrap.agent.handoff_number, transfer, timeline.add),
        )
        prompt = compose(bootstrap, spoken, can_transfer=deps.handoff.possible)

        def decide(chat_ctx: ChatContext) -> Step:
            return (rule or call.follow)(chat_ctx)

        # The settings of `open_session`, as far as they are not about sound.
        async with AgentSession(
            llm=RuledLLM(decide), vad=None, userdata=deps, max_tool_steps=3, user_away_timeout=None
        ) as session:
            endings: list[Ending] = []
            conversation = Conversation(session, deps, _SILENCE_S, endings.append, prompt)
            agent = PhoneAgent(
                prompt,
                bootstrap.agent.greeting,
                deps,
                [*get_knowledge_tools(), *get_handoff_tools(deps)],
                conversation,
                _REPLY_S,
            )
            call = TextCall(bootstrap, session, timeline, client, ids, names, prompt, transferred, endings)
            await session.start(agent, record=False)
            try:
                yield call
            finally:
                await conversation.aclose()
                await call.report()
                await client.end(ids, "completed", "caller_hung_up", Deadline.after(_OPEN_S))
