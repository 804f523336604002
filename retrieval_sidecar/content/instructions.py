"""Instructions, one by one."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from retrieval_sidecar.content.directories import require_directory
from retrieval_sidecar.content.fields import etag_of, line_of, segments_of, text_of
from retrieval_sidecar.content.waiting import wait_for_passages, wait_no_more
from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import LimitReached, NotFound, PreconditionFailed
from retrieval_sidecar.ingest.facts import forget_passages, refresh_facts_of_documents
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text.languages import detect

_SQL = load_sql("retrieval_sidecar.content", "instructions.sql")
_SAID = {"title", "content", "language"}

Status = Literal["draft", "published"]


@dataclass(frozen=True, slots=True)
class InstructionLimits:
    """Bounds of what an organization instructs its agents with. Each is a setting.

    Attributes:
        instructions, directories: of an organization.
        dynamic_characters: of its published dynamic instructions together.
    """

    instructions: int = 5_000
    directories: int = 1_000
    dynamic_characters: int = 30_000

    @classmethod
    def of(cls, settings: Settings) -> "InstructionLimits":
        return cls(settings.max_instructions, settings.max_directories, settings.max_dynamic_characters)


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction as operators see it.

    Attributes:
        dynamic: in the prompt of every call, beside being found.
        segments: their keys, in order; none is for everybody.
        is_indexed: searches know it as it was written last.
        error_code, error: why not, where that has failed.
    """

    instruction_key: int
    instruction_id: UUID
    title: str
    directory_id: UUID
    language: str
    status: Status
    dynamic: bool
    segments: Sequence[str]
    updated_at: datetime
    is_indexed: bool
    error_code: str | None
    error: str | None
    content: str

    def as_record(self) -> dict[str, Any]:
        """What the audit log keeps: how it is set, and of its content no more than whether it is another."""
        return {
            "title": self.title,
            "directory_id": str(self.directory_id),
            "language": self.language,
            "status": self.status,
            "dynamic": self.dynamic,
            "segments": list(self.segments),
            "content_sha256": sha256(self.content.encode()).hexdigest(),
        }

    @property
    def etag(self) -> str:
        """Of all that can be changed of it; not of how far indexing is."""
        return etag_of(self.as_record())


@dataclass(frozen=True, slots=True)
class InstructionFields:
    """What is to be written of an instruction; None leaves it, or has it as usual. `segments` are keys."""

    title: str | None = None
    content: str | None = None
    directory_id: UUID | None = None
    language: str | None = None
    status: Status | None = None
    dynamic: bool | None = None
    segments: Sequence[str] | None = None


async def find_instruction(connection: Connection, organization_id: UUID, instruction_id: UUID) -> Instruction:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "instruction_id": instruction_id}
    row = await require_row(connection, _SQL["find"], parameters)
    return Instruction(*row)


async def create_instruction(
    connection: Connection, organization_id: UUID, wanted: InstructionFields, limits: InstructionLimits
) -> Instruction:
    """Write an instruction. Without a status it is a draft; without a language its own is told from the text.

    Raises:
        InvalidRequest: a field holds what it must not, or names what is not the organization's.
        LimitReached: there are as many as there may be, or more is dynamic than prompts have room for.
    """
    language = wanted.language or await _language(connection, organization_id, wanted.content or "")
    async with change(connection, organization_id):
        row = {"status": "draft", "dynamic": False, "segment_ids": []} | await _values(
            connection, organization_id, wanted
        )
        row |= {"language": language}
        ((count,),) = await (await connection.execute(_SQL["count"], row)).fetchall()
        if count >= limits.instructions:
            raise LimitReached(
                f"An organization may have {limits.instructions} instructions.", "ANSWERLINE_MAX_INSTRUCTIONS"
            )
        ((instruction_id,),) = await (await connection.execute(_SQL["insert"], row)).fetchall()
        await connection.execute(_SQL["add_segments"], row | {"instruction_id": instruction_id})
        instruction = await find_instruction(connection, organization_id, instruction_id)
        await _require_room(connection, organization_id, instruction, limits)
        await wait_for_passages(connection, organization_id, instruction_id)
        return await find_instruction(connection, organization_id, instruction_id)


async def update_instruction(
    connection: Connection,
    organization_id: UUID,
    instruction_id: UUID,
    wanted: InstructionFields,
    limits: InstructionLimits,
    *,
    etag: str,
) -> tuple[Instruction, Instruction]:
    """Change an instruction; as it was and as it is. Whom it is for holds at once; what it says, once indexed.

    Raises NotFound, PreconditionFailed where it has changed since, and what `create_instruction` does.
    """
    async with change(connection, organization_id):
        before = await find_instruction(connection, organization_id, instruction_id)
        if before.etag != etag:
            raise PreconditionFailed
        row = _NOTHING | await _values(connection, organization_id, wanted) | {"instruction_id": instruction_id}
        await connection.execute(_SQL["update"], row)
        if wanted.segments is not None:
            await connection.execute(_SQL["clear_segments"], row)
            await connection.execute(_SQL["add_segments"], row)
        after = await find_instruction(connection, organization_id, instruction_id)
        await _require_room(connection, organization_id, after, limits, before=before)
        if before.error_code or any(getattr(before, name) != getattr(after, name) for name in _SAID):
            await wait_for_passages(connection, organization_id, instruction_id)
            after = await find_instruction(connection, organization_id, instruction_id)
        await refresh_facts_of_documents(connection, organization_id, [instruction_id])
        return before, after


async def delete_instruction(
    connection: Connection, organization_id: UUID, instruction_id: UUID, *, etag: str
) -> Instruction:
    """Remove an instruction, and give it as it was. Agents that had selected it alone are left with nothing.

    Raises NotFound, and PreconditionFailed where it has changed since.
    """
    async with change(connection, organization_id):
        instruction = await find_instruction(connection, organization_id, instruction_id)
        if instruction.etag != etag:
            raise PreconditionFailed
        await forget_passages(connection, organization_id, [instruction_id])
        await connection.execute(_SQL["delete"], {"organization_id": organization_id, "instruction_id": instruction_id})
        await wait_no_more(connection, organization_id, instruction_id)
    return instruction


_NOTHING: dict[str, Any] = dict.fromkeys(("title", "content", "directory_id", "language", "status", "dynamic"))


async def _values(connection: Connection, organization_id: UUID, wanted: InstructionFields) -> dict[str, Any]:
    """What is given, as it is stored. Raises InvalidRequest."""
    given = {name: value for name, value in asdict(wanted).items() if value is not None}
    values: dict[str, Any] = {"organization_id": organization_id, **given}
    if wanted.title is not None:
        values["title"] = line_of("title", wanted.title)
    if wanted.content is not None:
        values["content"] = text_of("content", wanted.content)
    if wanted.directory_id is not None:
        await require_directory(connection, organization_id, wanted.directory_id, "directory_id")
    if wanted.segments is not None:
        values["segment_ids"] = await segments_of(connection, organization_id, wanted.segments)
    return values


async def _language(connection: Connection, organization_id: UUID, content: str) -> str:
    """What language a text is in, or else the organization's own."""
    cursor = await connection.execute(_SQL["default_language"], {"organization_id": organization_id})
    row = await cursor.fetchone()
    if row is None:
        raise NotFound
    return await asyncio.to_thread(detect, content, default=row[0])


async def _require_room(
    connection: Connection,
    organization_id: UUID,
    after: Instruction,
    limits: InstructionLimits,
    *,
    before: Instruction | None = None,
) -> None:
    """Hold what is appended to every prompt to its limit; what is over it already may become less."""
    if _in_prompts(after) <= (0 if before is None else _in_prompts(before)):
        return
    ((characters,),) = await (
        await connection.execute(_SQL["dynamic_characters"], {"organization_id": organization_id})
    ).fetchall()
    if characters > limits.dynamic_characters:
        raise LimitReached(
            f"All published dynamic instructions together may have {limits.dynamic_characters:,} characters, titles"
            f" included: each call's prompt holds them. With this one it would be {characters:,}.",
            "ANSWERLINE_MAX_DYNAMIC_CHARACTERS",
        )


def _in_prompts(instruction: Instruction) -> int:
    is_there = instruction.dynamic and instruction.status == "published"
    return len(instruction.title) + len(instruction.content) if is_there else 0
