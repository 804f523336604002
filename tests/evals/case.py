"""A case: a call, what is said in it, and what must come of each thing that is said."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "no_match", "restricted_empty", "unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What must come of one question; ids are external ones, of instructions their titles.

    Attributes:
        status: one of these; empty where any may come.
        first: must be the best result.
        found: one of these must be among the results.
        never: none of these may be.
        say, never_say: what the answer must hold and must not, letter by letter.
    """

    status: tuple[Status, ...] = ("ok",)
    first: str | None = None
    found: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    say: tuple[str, ...] = ()
    never_say: tuple[str, ...] = ()

    @property
    def relevant(self) -> frozenset[str]:
        """What answers the question."""
        return self.found | ({self.first} if self.first else frozenset())


@dataclass(frozen=True, slots=True)
class Turn:
    """What the caller says.

    Attributes:
        query: what a model makes of it for the search; what is said, where that is complete in itself.
    """

    say: str
    expected: Expected
    query: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call.

    Attributes:
        kind: what it is an example of.
        called, caller: numbers in E.164; no caller is one who withholds it.
        language: in which it is asked (ISO 639).
        selectivity: how much the agent may tell, where that is what is looked at.
    """

    id: str
    kind: str
    called: str
    turns: Sequence[Turn]
    caller: str | None = None
    language: str = "en"
    selectivity: str = ""
    tags: frozenset[str] = field(default_factory=frozenset)
