"""Putting a caller through to a person: when it is offered, and how it is done."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from uuid import uuid4

from contracts.voice import HandoffEvent
from worker.errors import HandoffRefusedError
from worker.timeline import now
from worker.tool_output import Outcome, Person

Transfer: TypeAlias = Callable[[str], Awaitable[None]]
Reason: TypeAlias = Literal["caller_asked", "misses", "outage"]
_MISSES: Final = 2


@dataclass(slots=True)
class Handoff:
    """The hand-off of one call; without a number there is none.

    Attributes:
        number: the agent's, as the trunk dials it.
        transfer: moves the caller's telephone to a number; raises `HandoffRefusedError`.
        report: takes what happened to the timeline.
        under_way: whether the caller is being moved just now.
    """

    number: str | None = None
    transfer: Transfer | None = None
    report: Callable[[HandoffEvent], None] | None = None
    under_way: bool = False
    _misses: int = 0
    _missed_in: str = ""
    _offered: Reason | None = None

    @property
    def possible(self) -> bool:
        """Whether there is somebody to put the caller through to."""
        return self.number is not None and self.transfer is not None

    def after(self, outcome: Outcome, turn: str) -> Person:
        """Take note of a search, and say whether a person should be offered now.

        One is due after two turns in a row that found nothing, and when the knowledge is away.

        Args:
            outcome: what the search came to.
            turn: an id of the turn: two searches for one question are one miss.
        """
        if outcome == "ok":
            self._misses, self._offered = 0, None
        if outcome in {"no_match", "restricted_empty"} and turn != self._missed_in:
            self._misses, self._missed_in = self._misses + 1, turn
        due: Reason | None = "outage" if outcome == "unavailable" else "misses" if self._misses >= _MISSES else None
        if not self.possible:
            return "impossible"
        if due is None:
            return "possible"
        self._misses, self._offered = 0, due
        self._tell(due, "offered")
        return "due"

    async def put_through(self, reason: Reason | None = None) -> bool:
        """Move the caller's telephone to the number, and say whether that was done.

        Args:
            reason: why; by default what it was offered for, or that the caller asked.
        """
        why = reason or self._offered or "caller_asked"
        if self.number is None or self.transfer is None:
            self._tell(why, "failed")
            return False
        self._tell(why, "accepted")
        self.under_way = True
        try:
            await self.transfer(self.number)
        except HandoffRefusedError:
            self._tell(why, "failed")
            return False
        finally:
            self.under_way = False
        self._tell(why, "transferred")
        return True

    def _tell(self, reason: Reason, outcome: Literal["offered", "accepted", "transferred", "failed"]) -> None:
        if self.report:
            self.report(HandoffEvent(id=uuid4(), at=now(), reason=reason, outcome=outcome))
