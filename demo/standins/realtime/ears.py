"""The input audio buffer, and the detection of turns in it by loudness."""

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from demo.audio import Samples, level
from demo.standins.realtime.model import RATE

_BLOCK_MS: Final = 20
_BLOCK: Final = RATE * _BLOCK_MS // 1000
_LOUD: Final = 180.0  # RMS at the middle threshold; a telephone's noise is well below
_ONSET_BLOCKS: Final = 3  # a click is not speech
_MIDDLE: Final = 0.5


@dataclass(frozen=True)
class SpeechStarted:
    """Somebody began to speak at that time, counted in what was ever appended."""

    ms: int


@dataclass(frozen=True)
class SpeechStopped:
    """Silence since that time for as long as ends a turn; `samples` is what was said."""

    ms: int
    samples: Samples


@dataclass(frozen=True)
class TurnDetection:
    """The settings of a session; "semantic_vad" is detected as "server_vad" is."""

    threshold: float
    prefix_padding_ms: int
    silence_duration_ms: int
    create_response: bool
    interrupt_response: bool

    @classmethod
    def read(cls, settings: dict[str, Any] | None) -> Self | None:
        """The settings of the wire, whose blanks are filled; `None` where the client takes turns itself."""
        if settings is None:
            return None
        given = {name: value for name, value in settings.items() if value is not None}
        return cls(
            threshold=given.get("threshold", _MIDDLE),
            prefix_padding_ms=given.get("prefix_padding_ms", 300),
            silence_duration_ms=given.get("silence_duration_ms", 500),
            create_response=given.get("create_response", True),
            interrupt_response=given.get("interrupt_response", True),
        )


class InputBuffer:
    """Sound that was appended and not committed yet."""

    def __init__(self) -> None:
        self._samples = np.zeros(0, dtype=np.int16)
        self._looked_at = 0  # of these samples
        self._gone_ms = 0  # of sound that is no longer in the buffer
        self._loud_blocks = self._quiet_blocks = 0
        self._speech_from: int | None = None

    @property
    def ms(self) -> int:
        """How much there is."""
        return len(self._samples) * 1000 // RATE

    def append(self, samples: Samples) -> None:
        """Take in what comes next."""
        self._samples = np.concatenate([self._samples, samples])

    def take(self) -> Samples:
        """All of it, which is no longer there then."""
        taken = self._samples
        self._drop(len(taken))
        self._speech_from = None
        self._loud_blocks = self._quiet_blocks = 0
        return taken

    def detect(self, settings: TurnDetection) -> SpeechStarted | SpeechStopped | None:
        """The next beginning or end of speech in what was appended; `None` when there is no more."""
        while self._looked_at + _BLOCK <= len(self._samples):
            block = self._samples[self._looked_at : self._looked_at + _BLOCK]
            self._looked_at += _BLOCK
            loud = level(block) >= _LOUD * settings.threshold / _MIDDLE
            self._loud_blocks, self._quiet_blocks = (self._loud_blocks + 1, 0) if loud else (0, self._quiet_blocks + 1)
            if self._speech_from is None and self._loud_blocks >= _ONSET_BLOCKS:
                return self._begin(settings)
            if self._speech_from is not None and self._quiet_blocks * _BLOCK_MS >= settings.silence_duration_ms:
                return self._end()
        if self._speech_from is None:  # silence before the padding is never committed
            self._drop(self._looked_at - self._padding(settings) - _ONSET_BLOCKS * _BLOCK)
        return None

    def _begin(self, settings: TurnDetection) -> SpeechStarted:
        onset = self._looked_at - _ONSET_BLOCKS * _BLOCK
        self._speech_from = max(0, onset - self._padding(settings))
        return SpeechStarted(self._ms_of(self._speech_from))

    def _end(self) -> SpeechStopped:
        end = self._looked_at
        said = self._samples[self._speech_from : end]
        stopped = SpeechStopped(self._ms_of(end), said)
        self._drop(end)
        self._speech_from = None
        return stopped

    def _padding(self, settings: TurnDetection) -> int:
        return settings.prefix_padding_ms * RATE // 1000

    def _ms_of(self, sample: int) -> int:
        return self._gone_ms + sample * 1000 // RATE

    def _drop(self, count: int) -> None:
        count = max(0, count) // _BLOCK * _BLOCK if count < len(self._samples) else count
        self._gone_ms += count * 1000 // RATE
        self._samples = self._samples[count:]
        self._looked_at = max(0, self._looked_at - count)
