"""LiveKit's realtime plugin against the stand-in, as the plugin is and as the worker has it, over real sockets."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from livekit import rtc
from livekit.agents import APIConnectOptions
from livekit.agents.llm import (
    FunctionCall,
    FunctionCallOutput,
    GenerationCreatedEvent,
    InputTranscriptionCompleted,
    RealtimeModelError,
    function_tool,
)
from livekit.plugins import openai
from openai.types.realtime import AudioTranscription

from demo.audio import Samples
from demo.standins.faults import Endpoint, Fault
from demo.standins.server import PCM_RATE, StandIns
from demo.standins.voice import speak
from tests.support.realtime_wire import EVENTS
from worker.caller_voice import CallerVoice
from worker.realtime import PatientModel

QUESTION = "Where can I leave my umbrella?"
ANSWER = "Leave it behind the second door."
PATIENCE_S = 30.0
ONCE = APIConnectOptions(max_retry=0, timeout=5.0)
SCHEMA = {
    "name": "search_knowledge",
    "description": "Searches.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


@function_tool(raw_schema=SCHEMA)
async def search_knowledge(raw_arguments: dict[str, object]) -> str:
    raise AssertionError("the test answers the call itself")


@dataclass(frozen=True)
class Server:
    stand_ins: StandIns
    url: str


@pytest_asyncio.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    stand_ins = StandIns([QUESTION], api_key="key")
    async with stand_ins.serve() as url:
        yield Server(stand_ins, url)


@asynccontextmanager
async def session_of(model: Any) -> AsyncIterator[Any]:
    """A session of that model, each of whose events is one that OpenAI's types know."""
    session = model.session()
    session.on("openai_server_event_received", EVENTS.validate_python)
    try:
        await session.update_instructions("Answer from the knowledge.")
        await session.update_tools([search_knowledge])
        yield session
    finally:
        await session.aclose()
        await model.aclose()


def happens(session: Any, name: str, when: Callable[[Any], bool] = lambda _event: True) -> "asyncio.Future[Any]":
    """The next event of that name for which the condition holds."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def take(event: Any) -> None:
        if not future.done() and when(event):
            future.set_result(event)

    session.on(name, take)
    return asyncio.ensure_future(asyncio.wait_for(future, PATIENCE_S))


def push(session: Any, samples: Samples) -> None:
    """Push sound as a telephone gives it, 20 ms at a time."""
    step = PCM_RATE // 50
    for start in range(0, len(samples), step):
        piece = samples[start : start + step]
        session.push_audio(rtc.AudioFrame(piece.tobytes(), PCM_RATE, 1, len(piece)))


def question() -> Samples:
    silence = np.zeros(PCM_RATE, dtype=np.int16)
    return np.concatenate([silence[: PCM_RATE // 4], speak(QUESTION, PCM_RATE), silence])


async def collected(generation: GenerationCreatedEvent) -> tuple[str, float, list[FunctionCall]]:
    """Words, seconds of sound and calls of a response."""
    words, seconds = "", 0.0
    async for message in generation.message_stream:
        words += "".join([piece async for piece in message.text_stream])
        seconds += sum([frame.duration async for frame in message.audio_stream])
    return words, seconds, [call async for call in generation.function_stream]


async def answer(session: Any, call: FunctionCall) -> None:
    """Give the call its output."""
    output = json.dumps({"status": "ok", "results": [{"type": "knowledge", "content": ANSWER}]})
    context = session.chat_ctx.copy()
    context.insert(FunctionCallOutput(call_id=call.call_id, name=call.name, output=output, is_error=False))
    await session.update_chat_ctx(context)


def is_final(event: InputTranscriptionCompleted) -> bool:
    return event.is_final


async def test_the_plugin_as_it_is_asks_answers_and_is_interrupted(server: Server) -> None:
    model = openai.realtime.RealtimeModel(
        base_url=server.url,
        api_key="key",
        input_audio_transcription=AudioTranscription(model="any"),
    )
    async with session_of(model) as session:
        started, stopped = happens(session, "input_speech_started"), happens(session, "input_speech_stopped")
        heard = happens(session, "input_audio_transcription_completed", is_final)
        created = happens(session, "generation_created")
        push(session, question())
        await started
        await stopped
        assert (await heard).transcript == QUESTION
        words, _, (call,) = await collected(await created)
        assert (words, call.name, json.loads(call.arguments)) == ("", "search_knowledge", {"query": QUESTION})
        await answer(session, call)
        words, seconds, _ = await collected(await session.generate_reply())
        assert words == ANSWER
        assert seconds > 1
        (message,) = [item for item in session.chat_ctx.items if item.type == "message" and item.role == "assistant"]
        truncated = happens(session, "openai_server_event_received", lambda event: "truncated" in event["type"])
        session.truncate(message_id=message.id, modalities=["audio"], audio_end_ms=300)
        assert (await truncated)["audio_end_ms"] == 300


def patient(server: Server, reply_s: float = 10.0) -> tuple[PatientModel, list[str | None]]:
    """The worker's model, and what it reports of itself."""
    model = PatientModel(
        reply_s=reply_s,
        base_url=f"{server.url}/realtime",
        api_key="key",
        input_audio_transcription=AudioTranscription(model="any"),
        conn_options=ONCE,
    )
    reported: list[str | None] = []

    def report(code: str | None) -> str | None:
        reported.append(code)
        return "Something went wrong." if code else None

    model.attend(CallerVoice(), report)
    return model, reported


async def said(model: PatientModel, session: Any, samples: Samples) -> str:
    """Let the caller say this between silences, and end the turn; gives what was heard."""
    heard = happens(session, "input_audio_transcription_completed", is_final)
    push(session, np.zeros(PCM_RATE * 5, dtype=np.int16))
    model.caller.has_become("speaking", 1000.0)
    push(session, samples)
    model.caller.has_become("listening", 1003.0)
    push(session, np.zeros(PCM_RATE * 5, dtype=np.int16))
    before = time.time()
    session.commit_audio()
    after = time.time()
    event = await heard
    assert before <= event.turn_started_at <= after
    return str(event.transcript)


async def test_the_server_hears_the_callers_words_and_no_silence(server: Server) -> None:
    model, _ = patient(server)
    async with session_of(model) as session:
        words = speak(QUESTION, PCM_RATE)
        assert await said(model, session, words) == QUESTION
    sent = server.stand_ins.journal.entries[-1]["audio_seconds"]
    assert len(words) / PCM_RATE <= sent <= len(words) / PCM_RATE + 1.2


async def test_a_response_comes_through_as_it_is(server: Server) -> None:
    model, reported = patient(server)
    async with session_of(model) as session:
        await said(model, session, question())
        _, _, (call,) = await collected(await session.generate_reply())
        await answer(session, call)
        words, seconds, _ = await collected(await session.generate_reply())
    assert words == ANSWER
    assert seconds > 1
    assert reported == [None, None]


@pytest.mark.parametrize(
    ("fault", "reply_s", "code"),
    [
        (Fault(endpoint=Endpoint.RESPONSE, times=1, status=429), 10.0, "rate_limit_exceeded"),
        (Fault(endpoint=Endpoint.RESPONSE, times=1, delay=3600), 1.0, "TimeoutError"),
        (Fault(endpoint=Endpoint.RESPONSE, times=1, delay=3600, after=1), 10.0, "TimeoutError"),
        (Fault(endpoint=Endpoint.RESPONSE, times=1, drop=True), 10.0, "connection"),
        (Fault(endpoint=Endpoint.RESPONSE, times=1, drop=True, after=1), 10.0, "connection"),
        (Fault(endpoint=Endpoint.RESPONSE, times=1, status=402), 10.0, "insufficient_quota"),
    ],
    ids=["fails", "hangs", "breaks off", "drops", "drops in the middle", "is not paid for"],
)
async def test_a_response_that_does_not_come_has_words_in_its_place(
    server: Server, fault: Fault, reply_s: float, code: str
) -> None:
    model, reported = patient(server, reply_s)
    async with session_of(model) as session:
        created = await session.generate_reply()
        await collected(created)
        server.stand_ins.faults.set(fault)
        words, _, _ = await collected(await session.generate_reply())
    assert words.endswith("Something went wrong.")
    assert reported == [None, code]


async def test_a_connection_that_is_lost_for_good_is_told_once_and_waited_for_by_nobody(server: Server) -> None:
    model, _ = patient(server)
    async with session_of(model) as session:
        await collected(await session.generate_reply())
        lost = happens(session, "error", lambda error: not error.recoverable)
        server.stand_ins.faults.set(Fault(endpoint=Endpoint.RESPONSE, times=1, drop=True))
        await collected(await session.generate_reply())
        error: RealtimeModelError = await lost
        words, _, _ = await collected(await session.generate_reply())
    assert error.label
    assert words == "Something went wrong."
