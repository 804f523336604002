"""A call without a LiveKit server: a real JobContext over a room that a test drives.

What crosses LiveKit's edge is doubled: the room, and the session's audio, so that it talks in text, or on a
`SpokenLine` through the framework's own audio pipeline.
Calls on a real server are the acceptance tests'.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, cast
from unittest.mock import AsyncMock, create_autospec

import pytest
from livekit import rtc
from livekit.agents import Agent, AgentSession, JobContext
from livekit.agents.testing import fake_job_context

from demo.standins.faults import Faults
from tests.support import scripted_realtime
from tests.support.fake_sidecar import TOKEN, FakeSidecar
from tests.support.scripted_llm import ScriptedLLM
from tests.support.spoken_line import SpokenLine
from worker import entrypoint
from worker.call import CallDeps
from worker.search_knowledge import get_knowledge_tools
from worker.settings import Settings
from worker.waiting import SearchLimits

CALLER: Final = "+15550100199"
CALLED: Final = "+15550101000"
_KINDS: Final = rtc.ParticipantKind
PIPELINE = "cascade"  # of calls on a line; the fixture `pipeline` sets it
_START: Final = datetime(2026, 11, 30, 20, 15, tzinfo=UTC)


class FakeRoom(rtc.EventEmitter[str]):
    """A room whose participants come and go as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.name = f"call-_{CALLER}_a1"
        self.local_participant = participant("agent-b", _KINDS.PARTICIPANT_KIND_AGENT, joined=1)
        self.remote_participants: dict[str, Any] = {}
        self.connect = AsyncMock()

    def isconnected(self) -> bool:
        """As `rtc.Room` says it."""
        return True

    def join(self, other: Any) -> None:
        """Let somebody be in the room."""
        self.remote_participants[other.identity] = other

    def leave(self, other: Any, reason: int) -> None:
        """Let somebody leave for that reason."""
        del self.remote_participants[other.identity]
        other.disconnect_reason = reason
        self.emit("participant_disconnected", other)


def participant(identity: str, kind: int, *, joined: int = 0, **attributes: str) -> Any:
    """Somebody in the room, who joined that many seconds after the start."""
    double = create_autospec(rtc.RemoteParticipant, instance=True)
    double.identity, double.sid, double.kind = identity, f"PA_{identity}", kind
    double.state = rtc.ParticipantState.PARTICIPANT_STATE_ACTIVE
    double.joined_at = _START + timedelta(seconds=joined)
    double.attributes = {f"sip.{name}": value for name, value in attributes.items()}
    double.track_publications = {}
    return double


def phone() -> Any:
    """A caller on a telephone."""
    return participant(
        f"sip_{CALLER}",
        _KINDS.PARTICIPANT_KIND_SIP,
        phoneNumber=CALLER,
        trunkPhoneNumber=CALLED,
        callID="SCL_9xkTq2",
    )


def settings_for(sidecar_url: str, **fields: Any) -> Settings:
    """Settings of a worker whose models are at nobody's address."""
    return Settings.model_validate(
        {
            "LIVEKIT_URL": "ws://127.0.0.1:1",
            "LIVEKIT_API_KEY": "key",
            "LIVEKIT_API_SECRET": "secret",
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
            "sidecar_url": sidecar_url,
            "sidecar_token": TOKEN,
            **fields,
        }
    )


@dataclass
class FakeCall:
    """A call that a test drives.

    Attributes:
        shutdowns: the reasons for which the job was asked to shut down.
        deleted: how often the room was deleted.
        said: what was said aloud.
        faults: how a realtime model misbehaves.
    """

    ctx: JobContext
    room: FakeRoom
    caller: Any
    sidecar: FakeSidecar
    shutdowns: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    deleted: int = 0
    faults: Faults = field(default_factory=Faults)
    _down: asyncio.Event = field(default_factory=asyncio.Event)
    _talking: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def session(self) -> AgentSession[Any]:
        """The session of the call."""
        session = self.ctx._primary_agent_session
        assert session
        return session

    @property
    def deps(self) -> CallDeps:
        """What the agent and its tools have of the call."""
        deps: CallDeps = self.session.userdata
        return deps

    async def answer(self) -> None:
        """What LiveKit does with a job: run the entrypoint."""
        await entrypoint.answer(self.ctx)

    async def heard(self, words: str) -> None:
        """Wait until this was said, and said to its end."""
        async with asyncio.timeout(5):
            while words not in self.said:
                self._talking.clear()
                await self._talking.wait()
        await self.session.wait_for_idle()

    async def shut_down(self) -> None:
        """Wait until the call asks for its end."""
        await asyncio.wait_for(self._down.wait(), 5)

    async def finish(self) -> None:
        """What LiveKit does at the end of a job: close the session, then the hook."""
        session = self.ctx._primary_agent_session
        if session:
            await session.aclose()
        await entrypoint.finish(self.ctx)

    def say(self, words: str) -> None:
        """Take note that something is said."""
        self.said.append(words)
        self._talking.set()

    def on_shutdown(self, reason: str) -> None:
        """Take note that the job was asked to shut down."""
        self.shutdowns.append(reason)
        self._down.set()


@asynccontextmanager
async def fake_call(
    monkeypatch: pytest.MonkeyPatch,
    sidecar: FakeSidecar,
    llm: ScriptedLLM | None = None,
    *,
    metadata: str = "",
    sidecar_url: str | None = None,
    line: SpokenLine | None = None,
    limits: SearchLimits | None = None,
    keep_llm: bool = False,
    **settings: Any,
) -> AsyncIterator[FakeCall]:
    """A call whose caller is in the room, and whose session talks by the script: in text, or on that line."""
    room, caller, faults = FakeRoom(), phone(), Faults()
    room.join(caller)
    llm = None if keep_llm else llm or ScriptedLLM()
    async with AsyncExitStack() as parts:
        if line and llm and PIPELINE == "realtime":
            url = await parts.enter_async_context(scripted_realtime.serving(llm, line, faults))
            settings = {"pipeline": "realtime", "realtime_base_url": url, **settings}
            llm = None
        ctx = parts.enter_context(fake_job_context(room=cast("rtc.Room", room), job_metadata=metadata))
        call = FakeCall(ctx, room, caller, sidecar, faults=faults)
        ctx.proc.userdata[entrypoint.SETTINGS] = settings_for(sidecar_url or sidecar.url, **settings)
        monkeypatch.setattr(ctx, "_on_shutdown", call.on_shutdown)
        monkeypatch.setattr(entrypoint, "get_knowledge_tools", partial(get_knowledge_tools, limits))

        async def delete_room() -> None:
            call.deleted += 1

        monkeypatch.setattr(ctx, "delete_room", delete_room)
        _talk(monkeypatch, call, llm, line)
        try:
            yield call
        finally:  # also of a call whose test has failed: its connections would hold up the servers' end
            await call.finish()
            await ctx._on_cleanup()


def _talk(monkeypatch: pytest.MonkeyPatch, call: FakeCall, llm: ScriptedLLM | None, line: SpokenLine | None) -> None:
    start, init, say = AgentSession.start, AgentSession.__init__, AgentSession.say

    def silent_init(self: AgentSession[Any], **options: Any) -> None:
        if "llm" in options and llm is not None:
            options["llm"] = llm
        if line is None:
            for name in ("stt", "tts", "turn_handling"):
                options.pop(name, None)
            init(self, **{**options, "vad": None, "user_away_timeout": None})
            return
        turns = {
            **options["turn_handling"],
            "turn_detection": "vad",
            "endpointing": {"min_delay": 0.01, "max_delay": 0.02},
        }
        ears = {"vad": line.vad, "turn_handling": turns} if "stt" in options else {}
        heard = {"stt": line.stt} if options.get("stt") else {}
        init(self, **{**options, **ears, **heard, "tts": line.tts})

    async def start_without_room(self: AgentSession[Any], agent: Agent, **options: Any) -> None:
        assert options["record"] is False
        assert options["session_host"] is False
        if line:
            line.attach(self)
        await start(self, agent, record=False)

    def note(self: AgentSession[Any], text: str, **options: Any) -> Any:
        call.say(text)
        return say(self, text, **options)

    monkeypatch.setattr(AgentSession, "__init__", silent_init)
    monkeypatch.setattr(AgentSession, "start", start_without_room)
    monkeypatch.setattr(AgentSession, "say", note)
