"""The talking part of a call: the session as we set it, what it reports, trouble and silence."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, cast
from uuid import uuid4

import structlog
from livekit.agents import NOT_GIVEN, AgentSession, inference
from livekit.agents.llm import ChatMessage, RealtimeModel
from livekit.agents.metrics import ModelUsage
from livekit.agents.voice import (
    ConversationItemAddedEvent,
    ErrorEvent,
    FunctionToolsExecutedEvent,
    SpeechCreatedEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
)

from contracts import voice as wire
from worker.call import CallDeps
from worker.grounding import TurnJudge
from worker.messages import content_words, keys, line
from worker.providers import Providers
from worker.reply import code_of
from worker.search_knowledge import NAME
from worker.sidecar_client import TerminalStatus
from worker.text import storable
from worker.timeline import now

_LONGEST_TURN: Final = 8000  # the contract's limit
_FAILURES_TO_GIVE_UP: Final = 3
_HIDDEN: Final = "\N{BULLET}"  # a key that was pressed: which one may be a secret
Source: TypeAlias = Literal["stt", "llm", "tts", "realtime"]
# Failures of the other two are dealt with where the agent speaks.
_SOURCES: Final[dict[str, Source]] = {"stt_error": "stt", "realtime_model_error": "realtime"}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended: its terminal status, and a short code for why."""

    status: TerminalStatus
    reason: str


def open_session(
    providers: Providers, deps: CallDeps, *, silence_s: float, turn_end_max_s: float
) -> AgentSession[CallDeps]:
    """The session of a call, with everything local that LiveKit would else do in its cloud.

    Turn detection and interruption are pinned, because their defaults depend on how the process was
    started. The caller may interrupt from the first word: a telephone cancels its own echo.
    """
    return AgentSession(
        stt=providers.stt or NOT_GIVEN,
        llm=providers.llm,
        tts=providers.tts,
        userdata=deps,
        turn_handling={
            "turn_detection": inference.TurnDetector(version="v1-mini"),
            "endpointing": {"max_delay": turn_end_max_s},
            "interruption": {"mode": "vad"},
        },
        aec_warmup_duration=None,
        max_tool_steps=3,
        user_away_timeout=silence_s,
        conn_options=providers.options,
    )


class Conversation:
    """Listens to a session: puts turns and errors on the timeline, and leaves no dead air."""

    def __init__(
        self,
        session: AgentSession[CallDeps],
        deps: CallDeps,
        silence_s: float,
        hang_up: Callable[[Ending], None],
        prompt: str = "",
    ) -> None:
        self._session, self._deps = session, deps
        self._silence_s, self._hang_up = silence_s, hang_up
        self._failures: dict[str, int] = {}
        self._given_up = False
        self._silence: asyncio.Task[None] | None = None
        self._keyed: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        known = " ".join((prompt, *(line(key, deps.language) for key in keys() if not key.startswith("knowledge."))))
        self._judge = TurnJudge(deps.language, set(content_words(known, deps.language)))
        deps.turns.follow(session)
        session.on("conversation_item_added", self._on_item)
        session.on("function_tools_executed", self._on_tools)
        session.on("error", self._on_error)
        session.on("user_state_changed", self._on_user_state)
        session.on("user_input_transcribed", self._on_transcript)
        # A realtime model's turns begin before anybody knows the caller's words, which come beside the answer.
        self._words_come_late = isinstance(session.llm, RealtimeModel)
        self._turn_at = self._turn_before_at = 0.0
        self._unanswered = False
        if self._words_come_late:
            session.on("speech_created", self._on_speech)

    async def aclose(self) -> None:
        """Stop what is still to be said, and judge the last turn."""
        self._count(unsearched=self._judge.ended())
        self._deps.turns.close()
        if self._deps.prefetch:
            self._deps.prefetch.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def used(self) -> Sequence[ModelUsage]:
        """What the models were used for so far."""
        return self._session.usage.model_usage

    def begins_to_key(self) -> None:
        """The caller presses a key: the agent stops speaking, as for a word of theirs."""
        with contextlib.suppress(RuntimeError):  # what may not be interrupted, such as a goodbye
            self._session.interrupt()

    def has_keyed(self, keys: str) -> None:
        """The caller has keyed this in, which is a turn of theirs; nothing, where it was too much to be meant."""
        if not self._deps.handoff.under_way:
            log.info("keyed_in", session_id=str(self._deps.ids.session_id), count=len(keys))
            self._start(self._answer_keys(keys))

    async def _answer_keys(self, keys: str) -> None:
        with contextlib.suppress(RuntimeError):  # not to be interrupted: the answer comes after it
            await self._session.interrupt()
        with contextlib.suppress(RuntimeError):  # the session is closing
            if keys:
                self._keyed.add(keys)
                self._session.generate_reply(user_input=keys)
            else:
                self._session.say(line("call.trouble", self._deps.language))

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        message = event.item
        if not isinstance(message, ChatMessage) or message.role not in {"user", "assistant"}:
            return
        by_caller = message.role == "user"
        text = storable(message.text_content or "")
        if by_caller and not text.strip():
            return  # a cough, which a realtime model was given as a turn
        self._turn_of(by_caller=by_caller)
        if not by_caller:
            self._judge.agent_said(text)
        elif not self._words_come_late:
            self._begin_turn()
            self._judge.caller_said(text)
        elif message.created_at >= self._turn_before_at:
            self._judge.caller_said(text)
        latency = None if by_caller else self._latency(message)
        self._deps.timeline.add(
            wire.TurnEvent(
                id=uuid4(),
                at=datetime.fromtimestamp(message.created_at, UTC),
                role="caller" if by_caller else "agent",
                text=_HIDDEN * len(text) if by_caller and text in self._keyed else text[:_LONGEST_TURN],
                interrupted=None if by_caller else message.interrupted,
                latency_ms=None if latency is None else max(0.0, latency * 1000),
            )
        )

    def _latency(self, message: ChatMessage) -> float | None:
        """Seconds from the end of the caller's speech to the sound of an answer."""
        if not self._words_come_late:
            return message.metrics.get("e2e_latency")
        # LiveKit has no figure for a realtime model's answer after a "one moment", which has its time by this clock
        began, ended = message.metrics.get("started_speaking_at"), self._deps.caller.ended_at
        answers, self._unanswered = self._unanswered, False
        return began - ended if answers and began and ended else None

    def _on_speech(self, event: SpeechCreatedEvent) -> None:
        if event.source == "generate_reply":
            self._turn_before_at, self._turn_at = self._turn_at, event.created_at
            self._unanswered = True
            self._begin_turn()

    def _begin_turn(self) -> None:
        self._deps.fallback.text = None  # it answers what was asked before
        self._count(unsearched=self._judge.ended())

    def _turn_of(self, *, by_caller: bool) -> None:
        prefetch = self._deps.prefetch
        if prefetch and by_caller:
            prefetch.turn_ended()
        elif prefetch:
            prefetch.drop()  # the turn has its answer

    def _on_transcript(self, event: UserInputTranscribedEvent) -> None:
        if self._deps.prefetch and event.is_final:
            self._deps.prefetch.caller_said(event.transcript)

    def _on_tools(self, event: FunctionToolsExecutedEvent) -> None:
        for call, output in event.zipped():
            if call.name == NAME and output:
                self._judge.searched(output.output)

    def _count(self, *, unsearched: bool) -> None:
        """Put on the timeline that a turn was answered without the search that it needed."""
        if unsearched:
            log.info("answered_without_search", session_id=str(self._deps.ids.session_id))
            event = wire.ErrorEvent(id=uuid4(), at=now(), source="worker", code="answered_without_search")
            self._deps.timeline.add(event)

    def model(self, source: str, code: str | None) -> str | None:
        """Take a failure of a model's, or `None` for a success, and give the words to say in its place.

        There are none where the call is given up: then it is said why.
        """
        if code is None:
            self._failures.pop(source, None)
            return None
        self._note(cast("Source", source), code)
        self._failures[source] = self._failures.get(source, 0) + 1
        if self._given_up or self._failures[source] >= _FAILURES_TO_GIVE_UP:
            self._give_up_once()
            return None
        return self._deps.fallback.text or line("call.trouble", self._deps.language)

    def _on_error(self, event: ErrorEvent) -> None:
        source = _SOURCES.get(getattr(event.error, "type", ""))
        if source is None or event.error.recoverable:
            return  # it is being tried again, or dealt with elsewhere
        code = code_of(event.error.error)
        if source == "realtime":
            # there is no other try; LiveKit would end the call without a word, unless told that it goes on
            event.error.recoverable = True
            self._note(source, code)
            self._give_up_once()
        elif self.model(source, code):
            self._session.say(line("call.trouble", self._deps.language))

    def _note(self, source: Source, code: str) -> None:
        log.warning("provider_failed", session_id=str(self._deps.ids.session_id), source=source, code=code)
        self._deps.timeline.add(wire.ErrorEvent(id=uuid4(), at=now(), source=source, code=code))

    def _give_up_once(self) -> None:
        if not self._given_up:
            self._given_up = True
            self._start(self._give_up())

    def _on_user_state(self, event: UserStateChangedEvent) -> None:
        self._deps.caller.has_become(event.new_state, event.created_at)
        if self._silence:
            self._silence.cancel()
            self._silence = None
        if event.new_state == "speaking" and self._deps.prefetch:
            self._deps.prefetch.drop()
        if event.new_state == "away":
            self._silence = self._start(self._ask_who_is_silent())

    async def _ask_who_is_silent(self) -> None:
        """Ask once, wait as long again, then say goodbye; cancelled when the caller is heard."""
        language = self._deps.language
        await self._session.say(line("call.still_there", language))
        await asyncio.sleep(self._silence_s)
        await self._session.say(line("call.goodbye", language))
        self._hang_up(Ending("completed", "caller_silent"))

    async def _give_up(self) -> None:
        """No model answers: put the caller through to a person, or apologise and hang up."""
        language = self._deps.language
        if self._deps.handoff.possible:
            await self._session.say(line("handoff.connecting", language), allow_interruptions=False)
        if await self._deps.handoff.put_through("outage"):
            self._hang_up(Ending("transferred", "transferred"))
            return
        await self._session.say(line("call.out_of_order", language), allow_interruptions=False)
        self._hang_up(Ending("failed", "outage"))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
