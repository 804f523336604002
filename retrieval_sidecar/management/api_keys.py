"""Operations on API keys."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from aiohttp import web

from contracts.management import ApiKeyChange, ApiKeyPage, ApiKeyRequest
from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, InvalidRequest
from retrieval_sidecar.http.requests import read_body, read_change, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller, Key, issue_key, require_within_member
from retrieval_sidecar.management.members import require_admin, require_may_grant
from retrieval_sidecar.management.organization_answers import to_key, to_new_key
from retrieval_sidecar.management.pages import is_moment, read_page
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.search.service import Clock
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management")


class ApiKeyHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def operations(self) -> list[Operation]:
        key = "/api-keys/{key_id}"
        return [
            Operation("GET", "/api-keys", "admin", self.list_api_keys),
            Operation("POST", "/api-keys", "admin", self.create_api_key),
            Operation("GET", key, "admin", self.get_api_key),
            Operation("PATCH", key, "admin", self.update_api_key),
            Operation("DELETE", key, "admin", self.revoke_api_key),
        ]

    async def list_api_keys(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_moment)
        after_at, after_id = asked.after or (None, None)
        page_from = {"after_at": after_at, "after_id": after_id, "limit": asked.wanted}

        async def listed(connection: Connection) -> list[Key]:
            parameters = {"organization_id": caller.organization_id} | page_from
            return [Key(*row) async for row in await connection.execute(_SQL["page_of_keys"], parameters)]

        page = asked.of(
            await self._transactions.read(listed), lambda key: (key.created_at.isoformat(), str(key.key_id))
        )
        return answer(ApiKeyPage(items=[to_key(each) for each in page.rows], next_cursor=page.next_cursor))

    async def create_api_key(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, ApiKeyRequest, deadline_in(READ_S))
        require_may_grant(caller, body.permissions)
        now = self._clock()
        _require_future(body.expires_at, now)

        async def create(connection: Connection) -> tuple[web.Response, Change]:
            async with change(connection, caller.organization_id):  # so that the member stays what they are
                key, done = await issue_key(
                    connection,
                    caller.organization_id,
                    name_of(body.name),
                    body.permissions,
                    now,
                    expires_at=body.expires_at,
                    member_id=body.member_id,
                )
            made = await _find(connection, caller.organization_id, done.object_id)
            return answer(to_new_key(made, str(key)), status=201), done

        return await self._transactions.change(caller, create)

    async def get_api_key(self, request: web.Request, caller: Caller) -> web.Response:
        key_id = read_id(request, "key_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Key:
            return await _find(connection, caller.organization_id, key_id)

        return answer(to_key(await self._transactions.read(found)))

    async def update_api_key(self, request: web.Request, caller: Caller) -> web.Response:
        key_id = read_id(request, "key_id")
        wanted = await read_change(request, ApiKeyChange, deadline_in(READ_S))
        require_may_grant(caller, wanted.get("permissions", ()))
        now = self._clock()
        _require_future(wanted.get("expires_at"), now)

        async def update(connection: Connection) -> tuple[Key, Change]:
            async with change(connection, caller.organization_id):
                before = await _find(connection, caller.organization_id, key_id)
                if before.revoked_at is not None:
                    raise Conflict("The API key is revoked, and stays so. Make another one.")
                await _update(connection, caller.organization_id, before, wanted)
                await require_admin(connection, caller.organization_id, now)
                after = await _find(connection, caller.organization_id, key_id)
            return after, Change("update", "api_key", key_id, before=before.as_record(), after=after.as_record())

        return answer(to_key(await self._transactions.change(caller, update)))

    async def revoke_api_key(self, request: web.Request, caller: Caller) -> web.Response:
        key_id = read_id(request, "key_id")
        refuse_parameters(request)
        now = self._clock()

        async def revoke(connection: Connection) -> tuple[None, Change]:
            parameters = {"organization_id": caller.organization_id, "key_id": key_id, "now": now}
            async with change(connection, caller.organization_id):
                row = await require_row(connection, _SQL["revoke_key"], parameters)
                await require_admin(connection, caller.organization_id, now)
            return None, Change("revoke", "api_key", key_id, before={"name": row[0]})

        await self._transactions.change(caller, revoke)
        return web.Response(status=204)


async def _find(connection: Connection, organization_id: UUID, key_id: UUID) -> Key:
    parameters = {"organization_id": organization_id, "key_id": key_id}
    row = await require_row(connection, _SQL["find_key_by_id"], parameters)
    return Key(*row)


async def _update(connection: Connection, organization_id: UUID, before: Key, wanted: Mapping[str, Any]) -> None:
    values = {
        "name": name_of(wanted["name"]) if "name" in wanted else before.name,
        "permissions": sorted(set(wanted.get("permissions", before.permissions))),
        "expires_at": wanted.get("expires_at", before.expires_at),
    }
    if before.member_id is not None and "permissions" in wanted:
        await require_within_member(connection, organization_id, before.member_id, values["permissions"])
    parameters = {"organization_id": organization_id, "key_id": before.key_id} | values
    await connection.execute(_SQL["update_key"], parameters)


def _require_future(expires_at: datetime | None, now: datetime) -> None:
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest.of("expires_at", "must lie in the future")
