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
        object_type: knowledge_base, source, knowledge_sources (what an agent may search; its id), api_key.
        before, after: what an operator knows it by; never what a source says. None where it was not or is not there.
    """

    action: str
    object_type: str
    object_id: UUID
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


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
