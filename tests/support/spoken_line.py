"""A telephone line for tests: the framework's own audio pipeline, with doubles where providers would be.

The caller's speech is told to the framework as its ears would tell it: voice activity and a transcript.
What the agent says becomes sound whose samples number the text, and is played in time, so that a test
sees what was heard, from when, and whether to its end.
"""

import array
import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from livekit import rtc
from livekit.agents import NOT_GIVEN, APIConnectOptions, APIError, stt, tts, vad
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.voice import io

_RATE: Final = 24000
_FRAME: Final = _RATE // 50 * 2  # bytes of 20 ms
_SOUND: Final = bytes(_RATE // 5 * 2)
_WORD_S: Final = 0.04
_SPEECH_S: Final = 0.5  # before voice activity is told; more than the silence, or it would have ended before it began
_SILENCE_S: Final = 0.25  # after which voice activity has ended, as LiveKit's has it
_FIRST_NUMBER: Final = 20000  # a sample that no recording of a voice begins with
_PATIENCE_S: Final = 12.0


@dataclass
class Sound:
    """Something that was played to the caller.

    Attributes:
        text: what was said; "(recording)" for sound that no double made.
        at: seconds on the monotonic clock when it began.
        whole: whether it was played to its end; `None` while it plays.
    """

    text: str
    at: float
    whole: bool | None = None


@dataclass
class SpokenLine:
    """The line of one call.

    Attributes:
        heard: what the caller heard, in its order.
        voice_fault: what the voice does with a text instead of speaking it: "error", "hang" or nothing.
        word_s: seconds that a word takes to be said.
        unheard: what the caller said, for a model that hears the sound itself.
    """

    heard: list[Sound] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    synthesized: list[str] = field(default_factory=list)
    voice_fault: Callable[[str], str | None] = lambda _text: None
    word_s: float = _WORD_S
    unheard: list[str] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _activity: list["_Ears"] = field(default_factory=list)
    _words: list["_Transcripts"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vad, self.stt, self.tts = _VAD(self), _STT(self), _Voice(self)
        self._microphone = _Microphone()

    def attach(self, session: Any) -> None:
        """Be the line of this session."""
        session.input.audio = self._microphone
        session.output.audio = Speaker(self)

    def begins_to_speak(self) -> None:
        """The caller is heard, long enough to be no cough."""
        for ears in self._activity:
            ears.tell(vad.VADEventType.START_OF_SPEECH, speaking=True)
            ears.tell(vad.VADEventType.INFERENCE_DONE, speaking=True)

    def has_said(self, words: str) -> None:
        """The caller has fallen silent, and this is what was said; nothing for a cough."""
        self.unheard.append(words)
        if words:
            for transcripts in self._words:
                transcripts.tell(words)
        for ears in self._activity:
            ears.tell(vad.VADEventType.END_OF_SPEECH, speaking=False)

    async def says(self, words: str) -> float:
        """The caller says this; gives the moment of its end."""
        self.begins_to_speak()
        await self.settle()
        await self._microphone.carry(_SOUND)
        await self.settle()
        ended = time.monotonic()
        self.has_said(words)
        return ended

    async def settle(self) -> None:
        """Let the framework take in what it was told."""
        for _ in range(20):
            await asyncio.sleep(0)

    def note(self) -> None:
        """Something has changed on the line."""
        self._changed.set()

    async def until(self, condition: Callable[[], Any], *, seconds: float = _PATIENCE_S) -> Any:
        """Wait until the condition, about what was heard, holds; gives its value."""
        async with asyncio.timeout(seconds):
            while not (value := condition()):
                self._changed.clear()
                with contextlib.suppress(TimeoutError):  # what is not heard, such as a prepared line, changes too
                    await asyncio.wait_for(self._changed.wait(), 0.05)
            return value

    async def hears(self, words: str, *, seconds: float = _PATIENCE_S) -> Sound:
        """Wait until something with these words is being heard, once more than `heard` was asked for before."""

        def found() -> Sound | None:
            return next((sound for sound in self.heard if words in sound.text), None)

        sound: Sound = await self.until(found, seconds=seconds)
        return sound

    async def hears_whole(self, words: str, *, seconds: float = _PATIENCE_S) -> Sound:
        """Wait until something with these words was heard to its end."""

        def found() -> Sound | None:
            return next((sound for sound in self.heard if words in sound.text and sound.whole), None)

        sound: Sound = await self.until(found, seconds=seconds)
        return sound

    def said(self) -> list[str]:
        """The texts that were heard, in their order."""
        return [sound.text for sound in self.heard]

    def number_of(self, text: str) -> int:
        """The sample by which a text is known."""
        self.texts.append(text)
        return _FIRST_NUMBER + len(self.texts) - 1


class _Ears(vad.VADStream):
    def __init__(self, owner: "_VAD", line: SpokenLine) -> None:
        super().__init__(owner)
        self._line = line
        line._activity.append(self)

    def tell(self, kind: vad.VADEventType, *, speaking: bool) -> None:
        self._event_ch.send_nowait(
            vad.VADEvent(
                type=kind,
                samples_index=0,
                timestamp=0.0,
                speech_duration=_SPEECH_S if kind == vad.VADEventType.START_OF_SPEECH else 1.0,
                silence_duration=_SILENCE_S if kind == vad.VADEventType.END_OF_SPEECH else 0.0,
                speaking=speaking,
                raw_accumulated_speech=1.0 if speaking else 0.0,
            )
        )

    async def _main_task(self) -> None:
        try:
            async for _ in self._input_ch:
                pass
        finally:
            self._line._activity.remove(self)


class _VAD(vad.VAD):
    def __init__(self, line: SpokenLine) -> None:
        super().__init__(capabilities=vad.VADCapabilities(update_interval=0.1))
        self._line = line

    def stream(self) -> vad.VADStream:
        return _Ears(self, self._line)


class _Transcripts(stt.RecognizeStream):
    def __init__(self, owner: "_STT", line: SpokenLine, options: APIConnectOptions) -> None:
        super().__init__(stt=owner, conn_options=options)
        self._line = line
        line._words.append(self)

    def tell(self, words: str) -> None:
        self._event_ch.send_nowait(
            stt.SpeechEvent(
                type=stt.SpeechEventType.FINAL_TRANSCRIPT,
                alternatives=[stt.SpeechData(language="en", text=words)],  # type: ignore[arg-type]
            )
        )

    async def _run(self) -> None:
        try:
            async for _ in self._input_ch:
                pass
        finally:
            self._line._words.remove(self)


class _STT(stt.STT[Any]):
    def __init__(self, line: SpokenLine) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=False))
        self._line = line

    async def _recognize_impl(self, *_arguments: Any, **_options: Any) -> stt.SpeechEvent:
        raise NotImplementedError

    def stream(
        self, *, language: Any = NOT_GIVEN, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> stt.RecognizeStream:
        return _Transcripts(self, self._line, conn_options)


class _Voice(tts.TTS[Any]):
    def __init__(self, line: SpokenLine) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=_RATE, num_channels=1)
        self._line = line

    def synthesize(
        self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> tts.ChunkedStream:
        return _Saying(self, self._line, text, conn_options)


class _Saying(tts.ChunkedStream):
    def __init__(self, owner: _Voice, line: SpokenLine, text: str, options: APIConnectOptions) -> None:
        super().__init__(tts=owner, input_text=text, conn_options=options)
        self._line = line

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        line, text = self._line, self._input_text.strip()
        line.synthesized.append(text)
        match line.voice_fault(text):
            case "error":
                raise APIError("the voice is away", retryable=False)
            case "hang":
                await asyncio.Event().wait()
        output_emitter.initialize(request_id="1", sample_rate=_RATE, num_channels=1, mime_type="audio/pcm")
        samples = int(_RATE * line.word_s * len(text.split()))
        output_emitter.push(array.array("h", [line.number_of(text)] * samples).tobytes())
        output_emitter.flush()
        line.note()


class _Microphone(io.AudioInput):
    """Carries as much sound as a turn has to have; what is said in it is a test's to tell."""

    def __init__(self) -> None:
        super().__init__(label="caller")
        self._frames: asyncio.Queue[rtc.AudioFrame] = asyncio.Queue()

    async def carry(self, sound: bytes) -> None:
        """Let the session take this sound in."""
        for start in range(0, len(sound), _FRAME):
            samples = sound[start : start + _FRAME]
            self._frames.put_nowait(rtc.AudioFrame(samples, _RATE, 1, len(samples) // 2))
        await self._frames.join()

    async def __anext__(self) -> rtc.AudioFrame:
        frame = await self._frames.get()
        self._frames.task_done()
        return frame

    def __aiter__(self) -> AsyncIterator[rtc.AudioFrame]:
        return self


class Speaker(io.AudioOutput):
    """Plays in time, and notes what was played."""

    def __init__(self, line: SpokenLine) -> None:
        super().__init__(label="caller", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=None)
        self._line = line
        self._pushed = self._played = 0.0
        self._since: float | None = None
        self._sounds: list[tuple[Sound, float]] = []
        self._end: asyncio.TimerHandle | None = None
        self._flushed = False

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if self._since is None:
            self._since, self._pushed, self._played, self._flushed = time.monotonic(), 0.0, 0.0, False
            self.on_playback_started(created_at=time.time())
        number = frame.data[0] - _FIRST_NUMBER
        text = self._line.texts[number] if 0 <= number < len(self._line.texts) else "(recording)"
        silent = not any(frame.data)
        if not silent and (not self._sounds or self._sounds[-1][0].text != text):
            sound = Sound(text, self._since + self._pushed)
            self._sounds.append((sound, self._pushed))
            self._line.heard.append(sound)
            self._line.note()
        self._pushed += frame.duration

    def flush(self) -> None:
        super().flush()
        self._flushed = True
        if self._since is not None:
            self._plan()

    def clear_buffer(self) -> None:
        if self._since is not None:
            self._finish(interrupted=True)

    def pause(self) -> None:
        if self._since is not None and self._end:
            self._played += time.monotonic() - self._since
            self._end.cancel()
            self._end = None

    def resume(self) -> None:
        if self._since is not None and self._end is None and self._flushed:
            self._since = time.monotonic()
            self._plan()

    def _plan(self) -> None:
        if self._end:
            self._end.cancel()
        assert self._since is not None
        left = self._pushed - self._played - (time.monotonic() - self._since)
        self._end = asyncio.get_running_loop().call_later(max(0.0, left), self._finish)

    def _finish(self, *, interrupted: bool = False) -> None:
        if self._end:
            self._end.cancel()
            self._end = None
        assert self._since is not None
        position = min(self._pushed, self._played + time.monotonic() - self._since) if interrupted else self._pushed
        ends = [start for _, start in self._sounds[1:]] + [self._pushed] * bool(self._sounds)
        for (sound, start), end in zip(self._sounds, ends, strict=True):
            sound.whole = end <= position
            if start > position:
                self._line.heard.remove(sound)
        self._since, self._sounds = None, []
        self.on_playback_finished(playback_position=position, interrupted=interrupted)
        self._line.note()
