"""Phone agents and the numbers they answer."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.knowledge")


async def agent_of_number(connection: Connection, number: str) -> tuple[UUID, UUID]:
    """The organization and the agent that a dialled number leads to. Raises InvalidRequest."""
    cursor = await connection.execute(_SQL["agent_of_number"], {"phone_number": to_e164(number)})
    row = await cursor.fetchone()
    if row is None:
        raise InvalidRequest.of("number", "must be a number that an agent answers, in E.164")
    return row[0], row[1]
