"""Contacts: callers who are known by their number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import errors

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, FieldProblem, InvalidRequest
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.organization.numbers import e164_of
from retrieval_sidecar.organization.rows import after as after_place
from retrieval_sidecar.organization.rows import all_rows, found_row, one_row, place_of, run

_SHOWN_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact.

    Attributes:
        phone_number: in E.164.
        language: that they prefer; None where nobody said.
        segments: the keys of those that they are in, in order.
    """

    contact_id: UUID
    phone_number: str
    name: str
    language: str | None
    segments: Sequence[str]

    @property
    def place(self) -> tuple[str, str]:
        return place_of(self.name, self.contact_id)

    def as_record(self) -> dict[str, Any]:
        """As the audit log, which outlives the contact, has it: of the number, enough to see that it changed."""
        return {
            "name": self.name,
            "phone_number": f"…{self.phone_number[-_SHOWN_DIGITS:]}",
            "language": self.language,
            "segments": list(self.segments),
        }


async def list_contacts(
    connection: Connection, organization_id: UUID, *, after: tuple[str, UUID], limit: int
) -> list[Contact]:
    """By name, those after a place."""
    rows = await all_rows(connection, "list_contacts", organization_id, **after_place(after), limit=limit)
    return [Contact(*row) for row in rows]


async def find_contact(connection: Connection, organization_id: UUID, contact_id: UUID) -> Contact:
    """Raises NotFound."""
    return Contact(*await found_row(connection, "find_contact", organization_id, contact_id=contact_id))


async def create_contact(
    connection: Connection,
    organization_id: UUID,
    *,
    phone_number: str,
    name: str,
    language: str | None,
    segments: Sequence[str],
) -> Contact:
    """Raises InvalidRequest, and Conflict where another contact has the number."""
    values = {"phone_number": e164_of(phone_number), "name": name_of(name), "language": language}
    async with change(connection, organization_id):
        made = await one_row(connection, "add_contact", organization_id, **values)
        if made is None:
            raise _taken()
        await _put_into(connection, organization_id, made[0], segments)
        return await find_contact(connection, organization_id, made[0])


async def update_contact(
    connection: Connection, organization_id: UUID, contact_id: UUID, wanted: Mapping[str, Any]
) -> tuple[Contact, Contact]:
    """Change some fields, by their names; the contact before and after.

    Raises InvalidRequest, NotFound, and Conflict where another contact has the number.
    """
    async with change(connection, organization_id):
        before = await find_contact(connection, organization_id, contact_id)
        values = {
            "phone_number": e164_of(wanted["phone_number"]) if "phone_number" in wanted else before.phone_number,
            "name": name_of(wanted["name"]) if "name" in wanted else before.name,
            "language": wanted.get("language", before.language) or None,
        }
        try:
            await run(connection, "update_contact", organization_id, contact_id=contact_id, **values)
        except errors.UniqueViolation:
            raise _taken() from None
        if "segments" in wanted:
            await run(connection, "clear_segments", organization_id, contact_id=contact_id)
            await _put_into(connection, organization_id, contact_id, wanted["segments"])
        return before, await find_contact(connection, organization_id, contact_id)


async def delete_contact(connection: Connection, organization_id: UUID, contact_id: UUID) -> Contact:
    """Forget a contact; their calls stay, as those of a caller who is not known. Raises NotFound."""
    async with change(connection, organization_id):
        contact = await find_contact(connection, organization_id, contact_id)
        await run(connection, "delete_contact", organization_id, contact_id=contact_id)
    return contact


async def _put_into(connection: Connection, organization_id: UUID, contact_id: UUID, keys: Sequence[str]) -> None:
    if not keys:
        return
    rows = await all_rows(connection, "segments_by_key", organization_id, keys=list(keys))
    there = {row[0] for row in rows}
    if unknown := [place for place, key in enumerate(keys) if key not in there]:
        raise InvalidRequest(
            [
                FieldProblem(f"segments.{place}", "must be the key of a segment of this organization")
                for place in unknown
            ]
        )
    await run(connection, "add_segments", organization_id, contact_id=contact_id, keys=list(keys))


def _taken() -> Conflict:
    return Conflict("There is a contact of this number already.", field="phone_number")
