"""Bring an organization's files into the database, in one transaction: all of it or nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.types.json import Jsonb

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import FieldProblem, InvalidRequest
from retrieval_sidecar.ingest.facts import refresh_facts
from retrieval_sidecar.ingest.items import Place, prepare, write_items
from retrieval_sidecar.ingest.organization_file import (
    Agent,
    InstructionSelection,
    KnowledgeSelection,
    OrganizationFile,
)
from retrieval_sidecar.ingest.records import Item, read_records
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")
_PIECE = 1_000_000  # bytes that are read at once


@dataclass(slots=True)
class Loaded:
    """What came of it. `rejected` holds each refused line's number and why."""

    organization_id: UUID
    items: int = 0
    instructions: int = 0
    agents: int = 0
    rejected: list[tuple[int, InvalidRequest]] = field(default_factory=list)


async def load_organization(connection: Connection, organization: Path, items: Path) -> Loaded:
    """Read both files and write them in one transaction: what organization.yaml says, and the items of all good lines.

    A bad line is reported and does not stop the rest; `records.Item` says what a line must hold. Items that say what
    they said are not written. However long the file of items is, some of its lines at a time are held, and their ids;
    the organization's other changes wait until all of it is written, so that a file of many ten thousand lines is
    better imported as a source.

    Raises:
        InvalidRequest: `organization.yaml` is wrong, or names something that it does not define.
    """
    document = OrganizationFile.read(organization)
    loader = _Loader(connection, document)
    async with change(connection, document.organization.id):
        await loader.people()
        await loader.instructions()
        await loader.knowledge(_pieces(items), source_name=items.name)
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
        self._ids: dict[str, dict[str, Any]] = {kind: {} for kind in ("segment", "directory", "instruction", "base")}
        self._sources: Sequence[UUID] = ()
        self._source_of: dict[str, UUID] = {}  # of the items that agents select
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

    async def knowledge(self, content: AsyncIterator[bytes], *, source_name: str) -> None:
        places: dict[str, Place] = {}
        for base in self._document.knowledge_bases:
            base_id = await self._run("upsert_base", name=base.name)
            if base_id is None:
                raise InvalidRequest.of("knowledge_bases.name", f"{base.name!r} is a team's or a person's own")
            self._ids["base"][base.key] = base_id
            source_id = await self._run("upsert_source", base_id=base_id, name=source_name)
            # An item that names no folder stands in that of its knowledge base.
            places[base.key] = Place(source_id, str(FolderKey("base", (str(base_id),))), {})
        self._sources = [place.source_id for place in places.values()]
        first = self._document.knowledge_bases[0].key
        taken: set[str] = set()
        selected = {
            key
            for agent in self._document.agents
            if isinstance(agent.knowledge_scope, KnowledgeSelection)
            for key in agent.knowledge_scope.items
        }

        def place_of(item: Item) -> Place | FieldProblem:
            place = places.get(item.base or first)
            if place is None:
                return FieldProblem("base", f"must be one of: {', '.join(places)}")
            if item.external_id in selected:
                self._source_of.setdefault(item.external_id, place.source_id)
            return place

        async def take_ids(external_ids: Sequence[str]) -> set[str]:
            free = set(external_ids) - taken
            taken.update(free)
            return free

        await prepare(self._connection)
        zone = ZoneInfo(self._document.organization.time_zone)
        async for batch in read_records(content, zone):
            written = await write_items(
                self._connection,
                self._organization_id,
                batch.records,
                zone=zone,
                place_of=place_of,
                take_ids=take_ids,
            )
            self.loaded.rejected += written.rejected
        self.loaded.items = len(taken)

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
            for kind, keys in (("item", knowledge.items), ("folder", knowledge.folders)):
                await self._look_up(kind, keys)
                await self._select(agent, kind, keys)
            await self._select(agent, "base", knowledge.bases)
        for number in agent.numbers:
            if await self._run("route_number", phone_number=number, agent_id=agent.id) is None:
                raise InvalidRequest.of(f"agents.{agent.key}.numbers", "one of them belongs to another organization")
        self.loaded.agents += 1

    async def _select(self, agent: Agent, kind: str, keys: list[str]) -> None:
        for key in keys:
            await self._run(f"select_{kind}", agent_id=agent.id, selected=self._id(kind, key))

    async def _look_up(self, kind: str, keys: Sequence[str]) -> None:
        """Find items or folders that are named, of all that there are."""
        found = self._ids.setdefault(kind, {})
        for key in keys:
            # An item that this file has in one base may stand in another since an earlier load.
            sources = [self._source_of[key]] if key in self._source_of else list(self._sources)
            identity = await self._run(f"{kind}_named", key=key, source_ids=sources)
            if identity is not None:
                found[key] = identity

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


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
    finally:
        file.close()
