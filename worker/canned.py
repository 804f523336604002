"""The canned lines as sound: said with the call's own voice where there was time, else recorded."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from livekit import rtc


@dataclass(slots=True)
class CannedVoice:
    """The lines of a call that can be heard without asking any model.

    Attributes:
        spoken: the sound of a line, by its text.
    """

    spoken: dict[str, list[rtc.AudioFrame]] = field(default_factory=dict)

    def audio(self, text: str) -> AsyncIterator[rtc.AudioFrame] | None:
        """The sound of that line, or `None` where it has to be synthesised."""
        frames = self.spoken.get(text.strip())
        return None if frames is None else _stream(frames)


async def _stream(frames: list[rtc.AudioFrame]) -> AsyncIterator[rtc.AudioFrame]:
    for frame in frames:
        yield frame
