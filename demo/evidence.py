"""What the sidecar stored of the demo's calls: the timeline is read back, not remembered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from retrieval_sidecar.sql import load

_SQL = load("demo", "evidence.sql")


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a call's timeline, and for a search the row of the search log beside it."""

    type: str
    at: datetime
    data: dict[str, Any]
    search: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A session as stored.

    Attributes:
        status: the terminal status; `active` where nobody ended it.
    """

    session_id: UUID
    status: str
    end_reason: str | None
    scope: dict[str, Any]
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The stored calls by call id, and the items' names by their ids."""

    calls: dict[str, StoredCall]
    external_ids: dict[str, str]


def read_evidence(conninfo: str, organization_id: UUID, call_ids: Sequence[str]) -> Evidence:
    """Read what is stored of these calls."""
    with psycopg.connect(conninfo, row_factory=dict_row) as connection:
        scope = {"organization_id": organization_id, "call_ids": list(call_ids)}
        sessions = connection.execute(_SQL["sessions"], scope).fetchall()
        owned = scope | {"session_ids": [row["session_id"] for row in sessions]}
        searches = {str(row["search_id"]): row for row in connection.execute(_SQL["searches"], owned)}
        events: dict[UUID, list[Event]] = {}
        for row in connection.execute(_SQL["events"], owned):
            search = searches.get(row["data"].get("searchId", ""))
            events.setdefault(row["session_id"], []).append(Event(row["type"], row["at"], row["data"], search))
        items = connection.execute(_SQL["items"], scope).fetchall()
    return Evidence(
        calls={
            row["call_id"]: StoredCall(
                row["session_id"],
                row["status"],
                row["end_reason"],
                row["scope_snapshot"],
                tuple(events.get(row["session_id"], ())),
            )
            for row in sessions
        },
        external_ids={str(row["item_id"]): row["external_id"] for row in items},
    )
