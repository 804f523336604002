"""Calls and searches as the voice API would have written them, at any time."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from tests.support.database import TestDatabase
from tests.support.inspection import rows

SNAPSHOT = (
    '{"instruction_scope": {"mode": "all", "instruction_ids": [], "directory_ids": []},'
    ' "knowledge_scope": {"mode": "all", "item_ids": [], "folder_keys": []}, "captured_at": "2026-11-30T20:15:00Z"}'
)


async def log_call(database: TestDatabase, organization_id: UUID, agent: str, at: str) -> UUID:
    """A call that began then."""
    session_id = uuid4()
    await rows(
        database,
        "insert into call_session (organization_id, session_id, agent_id, call_id, room_name, scope_snapshot,"
        " started_at) select organization_id, %s, agent_id, %s, 'room', %s, %s from phone_agent"
        " where organization_id = %s and name = %s",
        [session_id, str(session_id), SNAPSHOT, moment(at), organization_id, agent],
    )
    return session_id


async def log_search(
    database: TestDatabase, organization_id: UUID, session_id: UUID, at: str, query: str = "what", **fields: Any
) -> UUID:
    """A search of a call; no_match unless told otherwise."""
    search_id = uuid4()
    row = {"status": "no_match", "degraded": False, "total_ms": 10.0} | fields
    await rows(
        database,
        "insert into search_log (organization_id, search_id, session_id, at, query_redacted, language, region_code,"
        " status, result_count, citation_count, result_ids, cross_language_fallback, degraded, embed_ms, search_ms,"
        " total_ms) values (%s, %s, %s, %s, %s, 'en', 'DE', %s, 0, 0, '{}', false, %s, 1, 1, %s)",
        [organization_id, search_id, session_id, moment(at), query, row["status"], row["degraded"], row["total_ms"]],
    )
    return search_id


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
