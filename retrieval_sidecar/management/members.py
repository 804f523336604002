"""Members: the people of an organization, what each may do, and that somebody can always manage it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, Forbidden
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller, Permission
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.organization.rows import after as after_place
from retrieval_sidecar.organization.rows import place_of
from retrieval_sidecar.sources.bases import delete_base
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")


@dataclass(frozen=True, slots=True)
class Member:
    """A member; `keys` is how many are theirs and not revoked."""

    member_id: UUID
    name: str
    permissions: Sequence[Permission]
    created_at: datetime
    keys: int

    @property
    def place(self) -> tuple[str, str]:
        return place_of(self.name, self.member_id)

    def as_record(self) -> dict[str, Any]:
        return {"name": self.name, "permissions": list(self.permissions)}


def require_may_grant(caller: Caller, permissions: Iterable[Permission]) -> None:
    """Raise Forbidden where these are more than the caller has."""
    for each in permissions:
        if not caller.may(each):
            raise Forbidden(each)


async def require_admin(connection: Connection, organization_id: UUID, now: datetime) -> None:
    """Raise Conflict where no key is left that may do all; belongs at the end of what may have taken the last away."""
    parameters = {"organization_id": organization_id, "now": now}
    row = await (await connection.execute(_SQL["has_admin_key"], parameters)).fetchone()
    if row is None or not row[0]:
        raise Conflict(
            "After this no key with the permission admin would be left, and nobody could manage members and keys. Make"
            " another one first."
        )


async def list_members(
    connection: Connection, organization_id: UUID, *, after: tuple[str, UUID], limit: int
) -> list[Member]:
    """By name, those after a place."""
    parameters = {"organization_id": organization_id, "limit": limit} | after_place(after)
    return [Member(*row) async for row in await connection.execute(_SQL["list_members"], parameters)]


async def find_member(connection: Connection, organization_id: UUID, member_id: UUID) -> Member:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "member_id": member_id}
    row = await require_row(connection, _SQL["find_member"], parameters)
    return Member(*row)


async def create_member(
    connection: Connection, organization_id: UUID, name: str, permissions: Iterable[str], now: datetime
) -> Member:
    """Somebody new, without a key yet. Raises InvalidRequest."""
    parameters = {
        "organization_id": organization_id,
        "name": name_of(name),
        "permissions": sorted(set(permissions)),
        "now": now,
    }
    row = await (await connection.execute(_SQL["add_member"], parameters)).fetchone()
    assert row is not None  # noqa: S101 - an insertion without a condition gives its row
    return await find_member(connection, organization_id, row[0])


async def update_member(
    connection: Connection, organization_id: UUID, member_id: UUID, wanted: Mapping[str, Any], now: datetime
) -> tuple[Member, Member]:
    """Change name or permissions, which their keys feel at once; the member before and after.

    Raises InvalidRequest, NotFound, and Conflict where nobody would be left who may do all.
    """
    async with change(connection, organization_id):
        before = await find_member(connection, organization_id, member_id)
        values = {
            "name": name_of(wanted["name"]) if "name" in wanted else before.name,
            "permissions": sorted(set(wanted.get("permissions", before.permissions))),
        }
        parameters = {"organization_id": organization_id, "member_id": member_id} | values
        await connection.execute(_SQL["update_member"], parameters)
        await require_admin(connection, organization_id, now)
        return before, await find_member(connection, organization_id, member_id)


async def remove_member(connection: Connection, organization_id: UUID, member_id: UUID, now: datetime) -> list[Change]:
    """Remove somebody, and end their keys; what was done, for the audit log.

    Of their own knowledge bases those that they have published become the organization's. The others, which nobody else
    could see, go with them. Raises NotFound, and Conflict where nobody would be left who may do all.
    """
    of_member = {"organization_id": organization_id, "member_id": member_id}
    async with change(connection, organization_id):
        member = await find_member(connection, organization_id, member_id)
        keys = await (await connection.execute(_SQL["keys_of_member"], of_member)).fetchall()
        bases = await (await connection.execute(_SQL["bases_of_member"], of_member)).fetchall()
        for base_id, _, is_published in bases:
            if is_published:
                await connection.execute(_SQL["hand_over_base"], of_member | {"base_id": base_id})
            else:
                await delete_base(connection, organization_id, base_id, even_if_used=True)
        await connection.execute(_SQL["delete_member"], of_member)
        await require_admin(connection, organization_id, now)
    return [
        Change("delete", "member", member_id, before=member.as_record()),
        *(Change("revoke", "api_key", key_id, before={"name": name}) for key_id, name in keys),
        *(_fate(base_id, name, is_published=is_published) for base_id, name, is_published in bases),
    ]


def _fate(base_id: UUID, name: str, *, is_published: bool) -> Change:
    if is_published:
        own, handed_over = ({"name": name, "owner_type": each} for each in ("user", "organization"))
        return Change("update", "knowledge_base", base_id, before=own, after=handed_over)
    return Change("delete", "knowledge_base", base_id, before={"owner_type": "user", "published": False})
