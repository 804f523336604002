"""API keys: `alk_<organization>_<key>_<secret>`, of one organization, with permissions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args
from uuid import UUID, uuid4

from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection
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
    """

    organization_id: UUID
    actor: str
    permissions: frozenset[Permission]

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
) -> Credential:
    """A new key of an organization. Its text is shown once and cannot be read back.

    Raises:
        InvalidRequest: the name is blank or too long, there is no permission, or one that there is not.
        NotFound: there is no such organization.
    """
    name = name.strip()
    if not 1 <= len(name) <= _MAX_NAME:
        raise InvalidRequest.of("name", f"must hold 1 to {_MAX_NAME} characters")
    if not permissions or not set(permissions) <= set(PERMISSIONS):
        raise InvalidRequest.of("permissions", f"must be one or more of: {', '.join(PERMISSIONS)}")
    key_id = uuid4()
    key = Credential.new(_KIND, organization_id, key_id)
    granted = sorted(set(permissions))
    async with connection.transaction():
        await _require_organization(connection, organization_id)
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
            },
        )
        after = {"name": name, "permissions": granted, "expires_at": expires_at.isoformat() if expires_at else None}
        await record(connection, organization_id, Change("create", "api_key", key_id, after=after), actor, now)
    return key


async def revoke_key(connection: Connection, organization_id: UUID, key_id: UUID, now: datetime, *, actor: str) -> None:
    """End a key at once. Raises NotFound where there was none to end."""
    parameters = {"organization_id": organization_id, "key_id": key_id, "now": now}
    async with connection.transaction():
        row = await (await connection.execute(_SQL["revoke_key"], parameters)).fetchone()
        if row is None:
            raise NotFound
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
    _, permissions, last_used_at = row
    before = now - _TOUCHED_EVERY
    if last_used_at is None or last_used_at < before:
        parameters = {"organization_id": organization_id, "key_id": key_id, "now": now, "before": before}
        await connection.execute(_SQL["touch_key"], parameters)
    implied = (_IMPLIED[each] for each in permissions)
    return Caller(organization_id, f"key:{key_id}", frozenset[Permission]().union(*implied))


def invalid_key() -> Unauthorized:
    return Unauthorized("API key in the header X-API-Key", "ApiKey")


async def _require_organization(connection: Connection, organization_id: UUID) -> None:
    parameters = {"organization_id": organization_id}
    row = await (await connection.execute(_SQL["organization_exists"], parameters)).fetchone()
    if row is None or not row[0]:
        raise NotFound
