"""Sessions: one is one call, from bootstrap to its one terminal status."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.voice import (
    Agent,
    Bootstrap,
    BootstrapRequest,
    Contact,
    DynamicInstruction,
    Ended,
    EndRequest,
    EventsAccepted,
    EventsRequest,
    InlineKnowledge,
    ScopeSnapshot,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest, NotFound
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.scope.resolve import SessionKey, read_snapshot, scope_of_session
from retrieval_sidecar.search.whole import find_documents, told_whole
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.voice")


async def bootstrap(
    connection: Connection, token_id: UUID, request: BootstrapRequest, now: datetime
) -> tuple[Bootstrap, bool]:
    """Open the session of a call; the session and whether it is new.

    Raises:
        InvalidRequest: not exactly one of number and agent, an agent's id that two of the token's organizations use,
            or a knowledge base that is not this organization's.
        NotFound: no agent of this token's organizations answers.
    """
    if (request.called_number is None) == (request.agent_id is None):
        raise InvalidRequest.of("calledNumber", "exactly one of calledNumber and agentId names the agent")
    organization_id, agent = await _find_agent(connection, token_id, request)
    contact = await _find_contact(connection, organization_id, request.caller_number)
    await _check_narrowing(connection, organization_id, request.narrow_to_knowledge_base_ids)
    scope = await read_snapshot(connection, organization_id, agent.agent_id, now)
    created = await _one(
        connection,
        "open_session",
        organization_id=organization_id,
        agent_id=agent.agent_id,
        contact_id=contact.contact_id if contact else None,
        call_id=request.call_id,
        room_name=request.room_name,
        narrowed_base_ids=request.narrow_to_knowledge_base_ids,
        scope_snapshot=Jsonb(json.loads(scope.to_wire())),
        now=now,
    )
    if created is None:
        found = await _one(connection, "find_session", organization_id=organization_id, call_id=request.call_id)
        session_id, session_agent_id, contact_id, snapshot = _required(found)
        if session_agent_id != agent.agent_id:
            raise InvalidRequest.of("callId", "is a call that another agent has answered")
        scope = ScopeSnapshot.from_wire(json.dumps(snapshot))
        contact = contact if contact and contact.contact_id == contact_id else None
    else:
        session_id = created[0]
    key = SessionKey(organization_id, agent.agent_id, session_id, token_id)
    answer = Bootstrap(
        session_id=session_id,
        org_id=organization_id,
        agent=agent,
        contact=contact,
        dynamic_instructions=await _dynamic_instructions(connection, organization_id, contact),
        inline_knowledge=await _inline_knowledge(connection, key, now) if agent.knowledge_mode == "auto" else None,
        scope=scope,
    )
    return answer, created is not None


async def report_events(
    connection: Connection, key: SessionKey, request: EventsRequest, now: datetime
) -> EventsAccepted:
    """Add to the timeline, all events or none; those with a known id count as duplicates.

    Raises NotFound, and InvalidRequest for a time that is in no year from 1 to 9999 once it is in UTC.
    """
    accepted = 0
    times = [_in_utc(event.at, f"events.{index}.at") for index, event in enumerate(request.events)]
    async with connection.transaction():
        _required(await _one(connection, "touch_session", **_bound(key), now=now))
        for event, at in zip(request.events, times, strict=True):
            values = json.loads(event.to_wire())
            del values["at"]
            stored = await _one(
                connection,
                "add_event",
                organization_id=key.organization_id,
                session_id=key.session_id,
                event_id=values.pop("id"),
                type=values.pop("type"),
                at=at,
                data=Jsonb(values),
            )
            accepted += stored is not None
    return EventsAccepted(accepted=accepted, duplicates=len(request.events) - accepted)


async def end(connection: Connection, key: SessionKey, request: EndRequest, now: datetime) -> Ended:
    """Give the session its terminal status, if it has none yet. Raises NotFound."""
    row = await _one(
        connection,
        "end_session",
        **_bound(key),
        status=request.status,
        reason=request.reason,
        now=now,
    )
    status, ended_at = _required(row)
    return Ended(session_id=key.session_id, status=status, ended_at=ended_at)


async def end_lost(connection: Connection, before: datetime, now: datetime) -> int:
    """End the calls of which there was no sign since `before`; how many."""
    cursor = await connection.execute(_SQL["end_lost_sessions"], {"before": before, "now": now})
    return cursor.rowcount


async def count_open(connection: Connection, before: datetime) -> tuple[int, int]:
    """How many calls have no terminal status, and of how many of these there was no sign since `before`."""
    cursor = await connection.execute(_SQL["count_open_sessions"], {"before": before})
    row = await cursor.fetchone()
    count, silent = _required(row)
    return count, silent


async def _find_agent(connection: Connection, token_id: UUID, request: BootstrapRequest) -> tuple[UUID, Agent]:
    number = to_e164(request.called_number)
    if number is None and request.agent_id is None:
        raise NotFound
    cursor = await connection.execute(
        _SQL["find_agent"], {"token_id": token_id, "phone_number": number, "agent_id": request.agent_id}
    )
    rows = await cursor.fetchall()
    if len(rows) > 1:
        raise InvalidRequest.of("agentId", "is an agent of several of the token's organizations: name calledNumber")
    organization_id, agent_id, name, language, region, prompt, greeting, handoff, mode = _required(
        next(iter(rows), None)
    )
    return organization_id, Agent(
        agent_id=agent_id,
        name=name,
        language=language,
        region_code=region,
        prompt=prompt,
        greeting=greeting,
        handoff_number=handoff,
        knowledge_mode=mode,
    )


async def _find_contact(connection: Connection, organization_id: UUID, caller_number: str | None) -> Contact | None:
    number = to_e164(caller_number)
    if number is None:
        return None
    row = await _one(connection, "find_contact", organization_id=organization_id, phone_number=number)
    return Contact(contact_id=row[0], name=row[1], language=row[2]) if row else None


async def _check_narrowing(connection: Connection, organization_id: UUID, base_ids: Sequence[UUID] | None) -> None:
    if base_ids is None:
        return
    cursor = await connection.execute(
        _SQL["owned_bases"], {"organization_id": organization_id, "base_ids": list(base_ids)}
    )
    owned = {row[0] async for row in cursor}
    if not owned.issuperset(base_ids):
        raise InvalidRequest.of("narrowToKnowledgeBaseIds", "must name knowledge bases of the agent's organization")


async def _inline_knowledge(connection: Connection, key: SessionKey, now: datetime) -> InlineKnowledge | None:
    """All that the call may hear, where a prompt holds it; by the scope that its searches resolve as well."""
    try:
        scope = await scope_of_session(key, connection, now)
    except NotFound:  # it has ended: it is asked for again, and nobody talks any more
        return None
    text = told_whole(await find_documents(connection, scope))
    return None if text is None else InlineKnowledge(text=text, characters=len(text))


async def _dynamic_instructions(
    connection: Connection, organization_id: UUID, contact: Contact | None
) -> list[DynamicInstruction]:
    cursor = await connection.execute(
        _SQL["dynamic_instructions"],
        {
            "organization_id": organization_id,
            "contact_id": contact.contact_id if contact else None,
        },
    )
    return [DynamicInstruction(id=row[0], title=row[1], content=row[2]) async for row in cursor]


def _in_utc(at: datetime, field: str) -> datetime:
    # Offsets are up to 23:59 in RFC 3339 and less than 16:00 in PostgreSQL.
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest.of(field, "must lie between the years 1 and 9999") from None


def _bound(key: SessionKey) -> dict[str, UUID]:
    return {
        "organization_id": key.organization_id,
        "agent_id": key.agent_id,
        "session_id": key.session_id,
        "token_id": key.token_id,
    }


def _required(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    if row is None:
        raise NotFound
    return row


async def _one(connection: Connection, name: str, **values: Any) -> tuple[Any, ...] | None:
    cursor = await connection.execute(_SQL[name], values)
    return await cursor.fetchone()
