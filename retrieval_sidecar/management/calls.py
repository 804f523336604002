"""Operations on calls: which there were, and what happened on one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from aiohttp import web
from psycopg.rows import DictRow, dict_row

from contracts import management as wire
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import NotFound
from retrieval_sidecar.http.requests import (
    read_choice,
    read_id,
    read_id_parameter,
    read_time_parameter,
    refuse_parameters,
)
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_search_of_call
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_moment, read_page
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management", "calls.sql")
_STATUSES = ("active", "completed", "transferred", "failed", "lost")
_MOST = 1_000  # events, and searches, that are told of one call


class CallHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", "/calls", "agents.view", self.list_calls),
            Operation("GET", "/calls/{session_id}", "agents.view", self.get_call),
        ]

    async def list_calls(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_moment, "agent_id", "status", "from", "to")
        at, identity = asked.after or (None, None)
        wanted = {
            "organization_id": caller.organization_id,
            "agent_id": read_id_parameter(request, "agent_id"),
            "status": read_choice(request, "status", _STATUSES),
            "from": read_time_parameter(request, "from"),
            "to": read_time_parameter(request, "to"),
            "before_at": at,
            "before_id": identity,
            "limit": asked.wanted,
        }

        async def listed(connection: Connection) -> list[DictRow]:
            return await _rows(connection, "list_calls", wanted)

        page = asked.of(
            await self._transactions.read(listed),
            lambda row: (row["started_at"].astimezone(UTC).isoformat(), str(row["session_id"])),
        )
        return answer(wire.CallPage(items=[_call(row) for row in page.rows], next_cursor=page.next_cursor))

    async def get_call(self, request: web.Request, caller: Caller) -> web.Response:
        session_id = read_id(request, "session_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> wire.CallTimeline:
            return await _timeline(connection, caller.organization_id, session_id)

        return answer(await self._transactions.read(found))


async def _timeline(connection: Connection, organization_id: UUID, session_id: UUID) -> wire.CallTimeline:
    wanted = {"organization_id": organization_id, "session_id": session_id, "limit": _MOST}
    calls = await _rows(connection, "find_call", wanted)
    if not calls:
        raise NotFound
    return wire.CallTimeline(
        call=_call(calls[0]),
        scope=wire.ScopeSnapshot.model_validate(calls[0]["scope_snapshot"]),
        events=[
            wire.CallEvent(id=row["event_id"], type=row["type"], at=_utc(row["at"]), data=row["data"])
            for row in await _rows(connection, "events_of_call", wanted)
        ],
        searches=[to_search_of_call(row) for row in await _rows(connection, "searches_of_call", wanted)],
    )


async def _rows(connection: Connection, statement: str, parameters: Mapping[str, Any]) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL[statement], parameters)
        return await cursor.fetchall()


def _call(row: DictRow) -> wire.Call:
    return wire.Call(
        session_id=row["session_id"],
        call_id=row["call_id"],
        agent=wire.AgentReference(id=row["agent_id"], name=row["name"]),
        contact_id=row["contact_id"],
        status=row["status"],
        end_reason=row["end_reason"],
        started_at=_utc(row["started_at"]),
        ended_at=_utc(row["ended_at"]) if row["ended_at"] else None,
        search_count=row["searches"],
    )


def _utc(time: datetime) -> datetime:
    return time.astimezone(UTC)
