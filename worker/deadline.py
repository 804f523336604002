"""A point in time by which an answer must be there, on a clock that only runs forward."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Deadline:
    """Seconds on `clock` by which something must have ended."""

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Self:
        """The deadline that many seconds from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds that are left, never below zero."""
        return max(0.0, self.at - self.clock())

    @property
    def passed(self) -> bool:
        """Whether nothing is left."""
        return self.remaining() == 0
