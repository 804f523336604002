"""A telephone caller: to an agent it looks like a participant that LiveKit SIP made for a phone."""

import asyncio
import secrets
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
from livekit import api, rtc

from demo.audio import TELEPHONE_RATE, Samples, over_the_telephone, to_wav, trim_end
from demo.hearing import Ear, Tape
from demo.standins.voice import speak_off_loop

_FRAME: Final = TELEPHONE_RATE // 50  # 20 ms, as telephones send
_VOICE_RATE: Final = 24000
_QUEUE_MS: Final = 100  # LiveKit's default is a second, which would be a second of delay
_SILENCE: Final = np.zeros(_FRAME, dtype=np.int16)
_ANSWER_OVER_S: Final = 1.2


class CallEndedError(Exception):
    """The call is over, and what was waited for did not come; the text says who ended it."""


class NoAnswerError(Exception):
    """Nothing was heard in time, or what was heard did not end, or the call did not."""


@dataclass(frozen=True)
class Utterance:
    """What the caller said, and when it went over the line (seconds since the epoch)."""

    text: str
    start: float
    end: float


@dataclass(frozen=True)
class Answer:
    """Sound from the other side, from its first to its last (seconds since the epoch).

    Attributes:
        delay: seconds from the end of the caller's own words to the start; None before the caller said any.
    """

    start: float
    end: float
    delay: float | None


class Caller:
    """One call, as long as the `async with` block; at its end the recording is written.

    Args:
        url: of the LiveKit server; `key` and `secret` sign the token.
        caller_number: in E.164; None for a caller who withholds it.
        called_number: in E.164.
        agent_name: the agent to dispatch to the room; None to dispatch none.
        recording: a WAV file for what is heard, 8 kHz mono, from the moment of dialling.
        room: its name; by default one as LiveKit SIP's individual dispatch rules give it.
        voice_variant: of espeak-ng; the agent's voice is the plain one.
    """

    def __init__(  # noqa: PLR0913 - what a call consists of
        self,
        url: str,
        key: str,
        secret: str,
        *,
        caller_number: str | None,
        called_number: str,
        agent_name: str | None,
        recording: Path | None = None,
        room: str | None = None,
        voice_variant: str = "f3",
    ) -> None:
        number = caller_number or f"anonymous-{secrets.token_hex(4)}"
        self.call_id = f"SCL_{secrets.token_urlsafe(9)}"
        self.room_name = room or f"call-_{number}_{secrets.token_hex(6)}"
        self.ended = asyncio.Event()
        self.end_reason = ""
        attributes = {
            "sip.callID": self.call_id,
            "sip.callIDFull": str(uuid.uuid4()),
            "sip.callStatus": "active",
            "sip.trunkPhoneNumber": called_number,
        }
        if caller_number is not None:
            attributes["sip.phoneNumber"] = caller_number
        self._url = url
        self._token = (
            api.AccessToken(key, secret)
            .with_identity(f"sip_{number}")
            .with_name(f"Phone {number}")
            .with_kind("sip")
            .with_attributes(attributes)
            .with_grants(api.VideoGrants(room_join=True, room=self.room_name))
        )
        if agent_name is not None:
            dispatch = api.RoomAgentDispatch(agent_name=agent_name)
            self._token.with_room_config(api.RoomConfiguration(agents=[dispatch]))
        self._recording, self._variant = recording, voice_variant
        # One clock for the whole call, comparable with other processes' and never set back.
        self._epoch = time.time() - time.monotonic()
        self._room = rtc.Room()
        self._source = rtc.AudioSource(TELEPHONE_RATE, 1, queue_size_ms=_QUEUE_MS)
        self._ear = Ear(TELEPHONE_RATE)
        self._tape = Tape(TELEPHONE_RATE, self._now())
        self._outgoing: deque[tuple[Samples, asyncio.Future[float] | None]] = deque()
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._said_until: float | None = None
        self._listened_until = 0.0

    async def __aenter__(self) -> Self:
        """Raises livekit.rtc.ConnectError where the server refuses or cannot be reached."""
        self._room.on("track_subscribed", self._on_track)
        self._room.on("participant_disconnected", self._on_participant_left)
        self._room.on("disconnected", self._on_disconnected)
        await self._room.connect(self._url, self._token.to_jwt())
        track = rtc.LocalAudioTrack.create_audio_track("phone", self._source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await self._room.local_participant.publish_track(track, options)
        self._spawn(self._send())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hang_up()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._source.aclose()
        if self._recording is not None:
            await asyncio.to_thread(self._recording.write_bytes, to_wav(self.heard(), TELEPHONE_RATE))

    def heard(self, start: float | None = None, end: float | None = None) -> Samples:
        """The sound of the other side so far, or between two times: 8 kHz mono."""
        return self._tape.samples(start, end)

    async def say(self, text: str) -> Utterance:
        """Speaks the text; returns when its last sound is out. Raises CallEndedError."""
        speech = await speak_off_loop(text, _VOICE_RATE, variant=self._variant)
        return await self.play(over_the_telephone(trim_end(speech), _VOICE_RATE), text)

    async def play(self, samples: Samples, text: str = "") -> Utterance:
        """Plays a sound of 8 kHz; otherwise as `say`."""
        begun, ended = (asyncio.get_running_loop().create_future() for _ in range(2))
        frames = np.concatenate([samples, np.zeros(-len(samples) % _FRAME, dtype=np.int16)]).reshape(-1, _FRAME)
        self._outgoing.append((_SILENCE, begun))
        self._outgoing.extend((frame, None) for frame in frames)
        self._outgoing.append((_SILENCE, ended))
        await self._until(ended.done, None)
        start, end = begun.result(), ended.result()
        await self._until(lambda: self._now() >= end, None)
        self._said_until = end
        return Utterance(text, start, end)

    async def wait_for_first_audio(self, patience: float) -> float:
        """When the first sound of the call was heard. Raises as `wait_for_answer`."""
        await self._until(lambda: bool(self._ear.bursts), patience)
        return self._ear.bursts[0].start

    async def wait_for_answer(self, patience: float, *, silence: float = _ANSWER_OVER_S) -> Answer:
        """What is heard next, after the caller's own last words and after the answer before.

        It is over after so many seconds of silence, or with the call; a "one moment" before a longer pause is an
        answer by itself.

        Raises:
            CallEndedError: the call ended before anything was heard.
            NoAnswerError: nothing was heard, or no end of it, in `patience` seconds.
        """
        since = max(self._said_until or 0.0, self._listened_until)

        def over() -> bool:
            last = self._ear.bursts[-1] if self._ear.bursts else None
            if last is None or last.start < since:
                return False
            return self.ended.is_set() or self._now() - last.end >= silence

        await self._until(over, patience)
        bursts = [burst for burst in self._ear.bursts if burst.start >= since]
        start, end = bursts[0].start, bursts[-1].end
        self._listened_until = end
        return Answer(start, end, None if self._said_until is None else start - self._said_until)

    async def wait_for_end(self, patience: float) -> str:
        """Waits until the other side ends the call; says how it did.

        Raises:
            NoAnswerError: the call goes on after so many seconds.
        """
        await self._until(self.ended.is_set, patience)
        return self.end_reason

    async def hang_up(self) -> None:
        """Ends the call on this side; does no harm where the other side ended it before."""
        self._end("the caller hung up")
        if self._room.isconnected():
            await self._room.disconnect()

    def _now(self) -> float:
        return self._epoch + time.monotonic()

    async def _send(self) -> None:
        """Sends without a break, as a telephone does: the caller's words, else silence."""
        while True:
            samples, out = self._outgoing.popleft() if self._outgoing else (_SILENCE, None)
            if out is not None:
                out.set_result(self._now() + self._source.queued_duration)
            await self._source.capture_frame(rtc.AudioFrame(samples.tobytes(), TELEPHONE_RATE, 1, len(samples)))
            self._wake()

    async def _receive(self, stream: rtc.AudioStream) -> None:
        writer = self._tape.writer()
        try:
            async for event in stream:
                samples = np.frombuffer(event.frame.data, dtype=np.int16).copy()
                self._ear.hear(samples, self._now())
                writer.write(samples, self._now())
                self._wake()
        finally:
            await stream.aclose()

    def _on_track(
        self, track: rtc.Track, _publication: rtc.RemoteTrackPublication, _participant: rtc.RemoteParticipant
    ) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            self._spawn(self._receive(rtc.AudioStream(track, sample_rate=TELEPHONE_RATE, num_channels=1)))

    def _on_participant_left(self, participant: rtc.RemoteParticipant) -> None:
        if participant.kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT or not self._room.remote_participants:
            self._end("the other side left")

    def _on_disconnected(self, reason: rtc.DisconnectReason.ValueType) -> None:
        self._end(f"disconnected: {rtc.DisconnectReason.Name(reason)}")

    def _end(self, reason: str) -> None:
        if not self.ended.is_set():
            self.end_reason = reason
            self.ended.set()
        self._wake()

    def _wake(self) -> None:
        for condition, future in self._waiting:
            if not future.done() and condition():
                future.set_result(None)
            elif not future.done() and self.ended.is_set():
                future.set_exception(CallEndedError(self.end_reason))
        self._waiting = [(condition, future) for condition, future in self._waiting if not future.done()]

    async def _until(self, condition: Callable[[], bool], patience: float | None) -> None:
        """Returns when the condition holds, which is looked at with every frame and at the end of the call."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((condition, future))
        self._wake()
        try:
            async with asyncio.timeout(patience):
                await future
        except TimeoutError:
            raise NoAnswerError(f"waited {patience} s in vain") from None

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
