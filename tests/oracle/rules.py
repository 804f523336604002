"""The oracle: what may be said in a call, decided document by document in plain Python.

Written from the rules of scope and from nothing else: no SQL, no helper of the sidecar. Where the sidecar compares
instants that it computed when the item was loaded, this reads a wall clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from tests.oracle.world import Call, Hours, Instruction, Item, Numbers, Organization

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NOBODYS: Numbers = frozenset()

Kind = Literal["item", "instruction"]
Document = tuple[Kind, int]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the oracle says of one search.

    Attributes:
        refusals: for each document of the caller's organization why it may not be said; empty where it may.
        empty_status: the status of the search if it finds nothing.
    """

    refusals: dict[Document, tuple[str, ...]]
    empty_status: Literal["restricted_empty", "no_match"]

    @property
    def allowed(self) -> set[Document]:
        return {document for document, reasons in self.refusals.items() if not reasons}


def judge(organization: Organization, call: Call, moment: datetime) -> Judgement:
    agent = organization.agents[call.agent]
    segments = segments_of(organization, call.contact)
    refusals: dict[Document, tuple[str, ...]] = {}
    for number, item in enumerate(organization.items):
        reasons = list(_refusals_of_item(organization, item, segments, moment))
        base = organization.sources[item.source].base
        chosen = agent.knowledge
        if chosen is not None and not (number in chosen.items or item.folder in chosen.folders or base in chosen.bases):
            reasons.append("not selected")
        if call.narrowing is not None and base not in call.narrowing:
            reasons.append("narrowed away")
        refusals["item", number] = tuple(reasons)
    for number, instruction in enumerate(organization.instructions):
        reasons = list(_refusals_of_instruction(organization, instruction, segments))
        selected = agent.instructions
        if selected is not None and not (
            number in selected.instructions
            or any(above in selected.directories for above in _path(organization, instruction.directory))
        ):
            reasons.append("not selected")
        refusals["instruction", number] = tuple(reasons)
    allowed = {kind for (kind, _), reasons in refusals.items() if not reasons}
    knowledge_is_restricted = agent.knowledge is not None or call.narrowing is not None
    is_empty = (knowledge_is_restricted and "item" not in allowed) or (
        agent.instructions is not None and "instruction" not in allowed
    )
    return Judgement(refusals, "restricted_empty" if is_empty else "no_match")


def dynamic_instructions(organization: Organization, contact: int | None) -> set[int]:
    """Those that go into the prompt of every agent that this contact reaches."""
    segments = segments_of(organization, contact)
    return {
        number
        for number, instruction in enumerate(organization.instructions)
        if instruction.dynamic and not list(_refusals_of_instruction(organization, instruction, segments))
    }


def segments_of(organization: Organization, contact: int | None) -> Numbers:
    """The contact's, now; a caller who is not known, or no longer, has none."""
    if contact is None or organization.contacts[contact].removed:
        return NOBODYS
    return organization.contacts[contact].segments


def _refusals_of_item(organization: Organization, item: Item, segments: Numbers, moment: datetime) -> Iterator[str]:
    source = organization.sources[item.source]
    base = organization.bases[source.base]
    refused = {
        "removed": item.change == "removed" or base.removed or organization.removed_folders[item.folder],
        "deleted": item.change == "deleted",
        "draft": not item.published or item.change == "draft",
        "internal": item.visibility != "public" or item.change == "internal",
        "not for the phone": "phone" not in item.channels or item.change == "chat only",
        "source not ready": source.status != "ready",
        "base of a team or a person": base.owner != "organization" and not base.published,
        "other segment": bool(item.segments) and not item.segments & segments,
    }
    yield from (reason for reason, holds in refused.items() if holds)
    zone = ZoneInfo(organization.time_zone)
    if item.valid_from is not None and not _has_begun(item.valid_from, moment, zone):
        yield "not yet valid"
    if item.valid_until is not None and _has_ended(item.valid_until, moment, zone):
        yield "no longer valid"
    if item.hours is not None and not _is_open(item.hours, moment.astimezone(zone)):
        yield "closed"


def _refusals_of_instruction(organization: Organization, instruction: Instruction, segments: Numbers) -> Iterator[str]:
    if instruction.change == "removed" or any(
        organization.directories[above].removed for above in _path(organization, instruction.directory)
    ):
        yield "removed"
    if instruction.change == "deleted":
        yield "deleted"
    if not instruction.published or instruction.change == "draft":
        yield "draft"
    if instruction.segments and not instruction.segments & segments:
        yield "other segment"


def _path(organization: Organization, directory: int) -> Iterator[int]:
    """A directory and all that it stands in."""
    above: int | None = directory
    while above is not None:
        yield above
        above = organization.directories[above].parent


def _has_begun(valid_from: str, moment: datetime, zone: ZoneInfo) -> bool:
    day = _day(valid_from)
    if day is not None:
        return moment.astimezone(zone).date() >= day
    return moment >= datetime.fromisoformat(valid_from).astimezone(UTC)


def _has_ended(valid_until: str, moment: datetime, zone: ZoneInfo) -> bool:
    day = _day(valid_until)
    if day is not None:
        return moment.astimezone(zone).date() > day
    return moment >= datetime.fromisoformat(valid_until).astimezone(UTC)


def _day(text: str) -> date | None:
    return None if "T" in text else date.fromisoformat(text)


def _is_open(hours: Hours, local: datetime) -> bool:
    """Whether the wall clock stands within an opening time; one that ends no later than it starts runs overnight."""
    clock = f"{local:%H:%M}"
    today, yesterday = DAYS[local.weekday()], DAYS[local.weekday() - 1]
    return any(opens <= clock and (clock < closes or closes <= opens) for opens, closes in hours.get(today, ())) or any(
        closes <= opens and clock < closes for opens, closes in hours.get(yesterday, ())
    )
