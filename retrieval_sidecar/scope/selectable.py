"""What there is to select from: agents, folders and bases, items, instructions and their directories.

For operators, who select it, and not for calls: drafts are among it. What a team or a person has to themselves is not,
as no agent searches that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.scope.configuration import Mode, base_of_key
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.scope", "configuration.sql")
_BEGINNING = 200  # characters of a name that an order goes by
FIRST = ("", UUID(int=0))
Status = Literal["draft", "published"]


@dataclass(frozen=True, slots=True)
class Agent:
    """A phone agent; `numbers` are the first hundred, in E.164."""

    agent_id: UUID
    name: str
    language: str
    region_code: str | None
    instruction_mode: Mode
    knowledge_mode: Mode
    numbers: Sequence[str]

    @property
    def place(self) -> tuple[str, str]:
        return self.name[:_BEGINNING], str(self.agent_id)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder or a whole knowledge base.

    Attributes:
        items: that may be selected; of a base in whichever folders they stand.
        is_selected: as a whole, by the agent that was asked about.
        selected_items: of `items`, selected by themselves.
    """

    key: str
    name: str
    items: int
    is_selected: bool
    selected_items: int


@dataclass(frozen=True, slots=True)
class Item:
    item_key: int
    item_id: UUID
    title: str
    status: Status


@dataclass(frozen=True, slots=True)
class Directory:
    """A directory of instructions; counts are of what stands directly in it."""

    directory_id: UUID
    parent_id: UUID | None
    name: str
    instructions: int
    is_selected: bool
    selected_instructions: int

    @property
    def place(self) -> tuple[str, str]:
        return self.name[:_BEGINNING], str(self.directory_id)


@dataclass(frozen=True, slots=True)
class Instruction:
    instruction_key: int
    instruction_id: UUID
    title: str
    directory_id: UUID
    status: Status


async def list_agents(
    connection: Connection, organization_id: UUID, *, after: tuple[str, UUID], limit: int
) -> list[Agent]:
    """By name, those after a place."""
    rows = await _rows(connection, "list_agents", organization_id, **_named(after), limit=limit)
    return [Agent(*row) for row in rows]


async def find_agent(connection: Connection, organization_id: UUID, agent_id: UUID) -> Agent:
    """Raises NotFound."""
    rows = await _rows(connection, "find_agent", organization_id, agent_id=agent_id)
    if not rows:
        raise NotFound
    return Agent(*rows[0])


async def list_folders(connection: Connection, organization_id: UUID, *, after: str, limit: int) -> list[Folder]:
    """By key, those after a key; nothing of them is selected, as no agent is asked about."""
    rows = await _rows(connection, "list_folders", organization_id, agent_id=None, after=after, limit=limit)
    return [_folder(row) for row in rows]


async def folders_of_agent(
    connection: Connection, organization_id: UUID, agent_id: UUID, *, limit: int
) -> list[Folder]:
    """What the agent has selected, or something of, first."""
    rows = await _rows(connection, "folders_of_agent", organization_id, agent_id=agent_id, limit=limit)
    return [_folder(row) for row in rows]


async def items_of_folder(
    connection: Connection, organization_id: UUID, key: FolderKey, *, after: int, limit: int
) -> list[Item]:
    """In the order they came, those after an item's key. Raises NotFound where the organization has no such folder."""
    page = {"after": after, "limit": limit}
    base_id = base_of_key(key)
    if base_id is None:
        known = await _rows(connection, "folder_exists", organization_id, folder_key=str(key))
        if not known[0][0]:
            raise NotFound
        rows = await _rows(connection, "items_of_folder", organization_id, folder_key=str(key), **page)
    else:
        if not await _rows(connection, "owned_bases", organization_id, asked=[base_id]):
            raise NotFound
        rows = await _rows(connection, "items_of_base", organization_id, base_id=base_id, **page)
    return [Item(*row) for row in rows]


async def list_directories(
    connection: Connection, organization_id: UUID, *, after: tuple[str, UUID], limit: int
) -> list[Directory]:
    """By name, those after a place; nothing of them is selected, as no agent is asked about."""
    rows = await _rows(connection, "list_directories", organization_id, agent_id=None, **_named(after), limit=limit)
    return [Directory(*row) for row in rows]


async def directories_of_agent(
    connection: Connection, organization_id: UUID, agent_id: UUID, *, limit: int
) -> list[Directory]:
    """What the agent has selected first."""
    rows = await _rows(connection, "directories_of_agent", organization_id, agent_id=agent_id, limit=limit)
    return [Directory(*row) for row in rows]


async def list_instructions(
    connection: Connection, organization_id: UUID, *, directory_id: UUID | None, after: int, limit: int
) -> list[Instruction]:
    """In the order they came, those after an instruction's key.

    Args:
        directory_id: that they stand directly in; None for all.
    """
    page = {"directory_id": directory_id, "after": after, "limit": limit}
    rows = await _rows(connection, "list_instructions", organization_id, **page)
    return [Instruction(*row) for row in rows]


def _named(after: tuple[str, UUID]) -> dict[str, Any]:
    name, identity = after
    return {"after_name": name, "after_id": identity}


async def _rows(connection: Connection, statement: str, organization_id: UUID, **values: Any) -> list[TupleRow]:
    cursor = await connection.execute(_SQL[statement], {"organization_id": organization_id} | values)
    return await cursor.fetchall()


def _folder(row: TupleRow) -> Folder:
    key, name, *counts = row
    return Folder(key, name if name is not None else _name_of(key), *counts)


def _name_of(key: str) -> str:
    parsed = FolderKey.parse(key)
    return key if parsed is None else " / ".join(parsed.identity)
