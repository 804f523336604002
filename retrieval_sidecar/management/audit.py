"""The audit log: who changed what, written in the transaction of the change itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a thing.

    Attributes:
        action: create, update, delete, reprocess, revoke.
        object_type: knowledge_base, source, knowledge_item, instruction, instruction_directory, phone_agent,
            knowledge_sources (what an agent may search; its id), phone_number, contact, segment, team, member, api_key,
            organization.
        before, after: what an operator knows it by; never what a source says. None where it was not or is not there.
    """

    action: str
    object_type: str
    object_id: UUID
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A change as it was written down, and by whom."""

    entry_id: int
    at: datetime
    actor: str
    change: Change


async def list_entries(
    connection: Connection,
    organization_id: UUID,
    *,
    object_id: UUID | None,
    before: int | None,
    limit: int,
    with_people: bool,
) -> list[Entry]:
    """The latest first.

    Args:
        object_id: of what was changed; None for everything.
        before: the entry that the page goes back from; None for the latest.
        with_people: whether also what was done to members and keys.
    """
    parameters = {
        "organization_id": organization_id,
        "object_id": object_id,
        "before_id": before,
        "limit": limit,
        "with_people": with_people,
    }
    cursor = await connection.execute(_SQL["list_entries"], parameters)
    return [Entry(row[0], row[1], row[2], Change(*row[3:])) async for row in cursor]


async def record(connection: Connection, organization_id: UUID, change: Change, actor: str, now: datetime) -> None:
    """Write a change down; belongs into its transaction, so that there is never one without the other."""
    await connection.execute(
        _SQL["record"],
        {
            "organization_id": organization_id,
            "at": now,
            "actor": actor,
            "action": change.action,
            "object_type": change.object_type,
            "object_id": change.object_id,
            "before": None if change.before is None else Jsonb(change.before),
            "after": None if change.after is None else Jsonb(change.after),
        },
    )
