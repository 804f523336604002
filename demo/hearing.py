"""What a caller hears: when somebody spoke, and a recording.

Times are seconds on one clock that the owner chooses.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from demo.audio import Samples, level, mu_law_round_trip

_BLOCK: Final = 0.02
_LOUD: Final = 180.0  # RMS, about -45 dB of full scale: speech is well above, line noise below
_ONSET_BLOCKS: Final = 3  # a click is not speech
_BURST_GAP: Final = 0.2
_DRIFT: Final = 0.2


@dataclass
class Burst:
    """Sound with no pause longer than 0.2 s; `end` moves on while it lasts."""

    start: float
    end: float


class Ear:
    """Finds bursts of sound in audio that arrives piece by piece, by its energy."""

    def __init__(self, rate: int) -> None:
        self.bursts: list[Burst] = []
        self._rate = rate
        self._block = round(_BLOCK * rate)
        self._rest = np.zeros(0, dtype=np.int16)
        self._loud_blocks = 0

    def hear(self, samples: Samples, until: float) -> None:
        """Takes in samples of which the last one was heard at `until`."""
        pending = np.concatenate([self._rest, samples])
        whole = len(pending) // self._block
        start = until - len(pending) / self._rate
        for i in range(whole):
            block = pending[i * self._block : (i + 1) * self._block]
            self._hear_block(level(block) >= _LOUD, start + (i + 1) * _BLOCK)
        self._rest = pending[whole * self._block :]

    def _hear_block(self, loud: bool, end: float) -> None:  # noqa: FBT001 - what was heard
        if not loud:
            self._loud_blocks = 0
            return
        self._loud_blocks += 1
        onset = end - self._loud_blocks * _BLOCK
        if self.bursts and onset - self.bursts[-1].end <= _BURST_GAP:
            self.bursts[-1].end = end
        elif self._loud_blocks >= _ONSET_BLOCKS:
            self.bursts.append(Burst(onset, end))


class Tape:
    """A recording on one time line; gaps are silence, overlaps are mixed."""

    def __init__(self, rate: int, start: float) -> None:
        self._rate, self._start = rate, start
        self._parts: list[tuple[int, Samples]] = []

    def writer(self) -> "TapeWriter":
        """For one stream of samples; several are mixed."""
        return TapeWriter(self, round(_DRIFT * self._rate))

    def put(self, at: int, samples: Samples) -> None:
        self._parts.append((max(at, 0), samples))

    def index(self, time: float) -> int:
        return round((time - self._start) * self._rate)

    def samples(self, start: float | None = None, end: float | None = None) -> Samples:
        """All of it, or what is between two times, at telephone quality."""
        length = max((at + len(part) for at, part in self._parts), default=0)
        mixed = np.zeros(length, dtype=np.int32)
        for at, part in self._parts:
            mixed[at : at + len(part)] += part
        first = 0 if start is None else max(self.index(start), 0)
        last = length if end is None else max(self.index(end), 0)
        return mu_law_round_trip(np.clip(mixed[first:last], -32768, 32767).astype(np.int16))


class TapeWriter:
    """Puts the pieces of a stream end to end, however unevenly they arrive, and skips where the stream broke off."""

    def __init__(self, tape: Tape, drift: int) -> None:
        self._tape, self._drift = tape, drift
        self._next: int | None = None

    def write(self, samples: Samples, until: float) -> None:
        """Appends samples of which the last one belongs at `until`."""
        at = self._tape.index(until) - len(samples)
        if self._next is None or abs(at - self._next) > self._drift:
            self._next = at
        self._tape.put(self._next, samples)
        self._next += len(samples)
