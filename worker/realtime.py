"""A realtime model as a telephone needs it: the caller's turns are ours, and no response keeps the caller waiting.

Turns are taken by the same voice activity and turn detector as in the cascade, not by the model's server, so that a
caller who interrupts, falls silent or is put through is treated alike in both. The server hears the caller alone, with
a little of what was before the words: no silence, and no echo of the agent.
"""

import asyncio
import contextlib
import time
from collections import deque
from dataclasses import replace
from typing import Any, Final

import structlog
from livekit import rtc
from livekit.agents import NOT_GIVEN, APIConnectionError, APIError, NotGivenOr
from livekit.agents.llm import ChatContext, GenerationCreatedEvent, RealtimeError, RealtimeModelError, Tool, ToolChoice
from livekit.plugins import openai
from openai.types.realtime import RealtimeClientEvent, ResponseCreateEvent

from worker.caller_voice import CallerVoice
from worker.realtime_reply import RealtimeReply, Report
from worker.reply import NOT_HEARD, NOT_TOLD, code_of, patience

_BEFORE_S: Final = 1.0  # of sound before voice activity is told: it takes some to be sure, on a busy machine more
_ACCEPTED_S: Final = 1.0  # for what is told; the plugin would wait five, before it asks for the answer

log = structlog.get_logger(__name__)


class PatientModel(openai.realtime.RealtimeModel):
    """OpenAI's wire format, with the limits of a telephone call.

    Args:
        reply_s: seconds that it has to its first sound.
        options: of the plugin's model.
    """

    def __init__(self, *, reply_s: float, **options: Any) -> None:
        super().__init__(turn_detection=None, **options)
        self._reply_s = reply_s
        self.caller = CallerVoice()
        self.report: Report = _unheard

    def attend(self, caller: CallerVoice, report: Report) -> None:
        """Follow this caller, and report how it fares to that."""
        self.caller, self.report = caller, report

    def patience(self) -> float:
        """Seconds to the first sound of a response that is asked for now."""
        return patience(self._reply_s, self.caller.waited_s())

    def session(self, *, turn_detection_disabled: bool = False) -> "PatientSession":
        """The session of one call."""
        return PatientSession(self, turn_detection_disabled=turn_detection_disabled)


class PatientSession(openai.realtime.RealtimeSession):
    """The plugin's session, whose responses end in time and which ends itself without an error."""

    def __init__(self, model: PatientModel, *, turn_detection_disabled: bool) -> None:
        self._call = model
        self._before: deque[rtc.AudioFrame] = deque()
        self._reply: RealtimeReply | None = None
        self._asked_by = self._answered_by = ""  # the ids of the reply's request, and of its response
        self._turn_at: float | None = None
        self._turns: dict[str, float | None] = {}  # when each ended, by the id that the server gave it
        self._broken_off = self._after_caller = False
        self._notes: list[str] = []
        self._lost = False
        super().__init__(model, turn_detection_disabled=turn_detection_disabled)
        self.on("openai_server_event_received", self._on_server_event)

    def push_audio(self, frame: rtc.AudioFrame) -> None:
        """Take what the telephone sends; the server gets what the caller says."""
        self._before.append(frame)
        while self._call.caller.speaking and self._before:
            super().push_audio(self._before.popleft())
        while sum(each.duration for each in self._before) > _BEFORE_S:
            self._before.popleft()

    def commit_audio(self) -> None:
        """The caller's turn has ended."""
        self._turn_at, self._after_caller = time.time(), True
        super().commit_audio()

    def generate_reply(
        self,
        *,
        instructions: NotGivenOr[str] = NOT_GIVEN,
        tool_choice: NotGivenOr[ToolChoice] = NOT_GIVEN,
        tools: NotGivenOr[list[Tool]] = NOT_GIVEN,
    ) -> asyncio.Future[GenerationCreatedEvent]:
        """Ask for a response, which comes, or has words in its place, in time."""
        created: asyncio.Future[GenerationCreatedEvent]
        if self._lost:
            created = asyncio.get_running_loop().create_future()
            created.set_exception(RealtimeError("The connection is lost."))
        else:
            own = " ".join([*([instructions] if instructions else []), *self._notes_of_turn()]) or NOT_GIVEN
            created = super().generate_reply(instructions=own, tool_choice=tool_choice, tools=tools)
        self._answered_by = ""
        may_call = tool_choice != "none"
        self._reply = RealtimeReply(self._call.patience(), self._call.report, super().interrupt, may_call=may_call)
        return asyncio.ensure_future(self._reply.begin(created))

    def truncate(self, *, message_id: str, **where: Any) -> None:
        """Of that message the caller has heard a part."""
        self._broken_off = True
        super().truncate(message_id=message_id, **where)

    def interrupt(self) -> None:
        """Nothing more of what is being answered."""
        super().interrupt()
        if self._reply:
            self._reply.stop()

    async def update_chat_ctx(self, chat_ctx: ChatContext) -> None:
        """Tell the server what became part of the conversation.

        Raises:
            RealtimeError: it can't be told.
        """
        if self._lost:  # the plugin would wait for an answer
            raise RealtimeError("The connection is lost.")
        try:
            async with asyncio.timeout(_ACCEPTED_S):
                await super().update_chat_ctx(chat_ctx)
        except TimeoutError:
            raise RealtimeError("The items were sent, and not accepted yet.") from None

    def send_event(self, event: RealtimeClientEvent | dict[str, Any]) -> None:
        """Send an event, and remember which one asked for the response."""
        if isinstance(event, ResponseCreateEvent):
            self._asked_by = event.event_id or ""
        super().send_event(event)

    def emit(self, event: Any, *arguments: Any) -> None:
        """Pass an event on, as the call needs it."""
        if event == "generation_created" and not arguments[0].user_initiated:
            log.info("late_response_dropped")  # whoever asked for it has been answered otherwise
            super().interrupt()
            return
        if event == "input_audio_transcription_completed" and arguments[0].is_final:
            # the words belong where the turn ended, as a cascade has them, though they may come after the answer
            heard = arguments[0]
            arguments = (replace(heard, turn_started_at=self._turns.pop(heard.item_id, None)),)
        if event == "error":
            self._take_error(arguments[0])
        super().emit(event, *arguments)

    async def aclose(self) -> None:
        """Close the connection; one that was lost has been reported."""
        if self._reply:
            self._reply.stop()
        with contextlib.suppress(APIError):
            await super().aclose()

    def _notes_of_turn(self) -> list[str]:
        """What the caller has not heard, for the replies of one turn: the cascade's model is told the same."""
        if self._after_caller:
            items = reversed(self.chat_ctx.items)
            before = next((item for item in items if getattr(item, "role", "") != "user"), None)
            untold = before is not None and before.type == "function_call_output"
            self._notes = [NOT_HEARD] * self._broken_off + [NOT_TOLD] * untold
            self._broken_off = self._after_caller = False
        return self._notes

    def _take_error(self, error: RealtimeModelError) -> None:
        unconnected = isinstance(error.error, APIConnectionError)
        self._lost = self._lost or not error.recoverable
        if self._reply and (unconnected or self._lost):  # the plugin would wait until it is connected again
            self._reply.break_off("connection" if unconnected else code_of(error.error))

    def _on_server_event(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "input_audio_buffer.committed":
            self._turns[event["item_id"]] = self._turn_at
        elif kind == "response.created":
            response = event["response"]
            if (response.get("metadata") or {}).get("client_event_id") == self._asked_by:
                self._answered_by = response["id"]
        elif kind.startswith("response.") and self._reply:
            response_id = event.get("response_id") or (event.get("response") or {}).get("id")
            if response_id == self._answered_by:
                self._reply.take(event)


def _unheard(_code: str | None) -> str | None:
    return None
