"""The scope of one search: what this agent may tell this contact now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.rows import dict_row

from contracts.voice import InstructionScope, KnowledgeScope, ScopeSnapshot
from retrieval_sidecar.calibration.stored import read_calibration
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.knowledge.validity import minute_of_week
from retrieval_sidecar.search.relevance import Calibration, calibration_of
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.scope")


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Who asks. All four must belong together."""

    organization_id: UUID
    agent_id: UUID
    session_id: UUID
    token_id: UUID


@dataclass(frozen=True, slots=True)
class KnowledgeSelection:
    """Selected knowledge: what any of the three names. Folders and bases cover items added to them later."""

    item_keys: Sequence[int]
    folder_ids: Sequence[int]
    base_keys: Sequence[int]


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be searched.

    `None` is unrestricted and an empty sequence is nothing: never test one of these for truth.

    Attributes:
        instruction_keys: the instructions that the selection resolves to; None for all.
        knowledge: the selection; None for all.
        narrowed_base_keys: the knowledge bases that the dispatch narrowed the call to; None for no narrowing.
        segment_ids: the contact's; empty for an unknown caller, who sees what needs no segment.
        now: the instant that decides validity.
        minute: minutes of the week on the organization's wall clock.
        space_id, model: the embedding space that answers; None where nothing was indexed yet.
        calibration: of that space's no-match decision.
        partition_id: where the space's vectors are: 0 with everybody's, else by themselves, and indexed.
        dimensions: of the space's vectors.
        with_reserved: whether its owner tries out a base that is not for agents; never of a call.
    """

    organization_id: UUID
    instruction_keys: Sequence[int] | None
    knowledge: KnowledgeSelection | None
    narrowed_base_keys: Sequence[int] | None
    segment_ids: Sequence[int]
    now: datetime
    minute: int
    language: str
    region_code: str
    language_fallbacks: Mapping[str, Sequence[str]]
    space_id: int | None
    model: str | None
    calibration: Calibration = field(default_factory=lambda: calibration_of(None))
    partition_id: int = 0
    dimensions: int = 0
    with_reserved: bool = False


async def scope_of_session(key: SessionKey, connection: Connection, now: datetime) -> Scope:
    """The scope of a call. Raises NotFound where the four of `key` do not belong together, or the call has ended."""
    parameters = {
        "organization_id": key.organization_id,
        "agent_id": key.agent_id,
        "session_id": key.session_id,
        "token_id": key.token_id,
    }
    return await _resolve(connection, "of_session", parameters, now)


async def scope_of_agent(
    organization_id: UUID, agent_id: UUID, caller_number: str | None, connection: Connection, now: datetime
) -> Scope:
    """The scope that a call of this number (E.164) to this agent would have. Raises NotFound."""
    parameters = {"organization_id": organization_id, "agent_id": agent_id, "caller_number": caller_number}
    return await _resolve(connection, "of_agent", parameters, now)


async def scope_of_base(
    organization_id: UUID,
    base_id: UUID,
    contact_id: UUID | None,
    connection: Connection,
    now: datetime,
    *,
    member_id: UUID | None = None,
) -> Scope:
    """All of one knowledge base that a contact, None for an unknown caller, may be told.

    Args:
        member_id: who asks; a base that is not for agents is there for its owner, a team's for its members.

    Raises:
        NotFound: there is no such base within reach, or no such contact.
    """
    parameters = {
        "organization_id": organization_id,
        "base_id": base_id,
        "contact_id": contact_id,
        "member_id": member_id,
    }
    return await _resolve(connection, "of_base", parameters, now)


async def _resolve(connection: Connection, name: str, parameters: dict[str, Any], now: datetime) -> Scope:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL[name], parameters)
        row = await cursor.fetchone()
    if row is None:
        raise NotFound
    return Scope(
        organization_id=parameters["organization_id"],
        instruction_keys=row["instruction_keys"],
        knowledge=_knowledge(row),
        narrowed_base_keys=row["narrowed_base_keys"],
        segment_ids=row["segment_ids"],
        now=now,
        minute=minute_of_week(now, ZoneInfo(row["time_zone"])),
        language=row["language"],
        region_code=row["region_code"] or row["default_region"],
        language_fallbacks=row["language_fallbacks"],
        space_id=row["space_id"],
        model=row["model"],
        calibration=read_calibration(
            row["calibration"], row["model"], organization_id=parameters["organization_id"], space_id=row["space_id"]
        ),
        partition_id=row["partition_id"],
        dimensions=row["dimensions"],
        with_reserved=row.get("with_reserved", False),
    )


def _knowledge(row: Mapping[str, Any]) -> KnowledgeSelection | None:
    if not row["knowledge_selected"]:
        return None
    return KnowledgeSelection(row["item_keys"], row["folder_ids"], row["base_keys"])


async def read_snapshot(connection: Connection, organization_id: UUID, agent_id: UUID, now: datetime) -> ScopeSnapshot:
    """What the operator has selected for an agent, as it is kept with the session."""
    cursor = await connection.execute(_SQL["snapshot"], {"organization_id": organization_id, "agent_id": agent_id})
    row = await cursor.fetchone()
    if row is None:
        raise NotFound
    return ScopeSnapshot(
        instruction_scope=InstructionScope(mode=row[0], instruction_ids=row[1], directory_ids=row[2]),
        knowledge_scope=KnowledgeScope(mode=row[3], item_ids=row[4], folder_keys=row[5]),
        captured_at=now.astimezone(UTC),
    )
