"""The time while a search runs: what the caller hears, and what becomes of it when the caller speaks."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from livekit.agents import AgentStateChangedEvent, RunContext, UserInputTranscribedEvent, UserStateChangedEvent
from livekit.agents.types import NOT_GIVEN
from livekit.agents.voice import SpeechHandle

from contracts.voice import TurnEvent
from worker.call import CallDeps
from worker.deadline import Deadline
from worker.messages import is_acknowledgement
from worker.timeline import now


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Seconds of the tool's wall clock.

    Attributes:
        total: until the model has its output, whatever happens.
        http: until the sidecar must have answered, retry included; less than `total`, so that one
            of the two decides.
        grace: what a nearly finished search still gets after the caller said an "mm-hm", which
            should not throw it away. A caller who goes on to something else ends it at once.
        filler: how long silence lasts before the caller is asked to wait.
        filler_again: after that phrase has begun, how long before silence is measured anew.
    """

    total: float = 4.0
    http: float = 3.8
    grace: float = 0.7
    filler: float = 0.7
    filler_again: float = 1.6


async def while_waiting(
    search: asyncio.Task[Any], ctx: RunContext[CallDeps], limits: SearchLimits, deadline: Deadline
) -> None:
    """Return when the search is done, nothing is left of the deadline, or the caller has moved on."""
    heard: list[str] = []
    moved_on = asyncio.Event()

    def on_transcript(event: UserInputTranscribedEvent) -> None:
        if event.is_final:
            heard.append(event.transcript)
            if not is_acknowledgement(" ".join(heard), ctx.userdata.language):
                moved_on.set()

    ctx.session.on("user_input_transcribed", on_transcript)
    try:
        async with _filler(ctx, limits):
            await _wait(search, ctx.speech_handle, deadline)
        if ctx.speech_handle.interrupted:
            await _grace(search, moved_on, min(limits.grace, deadline.remaining()))
    finally:
        ctx.session.off("user_input_transcribed", on_transcript)


async def _grace(search: asyncio.Task[Any], moved_on: asyncio.Event, seconds: float) -> None:
    """Return when the search is done or the caller is heard to go on to something else: it may not be known yet."""
    told = asyncio.create_task(moved_on.wait())
    try:
        if not moved_on.is_set():
            await asyncio.wait({search, told}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()


async def _wait(search: asyncio.Task[Any], speech: SpeechHandle, deadline: Deadline) -> None:
    """Return when the search is done, the caller's turn has ended, or nothing is left of the deadline."""
    done_or_late = asyncio.create_task(asyncio.wait({search}, timeout=deadline.remaining()))
    try:
        await speech.wait_if_not_interrupted([done_or_late])
    finally:
        done_or_late.cancel()


@contextlib.asynccontextmanager
async def _filler(ctx: RunContext[CallDeps], limits: SearchLimits) -> AsyncIterator[None]:
    """Ask the caller to wait after so much silence; nothing where nobody can hear it.

    It is cut short when the search is done, or the caller speaks: LiveKit would let it end first.
    """
    session, deps = ctx.session, ctx.userdata
    if session.output.audio is None:
        yield
        return
    said: list[tuple[str, SpeechHandle]] = []
    unheard: list[str] = []

    def say(_step: int) -> SpeechHandle:
        phrase = deps.phrases.next(deps.language)
        audio = deps.canned.audio(phrase)
        handle = session.say(phrase, audio=NOT_GIVEN if audio is None else audio, add_to_chat_ctx=False)
        said.append((phrase, handle))
        unheard.append(phrase)
        return handle

    def stop() -> None:
        for _, handle in said:
            if not handle.done():
                handle.interrupt(force=True)

    def on_user_state(event: UserStateChangedEvent) -> None:
        if event.new_state == "speaking":
            stop()

    def on_agent_state(event: AgentStateChangedEvent) -> None:
        if event.new_state == "speaking" and unheard:
            deps.timeline.add(_heard(ctx, unheard.pop()))

    session.on("user_state_changed", on_user_state)
    session.on("agent_state_changed", on_agent_state)
    try:
        async with ctx.with_filler(say, delay=limits.filler, interval=limits.filler_again, max_steps=2):
            yield
    finally:
        session.off("user_state_changed", on_user_state)
        session.off("agent_state_changed", on_agent_state)
        stop()


def _heard(ctx: RunContext[CallDeps], phrase: str) -> TurnEvent:
    """The phrase on the timeline, with the time from the end of the caller's speech to its sound."""
    asked = next((m for m in reversed(ctx.session.history.messages()) if m.role == "user"), None)
    ended = asked.metrics.get("stopped_speaking_at") if asked else None
    if ended is None:  # as with a realtime model, whose messages do not say it
        ended = ctx.userdata.caller.ended_at
    latency = None if ended is None else max(0.0, (time.time() - ended) * 1000)
    return TurnEvent(id=uuid4(), at=now(), role="agent", text=phrase, interrupted=None, latency_ms=latency)
