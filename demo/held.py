"""A call as the caller's end knows it: the report that the process in the namespace hands back."""

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from demo.scenario import PlannedCall, Question


class Asked(BaseModel):
    """A question as it went over the line; all times by the same clock as the stored timeline's.

    Attributes:
        spoken_from, spoken_until: the caller's speech.
        heard_from, heard_until: the agent's answer, as sound; None where there was none.
    """

    model_config = ConfigDict(frozen=True)

    question: Question
    spoken_from: datetime
    spoken_until: datetime
    heard_from: datetime | None
    heard_until: datetime | None

    @property
    def silence_ms(self) -> float | None:
        """From the end of the caller's speech to the first sound of the answer."""
        if self.heard_from is None:
            return None
        return (self.heard_from - self.spoken_until).total_seconds() * 1000


class HeldCall(BaseModel):
    """A call that was placed.

    Attributes:
        recording: both ends of the line, left what was heard; None where the conversation was held in writing.
        dialled_at: when the call was placed, which is the recording's beginning.
        greeting_heard: whether anything came before the first question.
        ended_by_agent: whether the agent's side ended it.
        trouble: what went wrong on the caller's side, if anything did.
    """

    planned: PlannedCall
    call_id: str
    dialled_at: datetime
    recording: Path | None = None
    greeting_heard: bool = False
    ended_by_agent: bool = False
    asked: list[Asked] = []
    trouble: str | None = None


class Report(BaseModel):
    """All calls that were held."""

    calls: list[HeldCall]
