"""One call: connect, find the caller, bootstrap, talk, end."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import uuid4

import aiohttp
import structlog
from livekit import api, rtc
from livekit.agents import (
    AgentSession,
    AutoSubscribe,
    CloseEvent,
    CloseReason,
    JobContext,
    RecordingOptions,
)
from livekit.agents.voice.room_io import AudioInputOptions, RoomOptions

from contracts import tracing
from contracts.voice import Bootstrap, InlineEvent
from worker import metrics, usage
from worker.agent import Announcement, PhoneAgent, compose
from worker.call import CALLER_KINDS, CallDeps, bootstrap_request, language_of_call
from worker.canned import CannedVoice
from worker.conversation import Conversation, Ending, open_session
from worker.deadline import Deadline
from worker.errors import DispatchError, HandoffRefusedError, NotFoundError, SidecarError
from worker.handoff import Handoff
from worker.keypad import Keypad
from worker.messages import line
from worker.prefetch import Prefetch
from worker.providers import Providers, open_providers
from worker.search_knowledge import get_knowledge_tools, search_ahead
from worker.settings import Settings
from worker.sidecar_client import SessionIds, SidecarClient
from worker.timeline import Timeline, now
from worker.transfer_to_person import get_handoff_tools

SETTINGS: Final = "settings"
_CALL: Final = "call"
_CALLER_S: Final = 30.0
# The caller hears ringing until then; with 5 s to an apology, the rest is for saying it.
_BOOTSTRAP_S: Final = 2.0
_ANNOUNCEMENT_S: Final = 15.0
_HANG_UP_S: Final = 5.0
_END_S: Final = 10.0
_HUNG_UP: Final = (rtc.DisconnectReason.CLIENT_INITIATED, rtc.DisconnectReason.USER_REJECTED)
RECORD_NOTHING: Final = RecordingOptions(audio=False, traces=False, logs=False, transcript=False)

log = structlog.get_logger(__name__)


async def answer(ctx: JobContext) -> None:
    """Answer one call, which goes on after this; needs `SETTINGS` in the process's userdata."""
    call = Call(ctx, ctx.proc.userdata[SETTINGS])
    ctx.proc.userdata[_CALL] = call
    await call.answer()


async def finish(ctx: JobContext) -> None:
    """End the call for everybody, whatever ended it: the last thing that a job does."""
    call: Call | None = ctx.proc.userdata.pop(_CALL, None)
    if call:
        await call.aclose()


class Call:
    """A call from the first ring to its one terminal status."""

    def __init__(self, ctx: JobContext, settings: Settings) -> None:
        self._ctx, self._settings = ctx, settings
        self._resources = contextlib.AsyncExitStack()
        self._caller: rtc.RemoteParticipant | None = None
        self._deps: CallDeps | None = None
        self._conversation: Conversation | None = None
        self._keypad: Keypad | None = None
        self._ending: Ending | None = None
        self._left: Ending | None = None
        self._refused = False

    async def answer(self) -> None:
        """Bring the call to where the agent speaks, or to the sentence that says why not."""
        ctx = self._ctx
        # also for crash logs, which LiveKit Cloud would else collect where the project records
        ctx.init_recording(RECORD_NOTHING)
        ctx.log_context_fields = {"job_id": ctx.job.id, "room_id": ctx.job.room.sid}
        try:
            await ctx.connect(auto_subscribe=AutoSubscribe.AUDIO_ONLY)
            ctx.room.on("participant_disconnected", self._on_participant_disconnected)
            ctx.room.on("disconnected", self._on_room_disconnected)
            ctx.room.on("sip_dtmf_received", self._on_key)
            if _somebody_answers(ctx.room):
                self._refused = True
                log.warning("second_agent_refused")
                ctx.shutdown("another agent answers")
                return
            async with asyncio.timeout(_CALLER_S):
                self._caller = await ctx.wait_for_participant(kind=CALLER_KINDS)
            await self._answer(self._caller)
            if self._caller.identity not in ctx.room.remote_participants:
                self.hang_up(Ending("completed", "caller_hung_up"))
        except Exception:
            log.exception("call_failed")
            self.hang_up(Ending("failed", "error"))

    def hang_up(self, ending: Ending) -> None:
        """End the call; the first ending given is the one that is reported."""
        self._ending = self._ending or ending
        self._ctx.shutdown(ending.reason)

    async def aclose(self) -> None:
        """Hang up, report what is left and the terminal status, and let go of everything."""
        if self._keypad:
            self._keypad.close()
        if self._conversation and self._deps:
            await self._conversation.aclose()
            for event in usage.events(self._conversation.used, self._settings.prices_file):
                self._deps.timeline.add(event)
        async with self._resources:
            await asyncio.gather(self._delete_room(), self._report_end())
        await asyncio.to_thread(tracing.flush)

    async def _answer(self, caller: rtc.RemoteParticipant) -> None:
        client = await self._resources.enter_async_context(
            SidecarClient.connect(str(self._settings.sidecar_url), self._settings.sidecar_token.get_secret_value())
        )
        job = self._ctx.job
        try:
            request = bootstrap_request(
                caller, metadata=job.metadata, room_name=self._ctx.room.name, room_id=job.room.sid
            )
            bootstrap = await client.bootstrap(request, Deadline.after(_BOOTSTRAP_S))
        except NotFoundError:
            log.warning("call_to_unknown_number", job_id=job.id)
            await self._announce("call.unknown_number", "unknown_number")
        except DispatchError:
            log.exception("dispatch_unreadable", job_id=job.id)
            await self._announce("call.out_of_order", "dispatch_unreadable")
        except SidecarError as error:
            log.error("bootstrap_failed", job_id=job.id, code=error.code)  # noqa: TRY400 - the code says it
            await self._announce("call.out_of_order", "sidecar_unavailable")
        else:
            await self._talk(client, bootstrap)

    async def _talk(self, client: SidecarClient, bootstrap: Bootstrap) -> None:
        ids = SessionIds(bootstrap.session_id, bootstrap.org_id, bootstrap.agent.agent_id)
        language = language_of_call(bootstrap)
        asks_in = None if self._settings.stt_language == "auto" else language
        timeline = Timeline(client, ids)
        deps = CallDeps(
            client,
            ids,
            timeline,
            language,
            asks_in,
            region_code=bootstrap.agent.region_code,
            handoff=Handoff(bootstrap.agent.handoff_number, self._transfer, timeline.add),
            canned=CannedVoice(language),
        )
        if self._settings.prefetch and self._settings.pipeline == "cascade":  # else the words come too late for it
            deps = replace(deps, prefetch=Prefetch(partial(search_ahead, deps), language))
        self._deps = deps
        self._ctx.log_context_fields["session_id"] = str(ids.session_id)
        metrics.note(metrics.STARTED)
        log.info("call_started", agent_id=str(ids.agent_id), language=language)
        if bootstrap.inline_knowledge:
            characters = bootstrap.inline_knowledge.characters
            deps.timeline.add(InlineEvent(id=uuid4(), at=now(), characters=characters))
        silence_s = self._settings.silence_s
        session = open_session(
            self._open_providers(language),
            deps,
            silence_s=silence_s,
            turn_end_max_s=self._settings.turn_end_max_s,
        )
        session.on("close", self._on_session_closed)
        prompt = compose(bootstrap, language, can_transfer=deps.handoff.possible)
        self._conversation = Conversation(session, deps, silence_s, self.hang_up, prompt)
        tools = [*get_knowledge_tools(), *get_handoff_tools(deps)]
        greeting = bootstrap.agent.greeting.strip() or line("greeting", language)
        agent = PhoneAgent(prompt, greeting, deps, tools, self._conversation, self._settings.reply_s)
        await session.start(agent, room=self._ctx.room, room_options=self._room(), record=False, session_host=False)
        talk = self._conversation
        self._keypad = Keypad(self._settings.keys_pause_s, talk.begins_to_key, talk.has_keyed)

    def _open_providers(self, language: str) -> Providers:
        providers = open_providers(self._settings, language)
        self._resources.push_async_callback(providers.aclose)
        return providers

    async def _transfer(self, number: str) -> None:
        """Ask the telephone side to move the caller to that number (SIP REFER), and wait for its answer.

        Raises:
            HandoffRefusedError: when it does not.
        """
        caller = self._caller
        if caller is None or caller.kind != rtc.ParticipantKind.PARTICIPANT_KIND_SIP:
            raise HandoffRefusedError("not_a_phone")
        to = number if number.startswith(("sip:", "sips:", "tel:")) else f"tel:{number.replace(' ', '')}"
        try:
            async with asyncio.timeout(self._settings.transfer_s):
                await self._ctx.transfer_sip_participant(caller, to, play_dialtone=True)
        except TimeoutError:
            raise self._refused_by("timeout") from None
        except api.TwirpError as error:
            status = error.metadata.get("sip_status_code")
            raise self._refused_by(f"sip_{status}" if status else error.code) from None
        except aiohttp.ClientError:
            raise self._refused_by("connection") from None
        self.hang_up(Ending("transferred", "transferred"))

    def _refused_by(self, code: str) -> HandoffRefusedError:
        log.warning("transfer_refused", code=code)
        if self._left:
            self.hang_up(self._left)
        return HandoffRefusedError(code)

    async def _announce(self, key: str, reason: str) -> None:
        """Say one sentence in the default language to a caller whom we have no agent for."""
        language = self._settings.default_language
        providers = self._open_providers(language)
        session: AgentSession[None] = AgentSession(
            tts=providers.tts,
            vad=None,
            turn_handling={"turn_detection": "manual", "interruption": {"mode": "vad"}},
            aec_warmup_duration=None,
            conn_options=providers.options,
        )
        await session.start(
            Announcement(language, _Unwell()),
            room=self._ctx.room,
            room_options=self._room(listen=False),
            record=False,
            session_host=False,
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANNOUNCEMENT_S):
                await session.say(line(key, language), allow_interruptions=False)
        self.hang_up(Ending("failed", reason))

    def _room(self, *, listen: bool = True) -> RoomOptions:
        """Audio with the caller alone; closing is ours: LiveKit does it for some reasons only."""
        return RoomOptions(
            text_input=False,
            audio_input=AudioInputOptions(pre_connect_audio=False) if listen else False,
            participant_kinds=CALLER_KINDS,
            participant_identity=self._caller.identity if self._caller else "",
            close_on_disconnect=False,
        )

    def _on_participant_disconnected(self, participant: rtc.RemoteParticipant) -> None:
        if self._caller and participant.identity == self._caller.identity:
            hung_up = participant.disconnect_reason in _HUNG_UP
            left = Ending("completed", "caller_hung_up") if hung_up else Ending("failed", "caller_lost")
            if self._deps and self._deps.handoff.under_way:
                self._left = left  # or was moved already: the answer to the transfer says which
            else:
                self.hang_up(left)

    def _on_key(self, event: rtc.SipDTMF) -> None:
        """Take a key of the caller's telephone, and of nobody else in the room."""
        caller, by = self._caller, event.participant
        if self._keypad and caller and by and by.identity == caller.identity:
            self._keypad.press(event.digit)

    def _on_room_disconnected(self, _reason: object) -> None:
        self.hang_up(Ending("failed", "room_disconnected"))

    def _on_session_closed(self, event: CloseEvent) -> None:
        if event.reason == CloseReason.ERROR:
            self.hang_up(Ending("failed", "error"))

    async def _delete_room(self) -> None:
        """Drop the telephone's leg too; where another agent answers the call, it is not ours."""
        if self._refused:
            return
        try:
            async with asyncio.timeout(_HANG_UP_S):
                await self._ctx.delete_room()
        except TimeoutError:
            log.warning("room_not_deleted")

    async def _report_end(self) -> None:
        if self._refused:
            return
        ending = self._ending or Ending("failed", "worker_shutdown")
        metrics.note(metrics.ENDED, status=ending.status)
        log.info("call_ended", status=ending.status, reason=ending.reason)
        deps = self._deps
        if deps is None:
            return
        deadline = Deadline.after(_END_S)
        _, ended = await asyncio.gather(
            deps.timeline.aclose(deadline),
            deps.client.end(deps.ids, ending.status, ending.reason, deadline),
            return_exceptions=True,
        )
        if isinstance(ended, SidecarError):
            log.error("end_not_reported", code=ended.code)


class _Unwell:
    """Takes note of a voice that fails while one sentence is said; there is nothing else to do."""

    def model(self, source: str, code: str | None) -> str | None:
        """Log the failure."""
        if code:
            log.warning("provider_failed", source=source, code=code)
        return None


def _somebody_answers(room: rtc.Room) -> bool:
    """Whether an agent joined before us; of two at the same time, one has the smaller name."""
    ours = (_joined(room.local_participant), room.local_participant.identity)
    return any(
        (_joined(other), other.identity) < ours
        for other in room.remote_participants.values()
        if other.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
    )


def _joined(participant: rtc.Participant) -> datetime:
    return participant.joined_at or datetime.min.replace(tzinfo=UTC)
