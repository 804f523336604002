"""Who may do what over the management API: keys, permissions, organizations, and what refusing leaves behind."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote
from uuid import UUID, uuid4

import psycopg
import pytest
import pytest_asyncio
import yaml

from contracts import pins
from retrieval_sidecar.errors import ConfigurationError, InvalidRequest, NotFound
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management.app import BASE, create_app
from retrieval_sidecar.management.keys import PERMISSIONS, create_key, list_keys, revoke_key
from retrieval_sidecar.settings import Settings
from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import row_counts, rows, value
from tests.support.management import BASES, ManagementClient, form, key_for, new_number, running_management
from tests.support.sidecar import Answer, TestClock, connected, load
from tests.support.small_organization import ORGANIZATION_ID

DOCUMENT: dict[str, Any] = yaml.safe_load(pins.document("management"))
OPERATIONS = [
    (method.upper(), path, operation["x-permission"])
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method != "parameters" and operation.get("security") != []
]
BODIES: dict[str, dict[str, Any]] = {
    "/knowledge-bases": {"name": "New"},
    "/knowledge-bases/{kb_id}": {"name": "Renamed"},
    "/url": {"url": "https://help.example.com/"},
    "/text": {"name": "New", "text": "New text."},
    "/search": {"query": "parking"},
    "/knowledge-sources": {"instruction_ids": []},
    "/knowledge-items/{item_id}": {"visibility": "internal"},
    "/instructions/{instruction_id}": {"status": "draft"},
    "/instruction-directories": {"name": "New"},
    "/instruction-directories/{directory_id}": {"name": "Renamed"},
    "/phone-agents": {"name": "New", "language": "en", "prompt": "You answer the phone.", "greeting": "Hello."},
    "/phone-agents/{agent_id}": {"greeting": "Good morning."},
    "/contacts/{contact_id}": {"name": "Renamed"},
    "/segments": {"key": "new", "name": "New"},
    "/segments/{segment_id}": {"name": "Renamed"},
    "/teams": {"name": "New"},
    "/teams/{team_id}": {"name": "Renamed"},
    "/members": {"name": "New", "permissions": ["agents.view"]},
    "/members/{member_id}": {"permissions": ["agents.view"]},
    "/api-keys": {"name": "New", "permissions": ["agents.view"]},
    "/api-keys/{key_id}": {"name": "Renamed"},
    "/organization": {"time_zone": "Asia/Almaty"},
}


WITH_ETAG = {
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method != "parameters" and "412" in operation["responses"]
}

# One of each organization.
CALLS: LiteralString = (
    "insert into call_session (organization_id, agent_id, call_id, room_name, scope_snapshot)"
    " select distinct on (organization_id) organization_id, agent_id, 'call', 'room', jsonb_build_object("
    '\'instruction_scope\', \'{"mode": "all", "instruction_ids": [], "directory_ids": []}\'::jsonb,'
    '\'knowledge_scope\', \'{"mode": "all", "item_ids": [], "folder_keys": []}\'::jsonb,'
    "'captured_at', '2026-11-30T20:15:00Z') from phone_agent"
)
NOWHERE = {"folder_key": "upload:Nowhere"}  # beside ids of chance


async def ask(client: ManagementClient, method: str, path: str, **ids: str) -> Answer:
    """Send a good request of an operation, with these ids."""
    where = path.format(**{name: quote(each, safe="") for name, each in ids.items()})
    if method in ("POST", "PATCH") and path.endswith(("/file", "/jsonl")):
        return await client.send(method, where, data=form(b"{}", "new.txt"))
    others = {
        "/phone-numbers": {"phone_number": new_number(), "agent_id": ids["agent_id"]},
        "/phone-numbers/{number_id}": {"agent_id": ids["agent_id"]},
        "/contacts": {"phone_number": new_number(), "name": "New"},
        "/knowledge-items": {"kb_id": ids["kb_id"], "title": "New", "content": "New text."},
        "/instructions": {"directory_id": ids["directory_id"], "title": "New", "content": "New text."},
    }
    body = next((each for end, each in (BODIES | others).items() if path.endswith(end)), None)
    if method == "DELETE":
        body = None
    if (method, path) in WITH_ETAG:
        # The state that is there, or, where it cannot be read, one that might be.
        etag = (await client.get(where)).headers.get("ETag", f'"{"0" * 64}"')
        return await client.send(method, where, body, headers={"If-Match": etag})
    return await client.send(method, where, body if method in ("POST", "PATCH") else None)


@pytest_asyncio.fixture
async def both(database: TestDatabase, tmp_path: Path) -> TestDatabase:
    """The small organization and another one."""
    await load(database, tmp_path, foreign_organization(), foreign_items())
    await rows(database, CALLS)
    return database


@pytest_asyncio.fixture
async def manage(both: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(both, await key_for(both, ORGANIZATION_ID), clock=clock) as client:
        yield client


async def ids_of(client: ManagementClient) -> dict[str, str]:
    """One of everything that its organization has."""
    base = await client.new_base("Ids")
    source = await client.new_text(base)
    kb_id = base.rpartition("/")[2]
    directory, empty = [await _new(client, "instruction-directories", name=name) for name in ("Full", "Empty")]
    text = {"title": "Ids", "content": "Of ids."}
    (agent, *_) = (await client.get("/api/v1/phone-agents")).body["items"]
    (call,) = (await client.get("/api/v1/calls")).body["items"]
    return await client.new_people(agent["id"]) | {
        "session_id": call["session_id"],
        "kb_id": kb_id,
        "source_id": source.rpartition("/")[2],
        "agent_id": agent["id"],
        "folder_key": f"base:{kb_id}",
        "item_id": await _new(client, "knowledge-items", kb_id=kb_id, **text),
        "instruction_id": await _new(client, "instructions", directory_id=directory, **text),
        "directory_id": empty,
    }


async def _new(client: ManagementClient, path: str, **fields: Any) -> str:
    """The id of something new."""
    answer = await client.post(f"{BASE}/{path}", fields)
    assert answer.status == 201, answer
    return str(answer.body["id"])


async def contents(database: TestDatabase) -> dict[str, int]:
    async with connected(database, "owner") as connection:
        return await row_counts(connection)


def test_the_operations_are_all_there() -> None:
    assert len(OPERATIONS) == 84
    for method, path, permission in OPERATIONS:
        if path.startswith(("/api/v1/members", "/api/v1/api-keys")) or (method, path) == (
            "PATCH",
            f"{BASE}/organization",
        ):
            assert permission == "admin"
        else:
            assert permission == ("agents.view" if reads(method, path) else "agents.edit")


def reads(method: str, path: str) -> bool:
    return method == "GET" or path.endswith(("/search", "/session"))


@pytest.mark.parametrize(("method", "path", "permission"), OPERATIONS)
async def test_ids_of_another_organization_are_not_there(
    manage: ManagementClient, both: TestDatabase, method: str, path: str, permission: str
) -> None:
    foreign = manage.with_key(await key_for(both, FOREIGN_ID))
    ours, theirs = await ids_of(manage), await ids_of(foreign)
    names = re.findall(r"{(\w+)}", path)
    before = await contents(both)
    mixtures = [
        {**ours, **{name: ids[name] for name in chosen}}
        for ids in (theirs, {name: str(uuid4()) for name in ours} | NOWHERE)
        for chosen in (names, *([name] for name in names))
        if chosen
    ]
    for mixture in mixtures:
        answer = await ask(manage, method, path, **mixture)
        assert (answer.status, answer.body["code"]) == (404, "not_found"), (method, path, mixture)
        assert answer.body["detail"] == "Not found."
    assert await contents(both) == before
    assert (await ask(foreign, method, path, **theirs)).status < 300


@pytest.mark.parametrize(("method", "path", "permission"), OPERATIONS)
async def test_each_operation_needs_its_permission(
    manage: ManagementClient, both: TestDatabase, method: str, path: str, permission: str
) -> None:
    ids = await ids_of(manage)
    enough = {"agents.view": PERMISSIONS, "agents.edit": ("agents.edit", "admin"), "admin": ("admin",)}[permission]
    before = await contents(both)
    for granted in PERMISSIONS:
        if granted in enough:
            continue
        answer = await ask(manage.with_key(await key_for(both, ORGANIZATION_ID, granted)), method, path, **ids)
        assert (answer.status, answer.body["code"]) == (403, "forbidden")
        assert permission in answer.body["detail"]
    for key in ("", "alk_", f"alk_{ORGANIZATION_ID.hex}_{uuid4().hex}_secret"):
        assert (await ask(manage.with_key(key), method, path, **ids)).status == 401
    after = await contents(both)
    assert {name: count for name, count in after.items() if before[name] != count}.keys() <= {"api_key", "audit_log"}
    assert len(manage.queue.requested) == 1
    # Who is in a team is for its members to say, or for admins.
    least = "admin" if permission == "agents.edit" and "{team_id}" in path else enough[0]
    assert (await ask(manage.with_key(await key_for(both, ORGANIZATION_ID, least)), method, path, **ids)).status < 300


async def test_permissions_add_up(manage: ManagementClient, both: TestDatabase) -> None:
    key = await key_for(both, ORGANIZATION_ID, "agents.view", "agents.edit")
    assert (await manage.with_key(key).post(BASES, {"name": "New"})).status == 201


async def status_of(manage: ManagementClient, *values: str) -> int:
    """What a list answers to these headers."""
    headers = [("X-API-Key", each) for each in values]
    async with manage.http.get(manage.url + BASES, headers=headers) as response:
        if response.status == 401:
            assert response.headers["WWW-Authenticate"] == "ApiKey"
        return response.status


async def test_everything_but_a_key_that_holds_is_refused_alike(both: TestDatabase) -> None:
    key = await key_for(both, ORGANIZATION_ID)
    kind, organization, key_id, secret = key.split("_", 3)
    wrong = [
        "",
        secret,
        f"alv_{key_id}_{secret}",
        f"alv_{organization}_{key_id}_{secret}",
        f"{kind}_{organization}_{key_id}_",
        f"{kind}_{organization}_{key_id}_{secret[:-1]}",
        f"{kind}_{organization}_{key_id}_{secret}x",
        f"{kind}_{organization}_{key_id}_{secret.swapcase()}",
        f"{kind}_{organization}_{uuid4().hex}_{secret}",
        f"{kind}_{FOREIGN_ID.hex}_{key_id}_{secret}",
        f"{kind}_{key_id}_{organization}_{secret}",
        f"{kind}_{key_id}_{secret}",
        f"{kind}_{organization}_nobody_{secret}",
        f"{kind}_{organization}_{key_id}_пароль",
        "' or 1=1 --",
    ]
    for text in wrong:
        async with running_management(both, key) as manage:
            assert await status_of(manage, text) == 401, text
            assert await status_of(manage, key, text) == 401, text
            assert await status_of(manage) == 401
            assert await status_of(manage, key) == 200


async def test_a_key_ends_at_its_time(manage: ManagementClient, both: TestDatabase, clock: TestClock) -> None:
    key = await key_for(both, ORGANIZATION_ID, expires_at=clock().replace(hour=13))
    clock.advance(minutes=59, seconds=59)
    assert await status_of(manage, key) == 200
    clock.advance(seconds=1)
    assert await status_of(manage, key) == 401
    assert await status_of(manage, manage.key) == 200


async def test_one_key_replaces_another_while_both_hold(manage: ManagementClient, both: TestDatabase) -> None:
    new = await key_for(both, ORGANIZATION_ID)
    assert (await status_of(manage, manage.key), await status_of(manage, new)) == (200, 200)
    async with connected(both, "owner") as connection:
        key_id = UUID(manage.key.split("_")[2])
        now = datetime.now(UTC)
        await revoke_key(connection, ORGANIZATION_ID, key_id, now, actor="test")
        with pytest.raises(NotFound):
            await revoke_key(connection, ORGANIZATION_ID, key_id, now, actor="test")
        with pytest.raises(NotFound):
            await revoke_key(connection, FOREIGN_ID, UUID(new.split("_")[2]), now, actor="test")
    assert (await status_of(manage, manage.key), await status_of(manage, new)) == (401, 200)


async def test_when_a_key_was_used_last_is_known_to_the_minute(
    manage: ManagementClient, both: TestDatabase, clock: TestClock
) -> None:
    async def last_used() -> datetime | None:
        async with connected(both, "manage") as connection:
            (key,) = await list_keys(connection, ORGANIZATION_ID)
            return key.last_used_at

    assert await last_used() is None
    began = clock()
    for seconds in (0, 30, 60):
        clock.now = began.replace(second=0, minute=seconds // 60) if seconds == 60 else began
        await manage.get(BASES)
        assert await last_used() == began
    clock.advance(seconds=1)
    await manage.get(BASES)
    assert await last_used() == clock()


async def test_a_key_that_is_refused_was_not_used(manage: ManagementClient, both: TestDatabase) -> None:
    assert await status_of(manage, manage.key + "x") == 401
    assert await value(both, "select count(*) from api_key where last_used_at is not null") == 0


async def test_only_a_digest_of_a_key_is_stored(both: TestDatabase) -> None:
    secret = (await key_for(both, ORGANIZATION_ID)).split("_", 3)[3]
    stored = str(await rows(both, "select k::text from api_key k union all select a::text from audit_log a"))
    assert secret not in stored


@pytest.mark.parametrize("name", ["key", "api_key", "X-API-Key", "token", "access_token", "cursor", "anything"])
@pytest.mark.parametrize("with_header", [True, False])
async def test_a_key_in_an_address_is_refused(manage: ManagementClient, name: str, *, with_header: bool) -> None:
    client = manage if with_header else manage.with_key("")
    answer = await client.get(BASES, **{name: manage.key})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "X-API-Key")
    assert "Revoke" in answer.body["errors"][0]["message"]
    assert manage.key.split("_", 3)[3] not in str(answer.body)


async def test_who_fails_again_and_again_is_told_to_wait(
    manage: ManagementClient, both: TestDatabase, clock: TestClock
) -> None:
    wrong = manage.with_key(manage.key + "x")
    statuses = [(await wrong.get(BASES)).status for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    refused = await wrong.get(BASES)
    assert (refused.body["code"], refused.headers["Retry-After"]) == ("too_many_requests", "6")
    # The key of this id is not told apart any more; those of others hold.
    assert (await manage.get(BASES)).status == 429
    assert (await manage.with_key(await key_for(both, ORGANIZATION_ID)).get(BASES)).status == 200
    clock.advance(seconds=6)
    assert (await manage.get(BASES)).status == 200


async def test_an_address_that_fails_with_ever_new_keys_is_told_to_wait_and_a_key_that_holds_is_not(
    manage: ManagementClient,
) -> None:
    guesses = [str(Credential.new("alk", ORGANIZATION_ID, uuid4())) for _ in range(70)]
    statuses = [(await manage.with_key(guess).get(BASES)).status for guess in guesses]
    assert statuses == [401] * 60 + [429] * 10
    assert (await manage.get(BASES)).status == 200


async def test_every_change_is_in_the_audit_log_with_who_and_what(
    manage: ManagementClient, both: TestDatabase, clock: TestClock
) -> None:
    await rows(both, "delete from audit_log")
    base = await manage.new_base("Patients")
    await manage.send("PATCH", base, {"name": "Visitors"})
    source = await manage.new_text(base, "Parking", "The sentinel is under the mat.")
    await manage.upload(f"{base}/sources/file", b"sentinel", "a.txt")
    await manage.post(f"{base}/sources/url", {"url": "https://help.example.com/hours", "name": "Hours"})
    await manage.post(f"{source}/reprocess")
    await manage.delete(source)
    await manage.delete(base)
    entries = await rows(both, "select action, object_type, before, after from audit_log order by entry_id")
    kb_id = base.rpartition("/")[2]
    text = {"kb_id": kb_id, "kind": "text", "name": "Parking", "size": 30}
    assert entries == [
        ("create", "knowledge_base", None, {"name": "Patients"}),
        ("update", "knowledge_base", {"name": "Patients"}, {"name": "Visitors"}),
        ("create", "source", None, text),
        ("create", "source", None, {"kb_id": kb_id, "kind": "file", "name": "a.txt", "size": 8}),
        ("create", "source", None, {"kb_id": kb_id, "kind": "url", "name": "Hours", "size": 0}),
        ("reprocess", "source", {"status": "processing"}, {"status": "processing"}),
        ("delete", "source", text, None),
        ("delete", "knowledge_base", {"name": "Visitors", "sources": 2, "items": 0}, None),
    ]
    key_id = UUID(manage.key.split("_")[2])
    who = await rows(both, "select distinct organization_id, actor, at from audit_log")
    assert who == [(ORGANIZATION_ID, f"key:{key_id}", clock())]
    assert await value(both, "select object_id::text from audit_log order by entry_id limit 1") == kb_id


async def test_without_its_entry_in_the_audit_log_nothing_is_changed(
    manage: ManagementClient, both: TestDatabase
) -> None:
    ids = await ids_of(manage)
    await rows(both, "alter table audit_log add check (false) not valid")
    before = await contents(both)
    for method, path, _ in OPERATIONS:
        if not reads(method, path):
            assert (await ask(manage, method, path, **ids)).status == 500, (method, path)
    assert await contents(both) == before
    assert (await manage.get(f"{BASES}/{ids['kb_id']}")).body["name"] == "Ids"
    assert len(manage.queue.requested) == 1


async def test_changes_at_once_are_all_in_the_audit_log(manage: ManagementClient, both: TestDatabase) -> None:
    base = await manage.new_base("Patients")
    answers = await asyncio.gather(*(manage.send("PATCH", base, {"name": f"Name {n}"}) for n in range(4)))
    assert [each.status for each in answers] == [200] * 4
    names = await rows(
        both, "select before ->> 'name', after ->> 'name' from audit_log where action = 'update' order by entry_id"
    )
    before, after = zip(*names, strict=True)
    assert before == ("Patients", *after[:-1])
    assert (await manage.get(base)).body["name"] == after[-1]


async def test_the_role_that_manages_writes_the_audit_log_and_cannot_rewrite_it(database: TestDatabase) -> None:
    for statement in ("update audit_log set actor = 'x'", "delete from audit_log", "delete from api_key"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await rows(database, statement, role="manage")
    for statement in ("select from audit_log", "select from api_key", "select from source_part"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await rows(database, statement, role="voice")


async def test_a_key_needs_a_name_permissions_and_an_organization(database: TestDatabase) -> None:
    now = datetime.now(UTC)
    no_permission: tuple[str, ...] = ()
    async with connected(database, "owner") as connection:
        for name, permissions, field in (
            ("", PERMISSIONS, "name"),
            ("x" * 201, PERMISSIONS, "name"),
            ("x", no_permission, "permissions"),
            ("x", ("agents.view", "agents"), "permissions"),
        ):
            with pytest.raises(InvalidRequest) as refused:
                await create_key(connection, ORGANIZATION_ID, name, permissions, now, actor="test")
            assert refused.value.problems[0].field == field
        with pytest.raises(NotFound):
            await create_key(connection, uuid4(), "x", ["admin"], now, actor="test")
        with pytest.raises(NotFound):
            await list_keys(connection, uuid4())


def test_it_never_listens_where_the_voice_api_does() -> None:
    settings = {"DATABASE_URL": "postgresql://nowhere.example/x", "voice_port": 8080, "embedder": "fake"}
    with pytest.raises(ConfigurationError, match="ANSWERLINE_MANAGEMENT_PORT and ANSWERLINE_VOICE_PORT are both 8080"):
        create_app(Settings.model_validate(settings))
    create_app(Settings.model_validate(settings | {"management_port": 8081}))
    create_app(Settings.model_validate(settings | {"management_port": 0, "voice_port": 0}))


def test_the_two_apis_have_no_path_in_common_but_their_health() -> None:
    voice = yaml.safe_load(pins.document("voice"))["paths"]
    assert set(voice) & set(DOCUMENT["paths"]) == {"/livez", "/readyz"}
    assert all(path.startswith(f"{BASE}/") for path in set(DOCUMENT["paths"]) - {"/livez", "/readyz"})
