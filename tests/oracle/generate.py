"""Worlds for the leak oracle, by hypothesis.

Most documents have one or two oddities at most: what many rules refuse at once says nothing about any of them.
"""

from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import TypeVar
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.oracle.moments import TIME_ZONES, anchors, first_instant, opening_times, window_ends
from tests.oracle.rules import DAYS
from tests.oracle.world import (
    Agent,
    Base,
    Call,
    Case,
    Change,
    Contact,
    Directory,
    IndexedAs,
    Instruction,
    Item,
    Leg,
    Numbers,
    Organization,
    SelectedInstructions,
    SelectedKnowledge,
    Source,
    World,
)

SEGMENTS, FOLDERS, CONTACTS, AGENTS = 3, 4, 3, 6
CALLS, MOMENTS_A_CALL = 16, 6
LEGS: tuple[Leg, ...] = ("meaning", "words", "codes")
CASES_A_WORLD = CALLS * MOMENTS_A_CALL * len(LEGS)
# Both organizations' bases, and two numbers that are nobody's.
_NAMEABLE_BASES = range(6)

T = TypeVar("T")
_INDEXED_AS: st.SearchStrategy[IndexedAs | None] = st.sampled_from((None, "open", "closed"))
_CLOCKS = ("00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "09:00", "17:30", "23:00", "23:30")
_JITTER = st.sampled_from(
    [timedelta(seconds=seconds) for seconds in (-60, -1, -0.000001, 0, 0, 0, 0, 0.000001, 1, 1800, 3600)]
)
# The rarer it decides alone, the more often.
_ITEM_ODDITIES = (
    "unpublished", "visibility", "channels", "change", "change", "change", "segments", "segments", "hours", "hours",
    "window", "window", "window",
)  # fmt: skip
_ITEM_CHANGES: tuple[Change, ...] = ("removed", "draft", "internal", "chat only", "deleted")
_INSTRUCTION_CHANGES: tuple[Change, ...] = ("removed", "draft", "deleted")


def generate(count: int, from_seed: int) -> list[World]:
    """So many worlds; the same ones for the same seed and the same version of hypothesis."""
    return [_generate(from_seed + number) for number in range(count)]


def _generate(from_seed: int) -> World:
    """One world, from a run of its own: a run goes on with variations of what it found, and here variety is all."""
    found: list[World] = []

    # The first example is always the simplest. Nothing is shrunk: what fails is told by its one document and its call.
    @seed(from_seed)
    @settings(
        max_examples=2,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds())
    def collect(world: World) -> None:
        found.append(world)

    collect()
    return found[-1]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    both: list[Organization] = []
    clocks: list[st.SearchStrategy[datetime]] = []
    for _ in range(2):
        zone = draw(st.sampled_from(TIME_ZONES))
        anchor = draw(st.sampled_from(anchors(zone)))
        organization = draw(organizations(zone, anchor))
        both.append(organization)
        windows = [moment for item in organization.items for moment in window_ends(item, zone)]
        hours = [moment for item in organization.items for moment in opening_times(item, zone, anchor)]
        # A window's end three times: that it decides alone, at its very instant, is the rarest.
        instants = [each for each in ([anchor], windows, windows, windows, hours) if each]
        clocks.append(st.one_of([st.sampled_from(moments) for moments in instants]))
    calls = draw(_several(_calls(), CALLS, CALLS))
    cases = [
        Case(number, moment, leg)
        for number, call in enumerate(calls)
        for moment in [draw(clocks[call.organization]) + draw(_JITTER) for _ in range(MOMENTS_A_CALL)]
        for leg in LEGS
    ]
    # In any order, so that a few hundred cases of some worlds are of all kinds.
    draw(st.randoms(use_true_random=True)).shuffle(cases)
    return World((both[0], both[1]), calls, tuple(cases))


@cache
def _calls() -> st.SearchStrategy[Call]:
    return st.builds(
        Call,
        organization=st.integers(0, 1),
        agent=st.integers(0, AGENTS - 1),
        contact=st.none() | st.integers(0, CONTACTS - 1) | st.integers(0, CONTACTS - 1),
        narrowing=_seldom(st.frozensets(st.sampled_from(_NAMEABLE_BASES), max_size=4)),
    )


@st.composite
def organizations(draw: st.DrawFn, zone: str, anchor: datetime) -> Organization:
    bases = draw(_several(_bases(), 2, 4))
    sources = draw(_several(_sources(len(bases)), 2, 5))
    directories = tuple(draw(_directories(number)) for number in range(draw(st.integers(3, 5))))
    items = draw(_several(items_of(zone, anchor, len(sources)), 6, 12))
    instructions = draw(_several(_instructions(len(directories)), 3, 6))
    sizes = (len(items), len(bases), len(instructions), len(directories))
    return Organization(
        time_zone=zone,
        bases=bases,
        sources=sources,
        removed_folders=draw(_several(_rarely(), FOLDERS, FOLDERS)),
        items=items,
        directories=directories,
        instructions=instructions,
        contacts=draw(_several(_contacts(), CONTACTS, CONTACTS)),
        agents=draw(_several(_agents(*sizes), AGENTS, AGENTS)),
        indexed_as=draw(_INDEXED_AS),
    )


@cache
def _bases() -> st.SearchStrategy[Base]:
    never = st.just(False)  # noqa: FBT003 - the value itself
    ours = st.builds(Base, owner=st.just("organization"), published=never, removed=_rarely())
    theirs = st.builds(Base, owner=st.sampled_from(("team", "user")), published=st.booleans(), removed=_rarely())
    return st.sampled_from((ours,) * 7 + (theirs,) * 3).flatmap(lambda base: base)


@cache
def _sources(bases: int) -> st.SearchStrategy[Source]:
    return st.builds(
        Source, base=st.integers(0, bases - 1), status=st.sampled_from(("ready",) * 8 + ("processing", "failed"))
    )


@cache
@st.composite
def items_of(draw: st.DrawFn, zone: str, anchor: datetime, sources: int) -> Item:
    odd = draw(st.lists(st.sampled_from(_ITEM_ODDITIES), max_size=3))
    valid_from, valid_until = draw(_windows(zone, anchor)) if "window" in odd else (None, None)
    channels = [("chat",), (), ("email", "chat"), ("chat", "phone")]
    return Item(
        source=draw(st.integers(0, sources - 1)),
        folder=draw(st.integers(0, FOLDERS - 1)),
        published="unpublished" not in odd,
        visibility="internal" if "visibility" in odd else "public",
        channels=draw(st.sampled_from(channels)) if "channels" in odd else ("phone",),
        segments=draw(_segments(1)) if "segments" in odd else frozenset(),
        valid_from=valid_from,
        valid_until=valid_until,
        hours=draw(_hours()) if "hours" in odd else None,
        language=draw(st.sampled_from(("en", "en", "de", "ar", "kk"))),
        region=draw(st.sampled_from(("GLOBAL", "DE", "KZ"))),
        long=draw(_rarely()),
        change=draw(st.sampled_from(_ITEM_CHANGES)) if "change" in odd else None,
    )


@cache
@st.composite
def _windows(draw: st.DrawFn, zone: str, anchor: datetime) -> tuple[str | None, str | None]:
    info = ZoneInfo(zone)
    day = anchor.astimezone(info).date()
    dates = st.sampled_from([(day + timedelta(days=n)).isoformat() for n in range(-2, 3)])
    offset = anchor.astimezone(info).utcoffset() or timedelta()
    offsets = st.sampled_from((UTC, timezone(offset), timezone(timedelta(hours=5, minutes=30))))
    minutes = st.sampled_from((-1440, -90, -60, -30, -1, 0, 1, 30, 60, 90, 1440))
    times = st.builds(
        lambda after, in_zone: (anchor + timedelta(minutes=after)).astimezone(in_zone).isoformat(), minutes, offsets
    )
    opens = draw(dates | times | dates | times | st.none() | st.just("0001-01-01"))
    closes = draw(dates | times | dates | times | st.none() | st.just("9999-12-31"))
    if opens and closes and first_instant(opens, info, 0) >= first_instant(closes, info, 1):
        opens = None  # an item that never holds is refused when it is loaded
    return opens, closes


@cache
def _hours() -> st.SearchStrategy[dict[str, list[tuple[str, str]]]]:
    times = st.tuples(st.sampled_from(_CLOCKS), st.sampled_from((*_CLOCKS, "24:00")))
    return st.dictionaries(st.sampled_from(DAYS), st.lists(times, min_size=1, max_size=2), max_size=7)


@cache
@st.composite
def _directories(draw: st.DrawFn, number: int) -> Directory:
    parent = draw(st.none() | st.integers(0, number - 1)) if number > 0 else None
    return Directory(parent, draw(_rarely()))


@cache
@st.composite
def _instructions(draw: st.DrawFn, directories: int) -> Instruction:
    odd = draw(st.lists(st.sampled_from(("unpublished", "segments", "change")), max_size=2))
    return Instruction(
        directory=draw(st.integers(0, directories - 1)),
        published="unpublished" not in odd,
        segments=draw(_segments(1)) if "segments" in odd else frozenset(),
        dynamic=draw(st.booleans()),
        change=draw(st.sampled_from(_INSTRUCTION_CHANGES)) if "change" in odd else None,
    )


@cache
def _contacts() -> st.SearchStrategy[Contact]:
    return st.builds(Contact, first_segments=_segments(0), segments=_segments(0), removed=_rarely())


@cache
def _agents(items: int, bases: int, instructions: int, directories: int) -> st.SearchStrategy[Agent]:
    def some(size: int) -> st.SearchStrategy[Numbers]:
        return st.just(frozenset()) | st.frozensets(st.integers(0, size - 1), min_size=1, max_size=3)

    knowledge = st.builds(SelectedKnowledge, items=some(items), folders=some(FOLDERS), bases=some(bases))
    behaviour = st.builds(SelectedInstructions, instructions=some(instructions), directories=some(directories))
    return st.builds(
        Agent,
        knowledge=st.none() | knowledge,
        instructions=st.none() | behaviour,
        language=st.sampled_from(("en", "de", "ar")),
        region=st.none() | st.just("DE"),
    )


@cache
def _segments(least: int) -> st.SearchStrategy[Numbers]:
    return st.frozensets(st.integers(0, SEGMENTS - 1), min_size=least, max_size=2)


@cache
def _several(strategy: st.SearchStrategy[T], least: int, most: int) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


@cache
def _rarely() -> st.SearchStrategy[bool]:
    return st.sampled_from((False,) * 9 + (True,))


@cache
def _seldom(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | st.none() | strategy
