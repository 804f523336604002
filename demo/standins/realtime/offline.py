"""A realtime model made of the recogniser, the responder and the voice of the other stand-ins."""

from collections.abc import Sequence
from typing import Protocol

from demo.audio import Samples
from demo.standins.espeak import EspeakError
from demo.standins.journal import Journal
from demo.standins.realtime.conversation import Item
from demo.standins.realtime.model import RATE, Answer, Call, ResponseFailedError
from demo.standins.recognizer import Recognition
from demo.standins.responder import SEARCH_TOOL, Message, Search, respond, search_arguments
from demo.standins.voice import speak_off_loop


class Recognizes(Protocol):
    """Speech to text."""

    async def transcribe(self, samples: Samples, rate: int) -> Recognition:
        """What was said."""


class OfflineModel:
    """Understands nothing, as the responder does not, and invents nothing."""

    def __init__(self, recognizer: Recognizes, journal: Journal, *, voice_variant: str = "") -> None:
        self._recognizer, self._journal, self._variant = recognizer, journal, voice_variant

    async def hear(self, samples: Samples) -> str:
        """What was said, of the sentences that are expected."""
        return (await self._recognizer.transcribe(samples, RATE)).text

    async def answer(self, instructions: str, items: Sequence[Item], tools: frozenset[str]) -> Answer:
        """The responder's next turn."""
        system = Message(role="system", content=instructions)
        reply = respond([system, *map(_message, items)], can_search=SEARCH_TOOL in tools)
        if isinstance(reply, Search):
            return Answer(calls=(Call(SEARCH_TOOL, search_arguments(reply)),))
        return Answer(reply.text)

    async def speak(self, text: str) -> Samples:
        """The sound of a text.

        Raises:
            ResponseFailedError: there is no such voice.
        """
        try:
            with self._journal.record("synthesis") as entry:
                samples = await speak_off_loop(text, RATE, variant=self._variant)
                entry.update(text=text, audio_seconds=round(len(samples) / RATE, 3))
        except EspeakError:
            raise ResponseFailedError("server_error") from None
        return samples


def _message(item: Item) -> Message:
    match item["type"]:
        case "function_call_output":
            return Message(role="tool", content=item["output"])
        case "function_call":
            return Message(role="assistant")
    words = (part.get("text") or part.get("transcript") or "" for part in item["content"])
    return Message(role=item["role"], content=" ".join(words))
