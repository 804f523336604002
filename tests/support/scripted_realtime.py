"""The scripted model behind OpenAI's realtime wire: what a call with that pipeline talks to in tests."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
from aiohttp import web
from aiohttp.test_utils import TestServer
from livekit.agents.llm import ChatContext, ChatMessage, FunctionCall, FunctionCallOutput

from demo.audio import Samples
from demo.standins.faults import Endpoint, Faults
from demo.standins.journal import Journal
from demo.standins.realtime.conversation import Item
from demo.standins.realtime.model import RATE, Answer, Call, ResponseFailedError
from demo.standins.realtime.session import Session
from tests.support.scripted_llm import Call as CallStep
from tests.support.scripted_llm import Calls, Fail, Nothing, Say, ScriptedLLM, Wait
from tests.support.spoken_line import SpokenLine

_CODES = {429: "rate_limit_exceeded"}


class ScriptedModel:
    """Hears what the line was told to carry, answers by the script, and speaks in samples that number the text."""

    def __init__(self, script: ScriptedLLM, line: SpokenLine) -> None:
        self._script, self._line = script, line

    async def hear(self, _samples: Samples) -> str:
        """What the caller has said last, of what was not heard yet."""
        return self._line.unheard.pop(0) if self._line.unheard else ""

    async def answer(self, instructions: str, items: Sequence[Item], _tools: frozenset[str]) -> Answer:
        """The next step of the script."""
        step = self._script.step(_context(instructions, items))
        if isinstance(step, Wait):
            await step.released.wait()
            step = step.then
        match step:
            case Fail():
                raise ResponseFailedError(_CODES.get(step.status or 0, "server_error"), after=step.after)
            case Say():
                return Answer(step.text)
            case CallStep():
                return Answer(calls=(Call(step.name, step.arguments),))
            case Calls():
                return Answer(step.text, tuple(Call(call.name, call.arguments) for call in step.calls))
            case Nothing():
                return Answer()

    async def speak(self, text: str) -> Samples:
        """As the line's own voice does it."""
        return np.full(round(RATE * self._line.word_s * len(text.split())), self._line.number_of(text), dtype=np.int16)


@asynccontextmanager
async def serving(script: ScriptedLLM, line: SpokenLine, faults: Faults) -> AsyncIterator[str]:
    """Serve it on a port of its own on loopback; gives the base URL."""

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        model = ScriptedModel(script, line)
        await Session(socket, model, request.query["model"], faults, Journal()).run()
        return socket

    app = web.Application(middlewares=[faults.middleware])
    app.router.add_get(Endpoint.REALTIME, handle)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("/v1"))


def _context(instructions: str, items: Sequence[Item]) -> ChatContext:
    """The conversation as the cascade's model has it."""
    context = ChatContext([ChatMessage(role="system", content=[instructions])])
    for item in items:
        match item["type"]:
            case "function_call":
                call = {name: item[name] for name in ("call_id", "name", "arguments")}
                context.items.append(FunctionCall(**call))
            case "function_call_output":
                context.items.append(FunctionCallOutput(call_id=item["call_id"], output=item["output"], is_error=False))
            case _:
                words = " ".join(part.get("transcript") or part.get("text") or "" for part in item["content"])
                context.items.append(ChatMessage(role=item["role"], content=[words]))
    return context
