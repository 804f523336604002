"""The turns of a call as time passes in them: from the caller's last word to the answer's first sound."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar

from livekit.agents import (
    AgentSession,
    AgentStateChangedEvent,
    ConversationItemAddedEvent,
    UserInputTranscribedEvent,
)
from livekit.agents.llm import ChatMessage
from opentelemetry.context import Context
from opentelemetry.trace import Span

from contracts import tracing
from worker import metrics

Outcome: TypeAlias = Literal["answered", "interrupted", "unanswered"]
Clock: TypeAlias = Callable[[], float]
_NONE: Final = Context()
_Chunk = TypeVar("_Chunk")


@dataclass(slots=True)
class Turn:
    """One turn; times are seconds since the epoch.

    Attributes:
        began: when the caller had finished; until that is known, when the words were.
        is_committed: whether the turn is the agent's: its words are in the conversation.
        searches, running: how often the knowledge was asked, and how many of these are under way.
        first_audio, filler, answer: when the caller first heard anything, a phrase while a search ran, the answer.
    """

    began: float
    trace: tracing.Reserved | None = field(default_factory=tracing.Reserved.new)
    is_committed: bool = False
    searches: int = 0
    running: int = 0
    first_audio: float | None = None
    filler: float | None = None
    answer: float | None = None

    @property
    def context(self) -> Context:
        """The parent of what happens in the turn."""
        return self.trace.context if self.trace else _NONE


class Turns:
    """Follows a session by its events, and writes each turn down as one trace when it is over."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._turn: Turn | None = None

    def follow(self, session: AgentSession[Any]) -> None:
        """Listen to a session."""
        session.on("user_input_transcribed", self._on_transcript)
        session.on("conversation_item_added", self._on_item)
        session.on("agent_state_changed", self._on_agent_state)

    def close(self) -> None:
        """The call is over, and so is its last turn."""
        self._end("unanswered")

    @contextmanager
    def search(self, name: str) -> Iterator[Span]:
        """The step of a call of the tool, for the turn that is under way."""
        turn = self._turn
        if turn:
            turn.searches += 1
            turn.running += 1
            turn.answer = None  # what was heard before announced the search
        try:
            with self.step(f"execute_tool {name}") as span:
                span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name})
                yield span
        finally:
            if turn:
                turn.running -= 1

    @contextmanager
    def step(self, name: str) -> Iterator[Span]:
        """A step of the turn that is under way."""
        with tracing.step(name, parent=self._turn.context if self._turn else _NONE) as span:
            yield span

    def to_first(self, name: str, chunks: AsyncGenerator[_Chunk, None]) -> AsyncGenerator[_Chunk, None]:
        """The same, with a step from when it is asked for to the first of it."""
        return self._to_first(name, chunks) if tracing.is_on() else chunks

    async def _to_first(self, name: str, chunks: AsyncGenerator[_Chunk, None]) -> AsyncGenerator[_Chunk, None]:
        turn, asked, is_first = self._turn, self._clock(), True
        try:
            async for chunk in chunks:
                if is_first:
                    is_first = False
                    tracing.written(name, asked, self._clock(), parent=turn.context if turn else _NONE)
                yield chunk
        finally:
            await chunks.aclose()

    def _on_transcript(self, event: UserInputTranscribedEvent) -> None:
        if event.is_final and (self._turn is None or self._turn.is_committed):
            self._begin()

    def _on_item(self, event: ConversationItemAddedEvent) -> None:
        message = event.item
        if not isinstance(message, ChatMessage):
            return
        if message.role == "user":
            self._committed(message)
        elif message.role == "assistant" and self._turn and self._turn.is_committed and not self._turn.running:
            self._turn.answer = self._turn.answer or message.metrics.get("started_speaking_at")
            if self._turn.answer:
                self._end("answered")

    def _committed(self, message: ChatMessage) -> None:
        if self._turn is None or self._turn.is_committed:
            self._begin()
        turn = self._turn
        if turn is None:
            return
        turn.is_committed = True
        turn.began = message.metrics.get("stopped_speaking_at", turn.began)
        if "end_of_turn_delay" in message.metrics:
            ended = turn.began + message.metrics["end_of_turn_delay"]
            tracing.written("end_of_turn", turn.began, ended, parent=turn.context)

    def _on_agent_state(self, event: AgentStateChangedEvent) -> None:
        turn = self._turn
        if event.new_state != "speaking" or turn is None or not turn.is_committed:
            return
        turn.first_audio = turn.first_audio or event.created_at
        if turn.running:
            turn.filler = turn.filler or event.created_at
        else:
            turn.answer = turn.answer or event.created_at

    def _begin(self) -> None:
        self._end("interrupted")
        self._turn = Turn(self._clock())

    def _end(self, otherwise: Outcome) -> None:
        """Write the turn down that is under way, if there is one and it came to be one."""
        turn, self._turn = self._turn, None
        if turn is None or not turn.is_committed:
            return
        outcome: Outcome = "answered" if turn.answer else otherwise
        if turn.trace:
            heard = {
                f"answerline__turn__{name}_s": at - turn.began
                for name, at in (("first_audio", turn.first_audio), ("filler", turn.filler), ("answer", turn.answer))
                if at is not None
            }
            turn.trace.write(
                "turn",
                turn.began,
                turn.answer or self._clock(),
                answerline__turn__outcome=outcome,
                answerline__turn__searches=turn.searches,
                **heard,
            )
        _measure(turn, outcome)


def _measure(turn: Turn, outcome: Outcome) -> None:
    metrics.note(metrics.TURNS, outcome=outcome)
    if turn.first_audio:
        metrics.note(metrics.FIRST_AUDIO, max(0.0, turn.first_audio - turn.began))
    if turn.filler:
        metrics.note(metrics.FILLER, max(0.0, turn.filler - turn.began))
    if turn.answer:
        searched = "true" if turn.searches else "false"
        metrics.note(metrics.ANSWER, max(0.0, turn.answer - turn.began), searched=searched)
