"""Members, teams and API keys over the management API: nobody does more than they may, and somebody always may all."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.errors import Forbidden
from retrieval_sidecar.management.keys import PERMISSIONS, Caller, Permission
from retrieval_sidecar.management.members import require_may_grant
from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import ORGANIZATION_ID

KEYS, MEMBERS, TEAMS = "/api/v1/api-keys", "/api/v1/members", "/api/v1/teams"


@pytest_asyncio.fixture
async def admin(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), clock=clock) as client:
        yield client


def id_of(client: ManagementClient) -> str:
    return str(UUID(client.key.split("_")[2]))


async def new_member(admin: ManagementClient, *permissions: str, name: str = "Kim Osei") -> str:
    return str((await admin.new("members", {"name": name, "permissions": permissions}))["id"])


async def with_new_key(admin: ManagementClient, *permissions: str, **fields: Any) -> ManagementClient:
    made = await admin.new("api-keys", {"name": "laptop", "permissions": permissions} | fields)
    return admin.with_key(made["key"])


# Keys


async def test_a_keys_secret_is_shown_once_and_nowhere_else(admin: ManagementClient, database: TestDatabase) -> None:
    made = await admin.new("api-keys", {"name": " Nightly  import ", "permissions": ["agents.edit"]})
    assert made == {
        "id": made["id"],
        "name": "Nightly import",
        "permissions": ["agents.edit"],
        "created_at": "2026-12-01T12:00:00Z",
        "key": made["key"],
    }
    assert (await admin.with_key(made["key"]).get(BASES)).status == 200
    shown = {name: each for name, each in made.items() if name != "key"} | {"last_used_at": "2026-12-01T12:00:00Z"}
    assert (await admin.get(f"{KEYS}/{made['id']}")).body == shown
    secret = made["key"].split("_", 3)[3]
    stored = str(await rows(database, "select k::text from api_key k union all select a::text from audit_log a"))
    assert secret not in stored + str((await admin.get(KEYS)).body)


async def test_a_key_is_changed_ends_at_its_time_and_is_revoked(admin: ManagementClient, clock: TestClock) -> None:
    client = await with_new_key(admin, "agents.view", expires_at="2026-12-01T13:00:00Z")
    path = f"{KEYS}/{id_of(client)}"
    assert (await client.post(BASES, {"name": "New"})).status == 403
    changed = await admin.send(
        "PATCH", path, {"permissions": ["agents.edit"], "expires_at": "2026-12-01T16:00:00+01:00"}
    )
    assert (changed.status, changed.body["expires_at"]) == (200, "2026-12-01T15:00:00Z")
    assert (await client.post(BASES, {"name": "New"})).status == 201
    clock.advance(hours=2)
    assert (await client.get(BASES)).status == 200
    clock.advance(hours=1)
    assert (await client.get(BASES)).status == 401
    # One that has ended may be made to hold again, and one that is revoked may not.
    assert (await admin.send("PATCH", path, {"expires_at": "2027-12-01T00:00:00Z"})).status == 200
    assert (await client.get(BASES)).status == 200
    assert (await admin.delete(path)).status == 204
    assert (await client.get(BASES)).status == 401
    assert (await admin.get(path)).body["revoked_at"] == "2026-12-01T15:00:00Z"
    assert (await admin.delete(path)).status == 404
    assert (await admin.send("PATCH", path, {"name": "Again"})).status == 409


async def test_a_key_never_does_more_than_its_member_may_at_the_time(admin: ManagementClient) -> None:
    kim = await new_member(admin, "agents.edit")
    editing, viewing = [await with_new_key(admin, each, member_id=kim) for each in ("agents.edit", "agents.view")]
    refused = await admin.post(KEYS, {"name": "all", "permissions": ["admin"], "member_id": kim})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "permissions")
    assert "agents.edit" in refused.body["errors"][0]["message"]
    key = f"{KEYS}/{id_of(editing)}"
    assert (await admin.send("PATCH", key, {"permissions": ["admin"]})).status == 400
    assert [(await each.post(BASES, {"name": f"New {n}"})).status for n, each in enumerate((editing, viewing))] == [
        201,
        403,
    ]

    await admin.send("PATCH", f"{MEMBERS}/{kim}", {"permissions": ["agents.view"]})
    assert (await editing.post(BASES, {"name": "Newer"})).status == 403
    assert (await editing.get(BASES)).status == 200
    await admin.send("PATCH", f"{MEMBERS}/{kim}", {"permissions": ["admin"]})
    # The key has what it was given, and not what its member has since.
    assert (await editing.post(BASES, {"name": "Newer"})).status == 201
    assert (await editing.get(MEMBERS)).status == 403


@pytest.mark.parametrize("held", PERMISSIONS)
def test_nobody_gives_what_they_have_not(held: Permission) -> None:
    may = PERMISSIONS[: PERMISSIONS.index(held) + 1]
    caller = Caller(ORGANIZATION_ID, "key:x", frozenset(may))
    for given in PERMISSIONS:
        if given in may:
            require_may_grant(caller, [given])
        else:
            with pytest.raises(Forbidden, match=given):
                require_may_grant(caller, ["agents.view", given])


async def test_members_and_keys_are_for_admins(admin: ManagementClient) -> None:
    kim = await new_member(admin, "agents.edit")
    editing = await with_new_key(admin, "agents.edit", member_id=kim)
    for method, path, body in (
        ("GET", KEYS, None),
        ("POST", KEYS, {"name": "mine", "permissions": ["admin"]}),
        ("PATCH", f"{KEYS}/{id_of(editing)}", {"permissions": ["admin"]}),
        ("DELETE", f"{KEYS}/{id_of(admin)}", None),
        ("GET", MEMBERS, None),
        ("PATCH", f"{MEMBERS}/{kim}", {"permissions": ["admin"]}),
        ("DELETE", f"{MEMBERS}/{kim}", None),
        ("PATCH", "/api/v1/organization", {"name": "Mine"}),
    ):
        assert (await editing.send(method, path, body)).status == 403, (method, path)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"permissions": ["agents.view"]}, "name"),
        ({"name": "x"}, "permissions"),
        ({"name": "x", "permissions": []}, "permissions"),
        ({"name": "x", "permissions": ["agents"]}, "permissions.0"),
        ({"name": "\u200b", "permissions": ["admin"]}, "name"),
        ({"name": "x", "permissions": ["admin"], "expires_at": "2026-12-01T12:00:00Z"}, "expires_at"),
        ({"name": "x", "permissions": ["admin"], "expires_at": "tomorrow"}, "expires_at"),
        ({"name": "x", "permissions": ["admin"], "member_id": str(uuid4())}, "member_id"),
        ({"name": "x", "permissions": ["admin"], "key": "alk_mine"}, "key"),
    ],
)
async def test_a_key_that_cannot_be_is_refused_by_its_field(
    admin: ManagementClient, body: dict[str, Any], field: str
) -> None:
    refused = await admin.post(KEYS, body)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)


async def test_a_member_of_another_organization_gets_no_key(
    admin: ManagementClient, database: TestDatabase, tmp_path: Path
) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    foreign = admin.with_key(await key_for(database, FOREIGN_ID))
    theirs = await new_member(foreign, "admin")
    refused = await admin.post(KEYS, {"name": "x", "permissions": ["agents.view"], "member_id": theirs})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "member_id")


async def test_pages_of_keys_go_through_all_of_them_once(admin: ManagementClient) -> None:
    made = [id_of(admin)]
    made += [id_of(await with_new_key(admin, "agents.view")) for _ in range(4)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        page = (await admin.get(KEYS, limit=2, **cursor)).body
        found += [each["id"] for each in page["items"]]
        cursor = {"cursor": page.get("next_cursor", "")}
    assert sorted(found) == sorted(made)


# Somebody always may all


async def test_the_last_key_that_may_all_is_not_taken_away(admin: ManagementClient, database: TestDatabase) -> None:
    own = f"{KEYS}/{id_of(admin)}"
    kim = await new_member(admin, "admin")
    viewing = await with_new_key(admin, "agents.view", member_id=kim)
    for method, path, body in (("DELETE", own, None), ("PATCH", own, {"permissions": ["agents.edit"]})):
        refused = await admin.send(method, path, body)
        assert (refused.status, refused.body["code"]) == (409, "conflict")
        assert "admin" in refused.body["detail"]
    assert (await admin.get(own)).body["permissions"] == ["admin"]
    # A key of a member does, while they may all themselves.
    kims = await with_new_key(admin, "admin", member_id=kim)
    assert (await kims.delete(own)).status == 204
    for method, path, body in (
        ("DELETE", f"{MEMBERS}/{kim}", None),
        ("PATCH", f"{MEMBERS}/{kim}", {"permissions": ["agents.edit"]}),
        ("DELETE", f"{KEYS}/{id_of(kims)}", None),
    ):
        assert (await kims.send(method, path, body)).status == 409, (method, path)
    assert (await kims.get(MEMBERS)).status == 200
    assert (await viewing.get(BASES)).status == 200
    assert (
        await value(database, "select count(*) from audit_log where object_type = 'member' and action <> 'create'") == 0
    )


async def test_a_key_that_has_ended_does_not_count(admin: ManagementClient, clock: TestClock) -> None:
    await with_new_key(admin, "admin", expires_at="2026-12-01T13:00:00Z")
    clock.advance(hours=1)
    assert (await admin.delete(f"{KEYS}/{id_of(admin)}")).status == 409


async def test_of_two_who_take_away_each_others_key_one_is_left(admin: ManagementClient) -> None:
    other = await with_new_key(admin, "admin")
    answers = await asyncio.gather(
        admin.delete(f"{KEYS}/{id_of(other)}"),
        other.delete(f"{KEYS}/{id_of(admin)}"),
    )
    assert sorted(each.status for each in answers) in ([204, 401], [204, 409])
    assert sorted([(await each.get(MEMBERS)).status for each in (admin, other)]) == [200, 401]


# Members


async def test_a_member_is_made_found_changed_and_removed(admin: ManagementClient) -> None:
    made = await admin.new("members", {"name": " Kim  Osei ", "permissions": ["agents.view", "agents.edit"]})
    assert made == {
        "id": made["id"],
        "name": "Kim Osei",
        "permissions": ["agents.edit", "agents.view"],
        "created_at": "2026-12-01T12:00:00Z",
        "key_count": 0,
    }
    path = f"{MEMBERS}/{made['id']}"
    await with_new_key(admin, "agents.view", member_id=made["id"])
    assert (await admin.get(path)).body == made | {"key_count": 1}
    renamed = await admin.send("PATCH", path, {"name": "Kim Lund"})
    assert (renamed.status, renamed.body["name"], renamed.body["permissions"]) == (200, "Kim Lund", made["permissions"])
    await new_member(admin, "admin", name="Ada")
    assert [each["name"] for each in (await admin.get(MEMBERS)).body["items"]] == ["Ada", "Kim Lund"]
    assert (await admin.send("PATCH", path, {})).status == 400
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).status == 404


async def test_with_a_member_go_their_keys_and_their_places_in_teams(
    admin: ManagementClient, database: TestDatabase
) -> None:
    kim = await new_member(admin, "agents.edit")
    keys = [await with_new_key(admin, "agents.edit", member_id=kim) for _ in range(2)]
    team = (await keys[0].new("teams", {"name": "Front desk"}))["id"]
    assert (await admin.delete(f"{MEMBERS}/{kim}")).status == 204
    assert [(await each.get(BASES)).status for each in keys] == [401, 401]
    assert (await admin.get(f"{TEAMS}/{team}/members")).body == {"items": []}
    told = await rows(
        database,
        "select action, object_type, object_id::text from audit_log order by entry_id desc limit 3",
    )
    assert set(told) == {
        ("delete", "member", kim),
        *(("revoke", "api_key", id_of(each)) for each in keys),
    }


async def test_where_a_member_cannot_be_removed_their_keys_stay(
    admin: ManagementClient, database: TestDatabase
) -> None:
    kim = await new_member(admin, "agents.edit")
    client = await with_new_key(admin, "agents.edit", member_id=kim)
    await rows(database, "alter table audit_log add check (false) not valid")
    assert (await admin.delete(f"{MEMBERS}/{kim}")).status == 500
    assert (await client.get(BASES)).status == 200


async def test_what_was_done_to_members_and_keys_is_told_to_admins_alone(admin: ManagementClient) -> None:
    kim = await new_member(admin, "agents.edit")
    editing = await with_new_key(admin, "agents.edit", member_id=kim)
    await editing.new("teams", {"name": "Front desk"})
    log = "/api/v1/audit-log"
    assert [each["object_type"] for each in (await admin.get(log, limit=3)).body["items"]] == [
        "team",
        "api_key",
        "member",
    ]
    seen = (await editing.get(log)).body["items"]
    assert [each["object_type"] for each in seen][:1] == ["team"]
    assert {each["object_type"] for each in seen} & {"api_key", "member"} == set()
    for object_id in (kim, id_of(editing)):
        assert (await editing.get(log, object_id=object_id)).body["items"] == []


# Teams


async def test_a_team_is_made_found_renamed_and_removed(admin: ManagementClient) -> None:
    kim = await new_member(admin, "agents.edit")
    client = await with_new_key(admin, "agents.edit", member_id=kim)
    made = await client.new("teams", {"name": "Front desk"})
    assert made == {"id": made["id"], "name": "Front desk", "member_count": 1}
    empty = await admin.new("teams", {"name": "Back office"})
    assert empty["member_count"] == 0
    assert [each["name"] for each in (await admin.get(TEAMS)).body["items"]] == ["Back office", "Front desk"]
    path = f"{TEAMS}/{made['id']}"
    assert (await client.get(path)).body == made
    assert (await client.get(f"{path}/members")).body == {"items": [{"id": kim, "name": "Kim Osei"}]}
    assert (await client.send("PATCH", path, {"name": "Reception"})).body["name"] == "Reception"
    for taken in (
        await client.send("PATCH", path, {"name": "Back office"}),
        await admin.post(TEAMS, {"name": "Reception"}),
    ):
        assert (taken.status, taken.body["errors"][0]["field"]) == (409, "name")
    assert (await client.delete(path)).status == 204
    assert (await client.get(path)).status == 404


async def test_who_is_in_a_team_is_for_its_members_and_admins_to_say(admin: ManagementClient) -> None:
    kim, ada = await new_member(admin, "agents.edit"), await new_member(admin, "agents.edit", name="Ada Lund")
    kims, adas = [await with_new_key(admin, "agents.edit", member_id=each) for each in (kim, ada)]
    service = await with_new_key(admin, "agents.edit")
    team = f"{TEAMS}/{(await kims.new('teams', {'name': 'Front desk'}))['id']}"
    for method, path, body in (
        ("PUT", f"{team}/members/{ada}", None),
        ("DELETE", f"{team}/members/{kim}", None),
        ("PATCH", team, {"name": "Ours"}),
        ("DELETE", team, None),
    ):
        for each in (adas, service):
            assert (await each.send(method, path, body)).status == 403, (method, path)
    assert [(await kims.send("PUT", f"{team}/members/{ada}")).status for _ in range(2)] == [204, 204]
    assert (await adas.get(team)).body["member_count"] == 2
    assert (await adas.delete(f"{team}/members/{kim}")).status == 204
    assert (await adas.delete(f"{team}/members/{kim}")).status == 404
    assert (await kims.send("PUT", f"{team}/members/{kim}")).status == 403
    assert (await admin.send("PUT", f"{team}/members/{kim}")).status == 204
    assert (await admin.send("PUT", f"{team}/members/{uuid4()}")).status == 404
