"""A world as rows of the sidecar's tables, and the keys under which it stands there.

The two organizations of a world have all numbers and ids in common that no search returns: a condition that forgets
the organization meets the other one's rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5
from zoneinfo import ZoneInfo

from psycopg.types.json import Jsonb

from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.knowledge.validity import end_of, open_minutes, start_of
from tests.oracle.rules import Document, Kind
from tests.oracle.world import Call, Item, Organization, World

# In every passage, so that a search for them meets all; so many that holding them all is relevant by itself.
WORDS = "ferry harbour lighthouse anchor jetty"
FOLDER_KEYS = ("upload:Prices", "workflow:", "website:help.example.com", "integration:desk/tickets")
_SEGMENT_KEYS = ("members", "staff", "partners")
_OWNER = uuid5(NAMESPACE_URL, "oracle:owner")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a table, without the organization's id that leads each."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Written:
    """A world and its keys. `number` is another one for each world of a database."""

    number: int
    world: World

    def organization_id(self, organization: int) -> UUID:
        return uuid5(NAMESPACE_URL, f"oracle:{self.number}:{organization}")

    def document_id(self, organization: int, document: Document) -> UUID:
        return uuid5(self.organization_id(organization), "{}:{}".format(*document))

    def session_id(self, call: int) -> UUID:
        return uuid5(self.organization_id(self.world.calls[call].organization), f"call:{call}")

    def called_number(self, organization: int, agent: int) -> str:
        return f"+1555{self.number:04}{organization}{agent:02}"


def shared_id(kind: str, number: int) -> UUID:
    """The id of a base, a source, a directory, an agent or a contact: the same in every organization."""
    return uuid5(NAMESPACE_URL, f"oracle:{kind}:{number}")


def phone_number(contact: int) -> str:
    """A contact's number: the same in every organization."""
    return f"+1555555010{contact}"


def code(document: Document) -> str:
    """What only this document is marked with."""
    kind, number = document
    return f"KX-{number}-{kind[0]}"


def organization_tables(written: Written, place: int) -> Iterator[Table]:
    """An organization as it is before anything changes, in an order that its foreign keys allow."""
    organization = written.world.organizations[place]
    yield Table("organization", ["name", "time_zone"], [[f"Organization {place}", organization.time_zone]])
    # The space that indexing would make for itself, under a number that all organizations have.
    space = [1, FakeEmbedder.model, FakeEmbedder.dimensions, True]
    yield Table("embedding_space", ["space_id", "model", "dimensions", "active"], [space])
    yield Table("segment", ["segment_id", "key", "name"], [[n, key, key] for n, key in enumerate(_SEGMENT_KEYS)])
    yield Table(
        "contact",
        ["contact_id", "phone_number", "name"],
        [[shared_id("contact", n), phone_number(n), "Robin Vale"] for n in range(len(organization.contacts))],
    )
    yield contact_segments({n: contact.first_segments for n, contact in enumerate(organization.contacts)})
    yield from _knowledge(written, place, organization)
    yield from _instructions(written, place, organization)
    yield from _agents(written, place, organization)
    yield Table(
        "call_session",
        ["session_id", "agent_id", "contact_id", "call_id", "room_name", "narrowed_base_ids", "scope_snapshot"],
        [_call(written, number, call) for number, call in enumerate(written.world.calls) if call.organization == place],
    )


def contact_segments(segments: Mapping[int, Iterable[int]]) -> Table:
    """The segments of each contact by its number."""
    rows = [[shared_id("contact", number), segment] for number, each in segments.items() for segment in each]
    return Table("contact_segment", ["contact_id", "segment_id"], rows)


def _knowledge(written: Written, place: int, organization: Organization) -> Iterator[Table]:
    yield Table("team", ["team_id", "name"], [[_OWNER, "Team"]])
    yield Table(
        "member",
        ["member_id", "name", "permissions", "created_at"],
        [[_OWNER, "Kim Osei", ["agents.view"], "2026-01-01T00:00:00Z"]],
    )
    yield Table(
        "knowledge_base",
        ["base_id", "base_key", "name", "owner_type", "owner_id", "is_published"],
        [
            [shared_id("base", n), n, f"Base {n}", base.owner, None if base.owner == "organization" else _OWNER,
             base.published]
            for n, base in enumerate(organization.bases)
        ],
    )  # fmt: skip
    yield Table(
        "source",
        ["source_id", "base_id", "kind", "name", "status"],
        [
            [shared_id("source", n), shared_id("base", source.base), "jsonl", f"{n}.jsonl", source.status]
            for n, source in enumerate(organization.sources)
        ],
    )
    yield Table("folder", ["folder_id", "folder_key"], list(enumerate(FOLDER_KEYS)))
    yield Table(
        "knowledge_item",
        [
            "item_id", "item_key", "external_id", "title", "content", "source_hash", "source_id", "folder_id",
            "status", "visibility", "channels", "valid_from", "valid_to", "open_minutes", "language", "region_code",
        ],
        [
            [written.document_id(place, ("item", n)), n, f"item-{n}", *_text("item", n, long=item.long),
             *_item(item, ZoneInfo(organization.time_zone))]
            for n, item in enumerate(organization.items)
        ],
    )  # fmt: skip
    segments = [item.segments for item in organization.items]
    yield _document_segments(written, place, "item", segments)


def _item(item: Item, zone: ZoneInfo) -> list[Any]:
    hours = None if item.hours is None else open_minutes(item.hours)
    return [
        shared_id("source", item.source),
        item.folder,
        "published" if item.published else "draft",
        item.visibility,
        list(item.channels),
        "-infinity" if item.valid_from is None else start_of(item.valid_from, zone),
        "infinity" if item.valid_until is None else end_of(item.valid_until, zone),
        None if hours is None else "{" + ",".join(f"[{start},{end})" for start, end in hours) + "}",
        item.language,
        item.region,
    ]


def _instructions(written: Written, place: int, organization: Organization) -> Iterator[Table]:
    yield Table(
        "instruction_directory",
        ["directory_id", "parent_id", "name"],
        [
            [shared_id("directory", n), _parent(directory.parent), f"Directory {n}"]
            for n, directory in enumerate(organization.directories)
        ],
    )
    yield Table(
        "instruction",
        ["instruction_id", "instruction_key", "title", "content", "directory_id", "status", "dynamic", "language"],
        [
            [written.document_id(place, ("instruction", n)), n, *_text("instruction", n)[:2],
             shared_id("directory", each.directory), "published" if each.published else "draft", each.dynamic, "en"]
            for n, each in enumerate(organization.instructions)
        ],
    )  # fmt: skip
    segments = [instruction.segments for instruction in organization.instructions]
    yield _document_segments(written, place, "instruction", segments)


def _parent(directory: int | None) -> UUID | None:
    return None if directory is None else shared_id("directory", directory)


def _text(kind: Kind, number: int, *, long: bool = False) -> list[str]:
    """A document's title, its text and the hash of that."""
    content = f"The {WORDS} of {kind} {number} opens with {code((kind, number))}. " * (40 if long else 1)
    return [f"{kind} {number}", content, sha256(content.encode()).hexdigest()]


def _document_segments(written: Written, place: int, kind: Kind, segments: Iterable[Iterable[int]]) -> Table:
    rows = [
        [written.document_id(place, (kind, number)), segment]
        for number, each in enumerate(segments)
        for segment in each
    ]
    return Table(f"{kind}_segment", [f"{kind}_id", "segment_id"], rows)


def _agents(written: Written, place: int, organization: Organization) -> Iterator[Table]:
    agents = [(shared_id("agent", number), agent) for number, agent in enumerate(organization.agents)]
    yield Table(
        "phone_agent",
        [
            "agent_id", "name", "language", "region_code", "prompt", "greeting", "instruction_scope_mode",
            "knowledge_scope_mode",
        ],
        [
            [agent_id, str(agent_id), agent.language, agent.region, "You answer the phone.", "Hello.",
             _mode(agent.instructions), _mode(agent.knowledge)]
            for agent_id, agent in agents
        ],
    )  # fmt: skip
    numbers = [[written.called_number(place, n), agent_id] for n, (agent_id, _) in enumerate(agents)]
    yield Table("number_route", ["phone_number", "agent_id"], numbers)
    selected: dict[tuple[str, str], list[list[Any]]] = {
        ("agent_item", "item_id"): [],
        ("agent_folder", "folder_id"): [],
        ("agent_knowledge_base", "base_id"): [],
        ("agent_instruction", "instruction_id"): [],
        ("agent_instruction_directory", "directory_id"): [],
    }
    items, folders, bases, instructions, directories = selected.values()
    for agent_id, agent in agents:
        if (knowledge := agent.knowledge) is not None:
            items += [[agent_id, written.document_id(place, ("item", n))] for n in knowledge.items]
            folders += [[agent_id, n] for n in knowledge.folders]
            bases += [[agent_id, shared_id("base", n)] for n in knowledge.bases]
        if (behaviour := agent.instructions) is not None:
            instructions += [[agent_id, written.document_id(place, ("instruction", n))] for n in behaviour.instructions]
            directories += [[agent_id, shared_id("directory", n)] for n in behaviour.directories]
    for (table, column), rows in selected.items():
        yield Table(table, ["agent_id", column], rows)


def _mode(selection: object | None) -> str:
    return "all" if selection is None else "selected"


def _call(written: Written, number: int, call: Call) -> list[Any]:
    return [
        written.session_id(number),
        shared_id("agent", call.agent),
        None if call.contact is None else shared_id("contact", call.contact),
        f"call {number}",
        "room",
        None if call.narrowing is None else [shared_id("base", n) for n in call.narrowing],
        Jsonb({}),
    ]
