"""How far the sources of a base are, look by look, and what has changed from one to the next."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Literal
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.sources.sources import Run
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.sources")
_OF_STATE = 6  # columns; the rest are of the latest reading

MOST_WATCHED = 1_000
"""Sources of a base that are looked at, the first by name."""


@dataclass(frozen=True, slots=True)
class State:
    """How far a source is; see `Source`."""

    source_id: UUID
    name: str
    status: Literal["processing", "ready", "failed"]
    is_searchable: bool
    error_code: str | None
    processed_at: datetime | None
    run: Run | None = field(kw_only=True)

    def is_elsewhere_than(self, before: "State | None") -> bool:
        """Whether more has changed than how far it is read."""
        return before is None or self.standing != before.standing

    @property
    def standing(self) -> tuple[object, ...]:
        """All but how far it is read."""
        run_id = self.run.run_id if self.run else None
        return self.name, self.status, self.is_searchable, self.error_code, self.processed_at, run_id


@dataclass(frozen=True, slots=True)
class Seen:
    """What has become of a source.

    Attributes:
        state: None of one that is gone.
        is_progress: whether it is only read further than before.
    """

    source_id: UUID
    state: State | None
    is_progress: bool = False


async def states_of(connection: Connection, organization_id: UUID, base_id: UUID) -> dict[UUID, State]:
    """How far each source of a base is; nothing of a base that is not there."""
    parameters = {"organization_id": organization_id, "base_id": base_id, "limit": MOST_WATCHED}
    cursor = await connection.execute(_SQL["states_of_sources"], parameters)
    states = [
        State(*row[:_OF_STATE], run=None if row[_OF_STATE] is None else Run(*row[_OF_STATE:])) async for row in cursor
    ]
    return {state.source_id: state for state in states}


def changes(before: Mapping[UUID, State], after: Mapping[UUID, State], *, most: int) -> list[Seen]:
    """What is otherwise than before: so many of those at most, the rest is found by the next comparison."""
    return list(islice(_changes(before, after), most))


def _changes(before: Mapping[UUID, State], after: Mapping[UUID, State]) -> Iterator[Seen]:
    for source_id, state in after.items():
        known = before.get(source_id)
        if state.is_elsewhere_than(known):
            yield Seen(source_id, state)
        elif state != known:
            yield Seen(source_id, state, is_progress=True)
    for source_id in before:
        if source_id not in after:
            yield Seen(source_id, None)
