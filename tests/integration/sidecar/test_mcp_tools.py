"""The MCP tools do what the key may over the management API, no more, over each transport and protocol."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, LiteralString

import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator

from retrieval_sidecar.management.keys import PERMISSIONS
from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.mcp import Called, Connect, call, over_http, over_stdio, running_mcp
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import MEMBER, ORGANIZATION_ID

READING = ["list_knowledge_bases", "search_knowledge_base"]
EDITING = ["get_phone_agent_knowledge_sources", "update_phone_agent_knowledge_sources"]
GET, UPDATE = EDITING
NOWHERE = "99999999-9999-4999-8999-999999999999"
ETAG = f'"{"0" * 64}"'


@pytest_asyncio.fixture
async def both(database: TestDatabase, tmp_path: Any) -> TestDatabase:
    """The small organization and another one."""
    await load(database, tmp_path, foreign_organization(), foreign_items())
    return database


@pytest_asyncio.fixture
async def manage(both: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(both, await key_for(both, ORGANIZATION_ID), clock=clock) as client:
        yield client


@pytest_asyncio.fixture(params=["http auto", "http legacy", "stdio auto", "stdio legacy"])
async def connect(manage: ManagementClient, request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """How a client connects: by each transport, in the newest protocol and in the one before it."""
    transport, mode = request.param.split()
    if transport == "stdio":
        yield lambda key: over_stdio(manage.url, key, mode)
        return
    async with running_mcp(manage.url) as url:
        yield lambda key: over_http(url, key, mode)


async def agent_named(manage: ManagementClient, name: str) -> str:
    agents = (await manage.get("/api/v1/phone-agents")).body["items"]
    (found,) = [each["id"] for each in agents if each["name"] == name]
    return str(found)


async def base_named(manage: ManagementClient, name: str) -> str:
    bases = (await manage.get(BASES)).body["items"]
    (found,) = [each["id"] for each in bases if each["name"] == name]
    return str(found)


async def selection(manage: ManagementClient, agent_id: str) -> Any:
    return (await manage.get(f"/api/v1/phone-agents/{agent_id}/knowledge-sources")).body


async def test_a_key_is_shown_the_tools_that_it_may_use(both: TestDatabase, connect: Connect) -> None:
    for permission in PERMISSIONS:
        async with connect(await key_for(both, ORGANIZATION_ID, permission)) as client:
            tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == READING + (EDITING if permission != "agents.view" else [])
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (tool.name != UPDATE)
            for schema in (tool.input_schema, tool.output_schema):
                assert schema is not None
                Draft202012Validator.check_schema(schema)
                assert (schema["type"], schema["additionalProperties"]) == ("object", False)


async def test_they_say_what_the_api_says(both: TestDatabase, manage: ManagementClient, connect: Connect) -> None:
    base, agent = await base_named(manage, "Main"), await agent_named(manage, "selected")
    ours: LiteralString = "select contact_id from contact where phone_number = %s and organization_id = %s"
    contact = str(await value(both, ours, (MEMBER, ORGANIZATION_ID)))
    async with connect(await key_for(both, ORGANIZATION_ID, "agents.edit")) as client:
        first = (await call(client, "list_knowledge_bases", limit=1)).body
        assert len(first["items"]) == 1
        second = (await call(client, "list_knowledge_bases", limit=1, cursor=first["next_cursor"])).body
        assert [*first["items"], *second["items"]] == (await manage.get(BASES)).body["items"]
        for question in (
            {"query": "parking in the garage"},
            {"query": "parking in the garage", "limit": 1},
            {"query": "member lounge password", "agent_id": agent, "contact_id": contact},
            {"query": "nothing of the kind whatsoever"},
        ):
            found = (await call(client, "search_knowledge_base", kb_id=base, **question)).body
            asked = (await manage.post(f"{BASES}/{base}/search", question)).body
            assert without_times(found) == without_times(asked)
        read = (await call(client, GET, agent_id=agent)).body
    answer = await manage.get(f"/api/v1/phone-agents/{agent}/knowledge-sources")
    more = {"etag": answer.headers["ETag"], "has_more_directories": False, "has_more_folders": False}
    assert read == answer.body | more


def without_times(body: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in body.items() if not name.endswith("_ms")}


async def test_what_no_caller_may_hear_is_not_found(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    base = await base_named(manage, "Main")
    async with connect(await key_for(both, ORGANIZATION_ID, "agents.view")) as client:
        question = {"kb_id": base, "query": "parking in the garage"}
        assert "parking" in (await call(client, "search_knowledge_base", **question)).text.casefold()
        await rows(both, "update knowledge_item set visibility = 'internal' returning item_id")
        found = (await call(client, "search_knowledge_base", **question)).body
    assert (found["status"], found["results"]) == ("restricted_empty", [])


async def test_a_key_that_only_reads_changes_nothing(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    agent = await agent_named(manage, "selected")
    before = await manage.get(f"/api/v1/phone-agents/{agent}/knowledge-sources")
    async with connect(await key_for(both, ORGANIZATION_ID, "agents.view")) as client:
        refused = [
            await call(client, GET, agent_id=agent),
            await call(client, UPDATE, agent_id=agent, etag=before.headers["ETag"], knowledge_item_ids=[]),
            await call(client, "no_such_tool"),
        ]
    assert [each.code for each in refused] == ["not_found"] * 3
    assert len({each.text for each in refused}) == 1
    assert await selection(manage, agent) == before.body


async def test_ids_of_another_organization_are_not_there(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    foreign = manage.with_key(await key_for(both, FOREIGN_ID))
    their_base = (await foreign.get(BASES)).body["items"][0]["id"]
    (their_agent,) = [each["id"] for each in (await foreign.get("/api/v1/phone-agents")).body["items"]]
    theirs = await foreign.get(f"/api/v1/phone-agents/{their_agent}/knowledge-sources")
    base, agent = await base_named(manage, "Main"), await agent_named(manage, "selected")
    async with connect(await key_for(both, ORGANIZATION_ID)) as client:
        ours = (await call(client, GET, agent_id=agent)).body
        for base_id, agent_id in ((their_base, their_agent), (NOWHERE, NOWHERE)):
            refused = [
                await call(client, "search_knowledge_base", kb_id=base_id, query="parking"),
                await call(client, "search_knowledge_base", kb_id=base, query="parking", agent_id=agent_id),
                await call(client, GET, agent_id=agent_id),
                await call(client, UPDATE, agent_id=agent_id, etag=theirs.headers["ETag"], knowledge_item_ids=[]),
            ]
            assert [each.text for each in refused] == ["error: not_found\nNot found."] * 4
            key = f"base:{base_id}"
            taken = await call(client, UPDATE, agent_id=agent, etag=ours["etag"], knowledge_folder_keys=[key])
            assert taken.failed
        assert (await call(client, GET, agent_id=agent)).body == ours
    assert (await foreign.get(f"/api/v1/phone-agents/{their_agent}/knowledge-sources")).body == theirs.body


async def test_an_update_changes_the_lists_that_are_given(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    agent, base = await agent_named(manage, "selected"), await base_named(manage, "Other")
    key = await key_for(both, ORGANIZATION_ID, "agents.edit")
    async with connect(key) as client:
        before = (await call(client, GET, agent_id=agent)).body
        assert before["knowledge_scope"]["item_ids"]
        assert before["instruction_scope"]["mode"] == "selected"
        given = {"agent_id": agent, "etag": before["etag"], "knowledge_folder_keys": [f"base:{base}"]}
        after = (await call(client, UPDATE, **given)).body
        assert after["knowledge_scope"] == before["knowledge_scope"] | {"folder_keys": [f"base:{base}"]}
        assert after["instruction_scope"] == before["instruction_scope"]
        assert after["etag"] != before["etag"]
        opened = (
            await call(
                client,
                UPDATE,
                agent_id=agent,
                etag=after["etag"],
                knowledge_folder_keys=[],
                knowledge_item_ids=[],
            )
        ).body
        assert opened["knowledge_scope"] == {"mode": "all", "item_ids": [], "folder_keys": []}
        assert opened["instruction_scope"] == before["instruction_scope"]
    entries = (await manage.get("/api/v1/audit-log", object_id=agent)).body["items"]
    assert len(entries) == 2
    assert {entry["actor"].replace("-", "") for entry in entries} == {f"key:{key.split('_')[2]}"}


async def test_of_editors_at_once_none_loses_an_update(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    agent = await agent_named(manage, "open")
    bases = [f"base:{await base_named(manage, name)}" for name in ("Main", "Other")]
    key = await key_for(both, ORGANIZATION_ID, "agents.edit")

    async def add(base: str) -> list[Called]:
        """Select one base more than is selected, as often as it takes; what each try came to."""
        tries: list[Called] = []
        async with connect(key) as client:
            while not tries or tries[-1].failed:
                read = (await call(client, GET, agent_id=agent)).body
                if not tries:
                    await both_have_read.wait()
                keys = [*read["knowledge_scope"]["folder_keys"], base]
                tries.append(await call(client, UPDATE, agent_id=agent, etag=read["etag"], knowledge_folder_keys=keys))
        assert all(each.code == "precondition_failed" for each in tries[:-1])
        return tries

    both_have_read = asyncio.Barrier(2)
    tries = await asyncio.gather(*(add(base) for base in bases))
    assert sorted(len(each) for each in tries) == [1, 2]
    assert sorted((await selection(manage, agent))["knowledge_scope"]["folder_keys"]) == sorted(bases)


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("list_knowledge_bases", {"limit": 0}),
    ("list_knowledge_bases", {"limit": 101}),
    ("list_knowledge_bases", {"limit": True}),
    ("list_knowledge_bases", {"limit": "5"}),
    ("list_knowledge_bases", {"limit": None}),
    ("list_knowledge_bases", {"cursor": "not one of ours"}),
    ("list_knowledge_bases", {"cursor": "x" * 100_000}),
    ("list_knowledge_bases", {"organization_id": str(FOREIGN_ID)}),
    ("search_knowledge_base", {}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": ""}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": "   "}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": "a" * 501}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": "nul \x00"}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": {"$ne": ""}}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": "parking", "limit": 21}),
    ("search_knowledge_base", {"kb_id": "BASE", "query": "parking", "min_score": 0}),
    ("search_knowledge_base", {"kb_id": "../phone-agents", "query": "parking"}),
    ("search_knowledge_base", {"kb_id": "{99999999-9999-4999-8999-999999999999}", "query": "parking"}),
    (GET, {"agent_id": "' or true --"}),
    (GET, {"agent_id": ["AGENT"]}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG"}),
    (UPDATE, {"agent_id": "AGENT", "knowledge_item_ids": []}),
    (UPDATE, {"agent_id": "AGENT", "etag": "*", "knowledge_item_ids": []}),
    (UPDATE, {"agent_id": "AGENT", "etag": f"W/{ETAG}", "knowledge_item_ids": []}),
    (UPDATE, {"agent_id": "AGENT", "etag": f"{ETAG}\r\nX-API-Key: x", "knowledge_item_ids": []}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG", "knowledge_item_ids": None}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG", "knowledge_item_ids": "all"}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG", "knowledge_item_ids": [NOWHERE] * 10_001}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG", "knowledge_folder_keys": ["base:%%%"]}),
    (UPDATE, {"agent_id": "AGENT", "etag": "ETAG", "knowledge_scope_mode": "all"}),
]


async def test_arguments_that_do_not_fit_are_refused_and_change_nothing(
    both: TestDatabase, manage: ManagementClient, connect: Connect
) -> None:
    agent = await agent_named(manage, "selected")
    before = await manage.get(f"/api/v1/phone-agents/{agent}/knowledge-sources")
    real = {"BASE": await base_named(manage, "Main"), "AGENT": agent, "ETAG": before.headers["ETag"]}
    async with connect(await key_for(both, ORGANIZATION_ID)) as client:
        for name, arguments in HOSTILE:
            given = {each: real.get(sent, sent) if isinstance(sent, str) else sent for each, sent in arguments.items()}
            refused = await call(client, name, **given)
            assert refused.code == "invalid_request", (name, arguments, refused)
            assert len(refused.text) < 3_000
        stale = await call(client, UPDATE, agent_id=agent, etag=ETAG, knowledge_item_ids=[])
        assert stale.code == "precondition_failed"
    assert await selection(manage, agent) == before.body
