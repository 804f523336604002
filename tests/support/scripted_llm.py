"""A language model for tests that says what it was told to say: a double at the provider's edge."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from livekit.agents import APIConnectOptions, APIError, APIStatusError
from livekit.agents.llm import (
    LLM,
    ChatChunk,
    ChatContext,
    ChoiceDelta,
    FunctionToolCall,
    LLMStream,
    Tool,
)


@dataclass(frozen=True)
class Say:
    """A reply in words."""

    text: str


@dataclass(frozen=True)
class Call:
    """A call of a tool, with its arguments as the model would write them."""

    arguments: str
    name: str = "search_knowledge"


@dataclass(frozen=True)
class Calls:
    """Several calls of tools in one completion, and what is said before them."""

    calls: tuple[Call, ...]
    text: str

    def __init__(self, *calls: Call, text: str = "") -> None:
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "text", text)


@dataclass(frozen=True)
class Fail:
    """A failure of the provider's, whose text quotes what the caller said.

    Attributes:
        status: the HTTP status, of a failure that is worth another try.
        after: words that came before it.
    """

    text: str = "provider failed"
    status: int | None = None
    after: str = ""


@dataclass(frozen=True)
class Wait:
    """A provider that answers when it is released, not before."""

    released: asyncio.Event
    then: "Say | Call | Calls | Fail" = field(default_factory=lambda: Say("At last."))


@dataclass(frozen=True)
class Nothing:
    """A completion without a word."""


Step: TypeAlias = Say | Call | Calls | Fail | Wait | Nothing


def search(query: str, **more: Any) -> Call:
    """A call of the search tool."""
    return Call(json.dumps({"query": query, **more}))


class ScriptedLLM(LLM[Any]):
    """Each completion is the next step of the script; it ends with a fixed sentence."""

    def __init__(self, *steps: Step) -> None:
        super().__init__()
        self._steps = list(steps)
        self.prompts: list[ChatContext] = []

    def then(self, *steps: Step) -> None:
        """Go on by these steps."""
        self._steps += steps

    def step(self, chat_ctx: ChatContext) -> Step:
        """The step of the completion that this conversation is given to."""
        self.prompts.append(chat_ctx.copy())
        return self._next(chat_ctx)

    def chat(self, *, chat_ctx: ChatContext, tools: list[Tool] | None = None, **options: Any) -> LLMStream:
        conn_options: APIConnectOptions = options["conn_options"]
        return _Stream(self, self.step(chat_ctx), chat_ctx, tools or [], conn_options)

    def _next(self, _chat_ctx: ChatContext) -> Step:
        return self._steps.pop(0) if self._steps else Say("That is all I have.")


class RuledLLM(ScriptedLLM):
    """Each completion follows from the conversation so far, by a rule of the test's."""

    def __init__(self, rule: Callable[[ChatContext], Step]) -> None:
        super().__init__()
        self._rule = rule

    def _next(self, chat_ctx: ChatContext) -> Step:
        return self._rule(chat_ctx)


class _Stream(LLMStream):
    def __init__(
        self,
        llm: LLM[Any],
        step: Step,
        chat_ctx: ChatContext,
        tools: Sequence[Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(llm, chat_ctx=chat_ctx, tools=list(tools), conn_options=conn_options)
        self._step = step

    async def _run(self) -> None:
        step = self._step
        if isinstance(step, Wait):
            await step.released.wait()
            step = step.then
        if isinstance(step, Nothing):
            return
        if isinstance(step, Fail):
            if step.after:
                words = ChoiceDelta(role="assistant", content=step.after)
                self._event_ch.send_nowait(ChatChunk(id=uuid4().hex, delta=words))
            if step.status:
                raise APIStatusError(step.text, status_code=step.status, retryable=True)
            raise APIError(step.text, retryable=False)
        delta = ChoiceDelta(role="assistant")
        if isinstance(step, Say):
            delta.content = step.text
        else:
            if isinstance(step, Calls) and step.text:
                delta.content = step.text
            calls = step.calls if isinstance(step, Calls) else (step,)
            delta.tool_calls = [
                FunctionToolCall(name=call.name, arguments=call.arguments, call_id=uuid4().hex) for call in calls
            ]
        self._event_ch.send_nowait(ChatChunk(id=uuid4().hex, delta=delta))
