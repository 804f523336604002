"""Whether the caller speaks just now, and since when: by the voice activity that LiveKit hears, in both pipelines."""

import time
from dataclasses import dataclass
from typing import Final, Literal

_HEARD_AFTER_S: Final = 0.25  # of silence LiveKit's voice activity says that speech has ended

State = Literal["speaking", "listening", "away"]


@dataclass(slots=True)
class CallerVoice:
    """Times are seconds since the epoch.

    Attributes:
        speaking: whether the caller is heard.
        ended_at: when the caller last fell silent.
    """

    speaking: bool = False
    ended_at: float | None = None

    def has_become(self, state: State, at: float) -> None:
        """Take a change of what LiveKit says the caller does."""
        if state == "speaking":
            self.speaking = True
        elif self.speaking:
            self.speaking, self.ended_at = False, at - _HEARD_AFTER_S

    def waited_s(self) -> float:
        """How long the caller has been waiting; 0 where that is not known, or the caller speaks."""
        return 0.0 if self.speaking or self.ended_at is None else max(0.0, time.time() - self.ended_at)
