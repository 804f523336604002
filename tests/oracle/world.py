"""What the leak oracle reasons about: two organizations in one database, the calls they get, what changes meanwhile.

Plain data. Everything is named by its place in its list, so that both organizations use the same small numbers; what
an organization was given first and what became of it later stand side by side, and the rules read the latter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Owner = Literal["organization", "team", "user"]
SourceStatus = Literal["ready", "processing", "failed"]
# What happens to a document after it was indexed and while a call is on: its row is gone, or says something else.
Change = Literal["removed", "draft", "internal", "chat only", "deleted"]
# How an organization's documents were indexed before their rows came to say what they say: with nothing restricted, or
# with nothing to be said at all.
IndexedAs = Literal["open", "closed"]
# By which leg of the search the passages are to be met; the last two without a vector.
Leg = Literal["meaning", "words", "codes"]
Hours = Mapping[str, Sequence[tuple[str, str]]]
Numbers = frozenset[int]


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base.

    Attributes:
        published: of a team's or a person's, whether they let agents search it.
    """

    owner: Owner
    published: bool
    removed: bool

    @property
    def is_for_agents(self) -> bool:
        return self.owner == "organization" or self.published


@dataclass(frozen=True, slots=True)
class Source:
    base: int
    status: SourceStatus


@dataclass(frozen=True, slots=True)
class Item:
    """A knowledge item.

    Attributes:
        valid_from, valid_until: as in a file of items: a date, or a time with its offset; None is an open end.
        hours: weekly opening times by day, `mon` to `sun`; None is always, and no times at all is never.
        long: whether it takes two passages.
    """

    source: int
    folder: int
    published: bool
    visibility: Literal["public", "internal"]
    channels: tuple[str, ...]
    segments: Numbers
    valid_from: str | None
    valid_until: str | None
    hours: Hours | None
    language: str
    region: str
    long: bool
    change: Change | None


@dataclass(frozen=True, slots=True)
class Directory:
    parent: int | None
    removed: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    directory: int
    published: bool
    segments: Numbers
    dynamic: bool
    change: Change | None


@dataclass(frozen=True, slots=True)
class SelectedKnowledge:
    items: Numbers
    folders: Numbers
    bases: Numbers


@dataclass(frozen=True, slots=True)
class SelectedInstructions:
    instructions: Numbers
    directories: Numbers


@dataclass(frozen=True, slots=True)
class Agent:
    """None is everything of that category; a selection of nothing is nothing."""

    knowledge: SelectedKnowledge | None
    instructions: SelectedInstructions | None
    language: str
    region: str | None


@dataclass(frozen=True, slots=True)
class Contact:
    """A known caller; `segments` are those of now."""

    first_segments: Numbers
    segments: Numbers
    removed: bool


@dataclass(frozen=True, slots=True)
class Organization:
    """One of the two tenants.

    Attributes:
        removed_folders: of each folder whether it was removed, with what stood in it; they have nothing else.
        indexed_as: None where it was indexed when all rows said what they say.
    """

    time_zone: str
    bases: tuple[Base, ...]
    sources: tuple[Source, ...]
    removed_folders: tuple[bool, ...]
    items: tuple[Item, ...]
    directories: tuple[Directory, ...]
    instructions: tuple[Instruction, ...]
    contacts: tuple[Contact, ...]
    agents: tuple[Agent, ...]
    indexed_as: IndexedAs | None


@dataclass(frozen=True, slots=True)
class Call:
    """Who called whom.

    Attributes:
        contact: None for a caller who is unknown or anonymous.
        narrowing: the bases that the dispatch named, perhaps some that are gone or were never there; None for none.
    """

    organization: int
    agent: int
    contact: int | None
    narrowing: Numbers | None


@dataclass(frozen=True, slots=True)
class Case:
    """One search of a call.

    Attributes:
        call: its number in the world.
    """

    call: int
    moment: datetime
    leg: Leg


@dataclass(frozen=True, slots=True)
class World:
    organizations: tuple[Organization, Organization]
    calls: tuple[Call, ...]
    cases: tuple[Case, ...]
