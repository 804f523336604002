"""The canned lines as sound: said with the call's own voice where there was time, else recorded."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from typing import Any, Final

import structlog
from livekit import rtc
from livekit.agents import APIConnectOptions
from livekit.agents.tts import TTS
from livekit.agents.utils.audio import audio_frames_from_file

from worker.messages import language, line

# What is said while a search runs, and what is said when a model is away: heard at once, and without one.
PREPARED: Final = ("knowledge.unavailable", "call.trouble")
RECORDED: Final = ("call.trouble", "call.out_of_order")
_RECORDED_RATE: Final = 16000
_ONE_TRY: Final = APIConnectOptions(max_retry=0, timeout=5.0)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class CannedVoice:
    """The lines of a call that can be heard without asking any model.

    Attributes:
        code: the language of the call (ISO 639).
        spoken: the sound of a line, by its text.
    """

    code: str = "en"
    spoken: dict[str, list[rtc.AudioFrame]] = field(default_factory=dict)

    async def prepare(self, voice: TTS[Any]) -> None:
        """Say the lines to memory, in the call's own voice; on the first failure the rest is left."""
        for text in (*language(self.code).waiting, *(line(key, self.code) for key in PREPARED)):
            try:
                async with voice.synthesize(text, conn_options=_ONE_TRY) as spoken:
                    self.spoken[text] = [audio.frame async for audio in spoken]
            except Exception:  # noqa: BLE001 - whatever a provider's library raises; the voice is asked again later
                log.info("line_not_prepared", prepared=len(self.spoken))
                return

    def audio(self, text: str) -> AsyncIterator[rtc.AudioFrame] | None:
        """The sound of that line, or `None` where it has to be synthesised."""
        frames = self.spoken.get(text.strip())
        return _stream(frames) if frames else None

    def begins_with(self, text: str) -> bool:
        """Whether a prepared line begins so."""
        return any(spoken.startswith(text.strip()) for spoken in self.spoken)

    async def recording(self, text: str) -> AsyncIterator[rtc.AudioFrame]:
        """The recording of that line; of another text, one that says that something went wrong."""
        key = next((key for key in RECORDED if line(key, self.code) == text.strip()), RECORDED[0])
        folder = files("worker") / "recordings"
        file = folder / f"{self.code}.{key}.ogg"
        with as_file(file if file.is_file() else folder / f"en.{key}.ogg") as path:
            async for frame in audio_frames_from_file(str(path), sample_rate=_RECORDED_RATE):
                yield frame


async def _stream(frames: Iterable[rtc.AudioFrame]) -> AsyncIterator[rtc.AudioFrame]:
    for frame in frames:
        yield frame
        await asyncio.sleep(0)  # a line of seconds must not hold up the call's other audio
