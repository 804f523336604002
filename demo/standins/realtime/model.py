"""What a realtime session asks of whoever hears, thinks and speaks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from demo.audio import Samples
from demo.standins.realtime.conversation import Item

RATE = 24000  # the one rate of raw PCM that the wire knows


@dataclass(frozen=True)
class Call:
    """A call of a tool, with its arguments as the model writes them."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """What a response consists of: words, calls of tools after them, or nothing at all."""

    text: str = ""
    calls: tuple[Call, ...] = ()


class ResponseFailedError(Exception):
    """The response ends as failed.

    Attributes:
        code: as the wire tells it.
        after: words that were said before.
    """

    def __init__(self, code: str, *, after: str = "") -> None:
        super().__init__(f"The response failed: {code}.")
        self.code, self.after = code, after


class Model(Protocol):
    """Hears, thinks and speaks; samples are at `RATE`."""

    async def hear(self, samples: Samples) -> str:
        """What was said; the empty text for none that is understood."""

    async def answer(self, instructions: str, items: Sequence[Item], tools: frozenset[str]) -> Answer:
        """The next response.

        Args:
            instructions: the prompt.
            items: the conversation, with what was heard as the transcript of its audio.
            tools: those that may be called now.

        Raises:
            ResponseFailedError: where there is none.
        """

    async def speak(self, text: str) -> Samples:
        """The sound of a text."""
