"""Phone numbers: which agent answers when one is dialled. A number leads to one agent in all of the installation."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, InvalidRequest
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.organization.rows import all_rows, found_row, one_row, run


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the organization's own, in E.164, and the agent that answers it."""

    number_id: UUID
    phone_number: str
    agent_id: UUID

    def as_record(self) -> dict[str, Any]:
        return {"phone_number": self.phone_number, "agent_id": str(self.agent_id)}


def e164_of(text: str, field: str = "phone_number") -> str:
    """A number as people write it, in E.164. Raises InvalidRequest, which does not repeat it."""
    number = to_e164(text)
    if number is None:
        raise InvalidRequest.of(field, "must be a phone number with its country code, such as +15550001000")
    return number


async def list_numbers(connection: Connection, organization_id: UUID, *, after: str, limit: int) -> list[Number]:
    """In order, those after a number."""
    rows = await all_rows(connection, "list_numbers", organization_id, after=after, limit=limit)
    return [Number(*row) for row in rows]


async def find_number(connection: Connection, organization_id: UUID, number_id: UUID) -> Number:
    """Raises NotFound."""
    return Number(*await found_row(connection, "find_number", organization_id, number_id=number_id))


async def add_number(connection: Connection, organization_id: UUID, phone_number: str, agent_id: UUID) -> Number:
    """Have an agent answer a number.

    Raises:
        InvalidRequest: it is no number, or the agent is not the organization's.
        Conflict: it leads somewhere already; never says whose it is.
    """
    number = e164_of(phone_number)
    async with change(connection, organization_id):
        await _require_agent(connection, organization_id, agent_id)
        made = await one_row(connection, "add_number", organization_id, phone_number=number, agent_id=agent_id)
        if made is None:
            raise Conflict("The number is in use already.", field="phone_number")
    return Number(made[0], number, agent_id)


async def route_number(
    connection: Connection, organization_id: UUID, number_id: UUID, agent_id: UUID
) -> tuple[Number, Number]:
    """Have another agent answer it; the number before and after. Raises InvalidRequest and NotFound."""
    async with change(connection, organization_id):
        before = await find_number(connection, organization_id, number_id)
        await _require_agent(connection, organization_id, agent_id)
        await run(connection, "route_number", organization_id, number_id=number_id, agent_id=agent_id)
    return before, Number(number_id, before.phone_number, agent_id)


async def delete_number(connection: Connection, organization_id: UUID, number_id: UUID) -> Number:
    """Have no agent answer it; the number as it was. Raises NotFound."""
    async with change(connection, organization_id):
        number = await find_number(connection, organization_id, number_id)
        await run(connection, "delete_number", organization_id, number_id=number_id)
    return number


async def _require_agent(connection: Connection, organization_id: UUID, agent_id: UUID) -> None:
    if await one_row(connection, "find_agent_profile", organization_id, agent_id=agent_id) is None:
        raise InvalidRequest.of("agent_id", "must be a phone agent of this organization")
