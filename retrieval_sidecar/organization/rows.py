"""Running the statements of this package, all of which are of one organization."""

from typing import Any
from uuid import UUID

from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.organization")
FIRST = ("", UUID(int=0))
"""The place before all others, in lists by name."""
_BEGINNING = 200  # characters of a name that an order goes by


async def all_rows(connection: Connection, statement: str, organization_id: UUID, **values: Any) -> list[TupleRow]:
    """The rows of a named statement."""
    cursor = await connection.execute(_SQL[statement], {"organization_id": organization_id} | values)
    return await cursor.fetchall()


async def one_row(connection: Connection, statement: str, organization_id: UUID, **values: Any) -> TupleRow | None:
    """The first row of a named statement; None without one."""
    cursor = await connection.execute(_SQL[statement], {"organization_id": organization_id} | values)
    return await cursor.fetchone()


async def found_row(connection: Connection, statement: str, organization_id: UUID, **values: Any) -> TupleRow:
    """The first row of a named statement. Raises NotFound."""
    return await require_row(connection, _SQL[statement], {"organization_id": organization_id} | values)


async def run(connection: Connection, statement: str, organization_id: UUID, **values: Any) -> None:
    """A named statement that gives nothing."""
    await connection.execute(_SQL[statement], {"organization_id": organization_id} | values)


def place_of(name: str, identity: UUID) -> tuple[str, str]:
    """Where a list by name goes on after this."""
    return name[:_BEGINNING], str(identity)


def after(place: tuple[str, UUID]) -> dict[str, Any]:
    """The same for a statement."""
    name, identity = place
    return {"after_name": name, "after_id": identity}
