"""API keys: `alk_<organization>_<key>_<secret>`, of one organization or of a member of it, with permissions."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID, uuid4

from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import InvalidRequest, NotFound, Unauthorized
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management.audit import Change, record
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")
_KIND = "alk"
_MAX_NAME = 200
_TOUCHED_EVERY = timedelta(minutes=1)

Permission = Literal["agents.view", "agents.edit", "admin"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
_IMPLIED: dict[Permission, frozenset[Permission]] = {
    "agents.view": frozenset({"agents.view"}),
    "agents.edit": frozenset({"agents.view", "agents.edit"}),
    "admin": frozenset(PERMISSIONS),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a key that holds, and what it may do.

    Attributes:
        actor: as the audit log and `created_by` name it.
        member_id: whose key it is; None of the organization's own.
    """

    organization_id: UUID
    actor: str
    permissions: frozenset[Permission]
    member_id: UUID | None = None

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it may be shown; times are None for never."""

    key_id: UUID
    name: str
    permissions: Sequence[Permission]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    member_id: UUID | None

    def as_record(self) -> dict[str, Any]:
        return _known(self.name, self.permissions, self.expires_at, self.member_id)


def implied(permissions: Iterable[str]) -> frozenset[Permission]:
    """All that these give."""
    return frozenset[Permission]().union(*(_IMPLIED[each] for each in PERMISSIONS if each in set(permissions)))


def parse_key(text: str | None) -> Credential | None:
    """The key of a header; None where it is none by its form."""
    return Credential.parse(text, _KIND, ids=2) if text else None


def looks_like_key(text: str) -> bool:
    return text.strip().startswith(f"{_KIND}_")


async def create_key(
    connection: Connection,
    organization_id: UUID,
    name: str,
    permissions: Collection[str],
    now: datetime,
    *,
    actor: str,
    expires_at: datetime | None = None,
    member_id: UUID | None = None,
) -> Credential:
    """A new key of an organization, written down. Its text is shown once and cannot be read back.

    Raises as `issue_key` does.
    """
    async with connection.transaction():
        key, change = await issue_key(
            connection, organization_id, name, permissions, now, expires_at=expires_at, member_id=member_id
        )
        await record(connection, organization_id, change, actor, now)
    return key


async def issue_key(
    connection: Connection,
    organization_id: UUID,
    name: str,
    permissions: Collection[str],
    now: datetime,
    *,
    expires_at: datetime | None = None,
    member_id: UUID | None = None,
) -> tuple[Credential, Change]:
    """A new key, and its entry for the audit log.

    Args:
        member_id: whose it is; None for the organization's own.

    Raises:
        InvalidRequest: the name is blank or too long, there is no permission, or one that there is not, or that the
            member has not; there is no such member.
        NotFound: there is no such organization.
    """
    name = name.strip()
    if not 1 <= len(name) <= _MAX_NAME:
        raise InvalidRequest.of("name", f"must hold 1 to {_MAX_NAME} characters")
    if not permissions or not set(permissions) <= set(PERMISSIONS):
        raise InvalidRequest.of("permissions", f"must be one or more of: {', '.join(PERMISSIONS)}")
    granted = sorted(set(permissions))
    await _require_organization(connection, organization_id)
    if member_id is not None:
        await require_within_member(connection, organization_id, member_id, granted)
    key_id = uuid4()
    key = Credential.new(_KIND, organization_id, key_id)
    await connection.execute(
        _SQL["add_key"],
        {
            "organization_id": organization_id,
            "key_id": key_id,
            "name": name,
            "secret_sha256": key.digest,
            "permissions": granted,
            "now": now,
            "expires_at": expires_at,
            "member_id": member_id,
        },
    )
    after = _known(name, granted, expires_at, member_id)
    return key, Change("create", "api_key", key_id, after=after)


async def revoke_key(connection: Connection, organization_id: UUID, key_id: UUID, now: datetime, *, actor: str) -> None:
    """End a key at once. Raises NotFound where there was none to end."""
    parameters = {"organization_id": organization_id, "key_id": key_id, "now": now}
    async with connection.transaction():
        row = await require_row(connection, _SQL["revoke_key"], parameters)
        change = Change("revoke", "api_key", key_id, before={"name": row[0]})
        await record(connection, organization_id, change, actor, now)


async def list_keys(connection: Connection, organization_id: UUID) -> list[Key]:
    """All keys of an organization, the oldest first. Raises NotFound where there is no such organization."""
    await _require_organization(connection, organization_id)
    cursor = await connection.execute(_SQL["list_keys"], {"organization_id": organization_id})
    return [Key(*row) async for row in cursor]


async def authenticate(connection: Connection, key: Credential, now: datetime) -> Caller:
    """Whose key this is and what it may do. Raises Unauthorized, without saying why."""
    organization_id, key_id = key.ids
    row = await _find(connection, organization_id, key_id, now)
    if not key.matches(bytes(row[0]) if row else None) or row is None:
        raise invalid_key()
    return await _used(connection, organization_id, key_id, row, now)


async def authenticate_by_id(connection: Connection, organization_id: UUID, key_id: UUID, now: datetime) -> Caller:
    """What a key may do that was shown before. Raises Unauthorized where it no longer holds."""
    row = await _find(connection, organization_id, key_id, now)
    if row is None:
        raise invalid_key()
    return await _used(connection, organization_id, key_id, row, now)


async def _find(connection: Connection, organization_id: UUID, key_id: UUID, now: datetime) -> TupleRow | None:
    parameters = {"organization_id": organization_id, "key_id": key_id, "now": now}
    return await (await connection.execute(_SQL["find_key"], parameters)).fetchone()


async def _used(connection: Connection, organization_id: UUID, key_id: UUID, row: TupleRow, now: datetime) -> Caller:
    _, permissions, last_used_at, member_id, members_own = row
    before = now - _TOUCHED_EVERY
    if last_used_at is None or last_used_at < before:
        parameters = {"organization_id": organization_id, "key_id": key_id, "now": now, "before": before}
        await connection.execute(_SQL["touch_key"], parameters)
    may = implied(permissions)
    return Caller(organization_id, f"key:{key_id}", may if member_id is None else may & implied(members_own), member_id)


def invalid_key() -> Unauthorized:
    return Unauthorized("API key in the header X-API-Key", "ApiKey")


def _known(
    name: str, permissions: Sequence[str], expires_at: datetime | None, member_id: UUID | None
) -> dict[str, Any]:
    """What the audit log keeps of a key."""
    of_whom = {} if member_id is None else {"member_id": str(member_id)}
    ends = expires_at.isoformat() if expires_at else None
    return {"name": name, "permissions": list(permissions), "expires_at": ends, **of_whom}


async def require_within_member(
    connection: Connection, organization_id: UUID, member_id: UUID, permissions: Collection[str]
) -> None:
    """Raise InvalidRequest where there is no such member, or they may not do what a key of theirs is to be good for."""
    parameters = {"organization_id": organization_id, "member_id": member_id}
    row = await (await connection.execute(_SQL["find_member"], parameters)).fetchone()
    if row is None:
        raise InvalidRequest.of("member_id", "must be a member of this organization")
    if not implied(permissions) <= implied(row[2]):
        raise InvalidRequest.of("permissions", f"must be within what the member may: {', '.join(row[2])}")


async def _require_organization(connection: Connection, organization_id: UUID) -> None:
    parameters = {"organization_id": organization_id}
    row = await (await connection.execute(_SQL["organization_exists"], parameters)).fetchone()
    if row is None or not row[0]:
        raise NotFound
