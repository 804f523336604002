"""Bring an organization's files into the database, in one transaction: all of it or nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.types.json import Jsonb

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.facts import refresh_facts
from retrieval_sidecar.ingest.organization_file import (
    Agent,
    InstructionSelection,
    Item,
    KnowledgeSelection,
    OrganizationFile,
    read_items,
)
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.knowledge.validity import open_minutes
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")


@dataclass(slots=True)
class Loaded:
    """What came of it. `rejected` holds each refused line's number and why."""

    organization_id: UUID
    items: int = 0
    instructions: int = 0
    agents: int = 0
    rejected: list[tuple[int, InvalidRequest]] = field(default_factory=list)


async def load_organization(connection: Connection, organization: Path, items: Path) -> Loaded:
    """Read both files and write them. A bad line is reported and does not stop the rest.

    Raises:
        InvalidRequest: `organization.yaml` is wrong, or names something that it does not define.
    """
    document = OrganizationFile.read(organization)
    loader = _Loader(connection, document)
    async with change(connection, document.organization.id):
        await loader.people()
        await loader.instructions()
        await loader.knowledge(read_items(items, loader.zone), source_name=items.name)
        for agent in document.agents:
            await loader.agent(agent)
        await refresh_facts(connection, document.organization.id)
    return loader.loaded


class _Loader:
    """One load: the keys that the files use, and the ids that the database gave for them."""

    def __init__(self, connection: Connection, document: OrganizationFile) -> None:
        self._connection = connection
        self._document = document
        self._organization_id = document.organization.id
        self.zone = ZoneInfo(document.organization.time_zone)
        self._ids: dict[str, dict[str, Any]] = {
            kind: {} for kind in ("segment", "directory", "instruction", "base", "item", "folder")
        }
        self.loaded = Loaded(document.organization.id)

    async def people(self) -> None:
        organization = self._document.organization
        await self._run(
            "upsert_organization",
            **organization.model_dump(exclude={"language_fallbacks"}),
            language_fallbacks=Jsonb(organization.language_fallbacks),
        )
        for segment in self._document.segments:
            self._ids["segment"][segment.key] = await self._run("upsert_segment", **segment.model_dump())
        for contact in self._document.contacts:
            contact_id = await self._run("upsert_contact", **contact.model_dump(exclude={"segments"}))
            await self._replace_segments("contact", contact_id, contact.segments)

    async def instructions(self) -> None:
        for directory in self._document.instruction_directories:
            parent = self._id("directory", directory.parent) if directory.parent else None
            self._ids["directory"][directory.key] = await self._run(
                "upsert_directory", parent_id=parent, name=directory.name
            )
        for instruction in self._document.instructions:
            values = instruction.model_dump(exclude={"key", "directory", "segments"})
            values["directory_id"] = self._id("directory", instruction.directory)
            instruction_id = await self._run("find_instruction", **values)
            if instruction_id is None:
                instruction_id = await self._run("insert_instruction", **values)
            else:
                await self._run("update_instruction", **values, instruction_id=instruction_id)
            self._ids["instruction"][instruction.key] = instruction_id
            await self._replace_segments("instruction", instruction_id, instruction.segments)
            self.loaded.instructions += 1

    async def knowledge(self, lines: Iterable[tuple[int, Item | InvalidRequest]], *, source_name: str) -> None:
        sources: dict[str, UUID] = {}
        for base in self._document.knowledge_bases:
            base_id = await self._run("upsert_base", name=base.name)
            self._ids["base"][base.key] = base_id
            sources[base.key] = await self._run("upsert_source", base_id=base_id, name=source_name)
        for number, line in lines:
            if isinstance(line, InvalidRequest):
                self.loaded.rejected.append((number, line))
            elif problem := self._unknown_key(line, sources):
                self.loaded.rejected.append((number, InvalidRequest([problem])))
            else:
                await self._item(line, sources)
                self.loaded.items += 1

    def _unknown_key(self, item: Item, sources: Mapping[str, UUID]) -> FieldProblem | None:
        if self._base(item) not in sources:
            return FieldProblem("base", f"must be one of: {', '.join(sources)}")
        if unknown := set(item.segments) - set(self._ids["segment"]):
            return FieldProblem("segments", f"unknown: {', '.join(sorted(unknown))}")
        if item.external_id in self._ids["item"]:
            return FieldProblem("external_id", "stands twice in this file")
        return None

    async def _item(self, item: Item, sources: Mapping[str, UUID]) -> None:
        base = self._base(item)
        # An item that names no folder stands in that of its knowledge base.
        folder = item.folder or str(FolderKey("base", (str(self._ids["base"][base]),)))
        if folder not in self._ids["folder"]:
            self._ids["folder"][folder] = await self._run("upsert_folder", folder_key=folder)
        ranges = open_minutes(item.schedule) if item.schedule is not None else None
        valid_from, valid_to = item.window(self.zone)
        item_id = await self._run(
            "upsert_item",
            **item.model_dump(
                include={
                    "external_id", "title", "content", "source_hash", "language", "region_code",
                    "status", "visibility", "channels", "source_url",
                }
            ),
            source_id=sources[base],
            folder_id=self._ids["folder"][folder],
            valid_from=valid_from,
            valid_to=valid_to,
            open_minutes=_multirange(ranges),
            metadata=Jsonb(item.metadata),
        )  # fmt: skip
        self._ids["item"][item.external_id] = item_id
        await self._replace_segments("item", item_id, item.segments)

    def _base(self, item: Item) -> str:
        return item.base or self._document.knowledge_bases[0].key

    async def agent(self, agent: Agent) -> None:
        instructions, knowledge = agent.instruction_scope, agent.knowledge_scope
        await self._run(
            "upsert_agent",
            **agent.model_dump(exclude={"key", "numbers", "instruction_scope", "knowledge_scope"}),
            instruction_scope_mode="all" if instructions == "all" else "selected",
            knowledge_scope_mode="all" if knowledge == "all" else "selected",
        )
        await self._run("clear_agent_selections", agent_id=agent.id)
        if isinstance(instructions, InstructionSelection):
            await self._select(agent, "instruction", instructions.instructions)
            await self._select(agent, "directory", instructions.directories)
        if isinstance(knowledge, KnowledgeSelection):
            await self._select(agent, "item", knowledge.items)
            await self._select(agent, "folder", knowledge.folders)
            await self._select(agent, "base", knowledge.bases)
        for number in agent.numbers:
            if await self._run("route_number", phone_number=number, agent_id=agent.id) is None:
                raise InvalidRequest.of(f"agents.{agent.key}.numbers", "one of them belongs to another organization")
        self.loaded.agents += 1

    async def _select(self, agent: Agent, kind: str, keys: list[str]) -> None:
        for key in keys:
            await self._run(f"select_{kind}", agent_id=agent.id, selected=self._id(kind, key))

    async def _replace_segments(self, owner: str, owner_id: UUID, keys: list[str]) -> None:
        owned = {f"{owner}_id": owner_id}
        await self._run(f"clear_{owner}_segments", **owned)
        for key in keys:
            await self._run(f"add_{owner}_segment", **owned, segment_id=self._id("segment", key))

    def _id(self, kind: str, key: str) -> Any:
        if key not in self._ids[kind]:
            raise InvalidRequest.of(kind, f"{key!r} is not defined in the files")
        return self._ids[kind][key]

    async def _run(self, statement_name: str, /, **values: Any) -> Any:
        """Run a named statement; the first column of its row, None without one."""
        statement: LiteralString = _SQL[statement_name]
        parameters = {"organization_id": self._organization_id} | values
        cursor = await self._connection.execute(statement, parameters)
        if cursor.description is None:
            return None
        row = await cursor.fetchone()
        return row[0] if row else None


def _multirange(ranges: list[tuple[int, int]] | None) -> str | None:
    """PostgreSQL's text form; half-open ranges."""
    if ranges is None:
        return None
    return "{" + ",".join(f"[{start},{end})" for start, end in ranges) + "}"
