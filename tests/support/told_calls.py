"""Calls of the sample organization as the voice API writes them down, for the pages that tell of them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.support.database import TestDatabase
from tests.support.inspection import rows

FRONT_DESK, PHARMACY = UUID("0b9f4a7d-3c52-4e18-8f6a-d41e7c95b230"), UUID("c7e1d358-92b4-4f6d-a0c9-5e83f1264b7a")
BEGAN = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)
SNAPSHOT = {
    "instruction_scope": {"mode": "all", "instruction_ids": [], "directory_ids": []},
    "knowledge_scope": {
        "mode": "selected",
        "item_ids": [str(UUID(int=7, version=4))],
        "folder_keys": ["integration:pharmacy-stock/medicines", "upload:Pharmacy%20handbook", "upload:Gone%20folder"],
    },
    "captured_at": BEGAN.isoformat(),
}


async def tell_call(
    database: TestDatabase, agent_id: UUID, began: datetime, status: str = "completed", *, seconds: float = 95
) -> UUID:
    """A call of an agent; its id."""
    ((organization_id,),) = await rows(
        database, "select organization_id from phone_agent where agent_id = %s", [agent_id]
    )
    session_id = uuid4()
    await rows(
        database,
        "insert into call_session (organization_id, session_id, agent_id, call_id, room_name, scope_snapshot, status,"
        " end_reason, started_at, last_seen_at, ended_at) values (%s, %s, %s, %s, 'room', %s, %s, %s, %s, %s, %s)",
        [
            *(organization_id, session_id, agent_id, f"SCL_{session_id.hex[:12]}", json.dumps(SNAPSHOT), status),
            None if status == "active" else "caller_hung_up",
            *(began, began, None if status == "active" else began + timedelta(seconds=seconds)),
        ],
    )
    return session_id


async def tell_event(database: TestDatabase, session_id: UUID, after_s: float, kind: str, **data: Any) -> None:
    """Something that the worker reported."""
    await rows(
        database,
        "insert into session_event (organization_id, session_id, event_id, type, at, data)"
        " select organization_id, session_id, %s, %s, started_at + make_interval(secs => %s), %s"
        " from call_session where session_id = %s",
        [uuid4(), kind, after_s, json.dumps(data), session_id],
    )


async def tell_search(
    database: TestDatabase, session_id: UUID, after_s: float, query: str, status: str, *ms: float, sure: float = 0.86
) -> UUID:
    """A search and its milliseconds: of the embedding, of the statement, in all."""
    search_id = uuid4()
    found = [uuid4()] if status == "ok" else []
    await rows(
        database,
        "insert into search_log (organization_id, search_id, session_id, at, query_redacted, language, region_code,"
        " status, result_count, citation_count, result_ids, top_score, top_relevance, cross_language_fallback,"
        " degraded, embed_ms, search_ms, total_ms)"
        " select organization_id, %s, session_id, started_at + make_interval(secs => %s), %s, 'en', 'DE',"
        " %s, %s, 0, %s, %s, %s, false, false, %s, %s, %s from call_session where session_id = %s",
        [search_id, after_s, query, status, len(found), found, sure, sure, *ms, session_id],
    )
    return search_id


async def tell_long_call(database: TestDatabase) -> UUID:
    """A call on which all happened that there is to be told."""
    call = await tell_call(database, PHARMACY, BEGAN, "transferred", seconds=94)
    said = [
        (1, "agent", "Larkfield pharmacy. What can I do for you?"),
        (6, "caller", "Do you have ibuprofen six hundred in stock?"),
        (9, "agent", "Yes, there are boxes of twenty on the shelf."),
        (24, "caller", "And what does the night service cost?"),
        (29, "agent", "That is not in what I know. I can connect you with the pharmacist."),
        (52, "caller", "كم سعر فيتامين د؟"),
        (57, "agent", "I could not look that up just now."),
        (74, "caller", "Then please connect me."),
    ]
    for at, role, text in said:
        more = {"latencyMs": 840.0} if role == "agent" and at > 1 else {}
        await tell_event(database, call, at, "turn", role=role, text=text, **more)
    first = await tell_search(database, call, 7, "ibuprofen 600 in stock", "ok", 31, 9, 44, sure=0.93)
    second = await tell_search(database, call, 25, "night service cost", "no_match", 58, 14, 79, sure=0.21)
    await tell_event(database, call, 7.2, "kb.search", outcome="ok", resultIds=[], ms=63.0, searchId=str(first))
    await tell_event(
        database, call, 25.2, "kb.search", outcome="no_match", resultIds=[], ms=142.0, searchId=str(second)
    )
    await tell_event(database, call, 53, "kb.search", outcome="unavailable", resultIds=[], ms=178.0, attempts=2)
    await tell_event(database, call, 55, "error", source="sidecar", code="timeout")
    await tell_event(database, call, 76, "handoff", reason="caller_asked", outcome="transferred")
    await tell_event(database, call, 80, "kb.later_than_this_console", anything=1)
    return call
