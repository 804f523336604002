"""The MCP server over HTTP lets nobody in without a key that holds, and no page that it does not know."""

import io
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import aiohttp
import pytest
import pytest_asyncio
from mcp.shared.exceptions import MCPError

from retrieval_sidecar.management.keys import revoke_key
from tests.support.database import TestDatabase
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.mcp import call, over_http, running_mcp
from tests.support.sidecar import Answer, TestClock, connected, read_answer
from tests.support.small_organization import ORGANIZATION_ID

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PAGE = "https://desk.example.com"
NOT_REACHED = "http://127.0.0.1:9"


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), clock=clock) as client:
        yield client


@pytest_asyncio.fixture
async def mcp(manage: ManagementClient) -> AsyncIterator[str]:
    async with running_mcp(manage.url, mcp_hosts="mcp.example.com, desk.example.com:8443", mcp_origins=PAGE) as url:
        yield url


async def send(url: str, headers: Any, body: Any = LIST, method: str = "POST") -> Answer:
    """What any client may send; headers in order, as often as they stand there."""
    sent = [("Accept", "application/json, text/event-stream"), *headers]
    sent.append(("Content-Type", "application/json"))
    data = io.BytesIO(json.dumps(body).encode())
    async with aiohttp.ClientSession() as http, http.request(method, url, data=data, headers=sent) as response:
        return await read_answer(response)


@pytest.mark.parametrize(
    "header", [lambda key: ("X-API-Key", key), lambda key: ("Authorization", f"Bearer {key}")], ids=["own", "bearer"]
)
async def test_a_key_comes_with_each_request(mcp: str, manage: ManagementClient, header: Any) -> None:
    answer = await send(mcp, [header(manage.key)])
    assert answer.status == 200, answer
    assert len(answer.body["result"]["tools"]) == 4
    assert (await send(mcp, [])).status == 401


async def test_a_key_that_does_not_hold_is_refused(
    mcp: str, manage: ManagementClient, database: TestDatabase, clock: TestClock
) -> None:
    *_, secret = manage.key.split("_", 3)
    ended = await key_for(database, ORGANIZATION_ID, expires_at=clock())
    for key in ("alk_", manage.key[:-1], manage.key.replace(secret, "x" * len(secret)), ended):
        answer = await send(mcp, [("X-API-Key", key)])
        assert (answer.status, answer.body["code"]) == (401, "unauthorized"), key
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert secret[:-1] not in str(answer)


async def test_one_key_is_shown_in_one_way(mcp: str, manage: ManagementClient) -> None:
    own, bearer = ("X-API-Key", manage.key), ("Authorization", f"Bearer {manage.key}")
    for headers in ([], [("X-API-Key", "")], [own, own], [own, bearer], [("Authorization", f"Basic {manage.key}")]):
        assert (await send(mcp, headers)).status == 401, headers


async def test_the_sdks_client_learns_that_its_key_does_not_hold(mcp: str, manage: ManagementClient) -> None:
    for mode in ("auto", "legacy"):
        with pytest.raises((MCPError, ExceptionGroup)):
            async with over_http(mcp, manage.key[:-1], mode) as client:
                await client.list_tools()


async def test_a_key_that_was_revoked_does_nothing_more(mcp: str, database: TestDatabase, clock: TestClock) -> None:
    key = await key_for(database, ORGANIZATION_ID, "agents.view")
    async with over_http(mcp, key) as client:
        assert not (await call(client, "list_knowledge_bases")).failed
        async with connected(database, "owner") as connection:
            await revoke_key(connection, ORGANIZATION_ID, UUID(hex=key.split("_")[2]), clock(), actor="test")
        with pytest.raises(MCPError):
            await client.call_tool("list_knowledge_bases", {})


async def test_a_key_in_the_address_is_refused(mcp: str, manage: ManagementClient) -> None:
    answer = await send(f"{mcp}?key={manage.key}", [("X-API-Key", manage.key)])
    assert (answer.status, answer.body["code"]) == (400, "invalid_request")
    assert manage.key not in str(answer)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": PAGE}, 200),
        ({"Host": "mcp.example.com"}, 200),
        ({"Host": "desk.example.com:8443"}, 200),
        ({"Host": "localhost:1234"}, 200),
        ({"Origin": "https://evil.example.net"}, 403),
        ({"Origin": f"{PAGE}.evil.example.net"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example.net"}, 421),
        ({"Host": "127.0.0.1.evil.example.net:8070"}, 421),
        ({"Host": "desk.example.com"}, 421),
    ],
)
async def test_a_page_or_a_name_that_is_not_known_is_refused(
    mcp: str, manage: ManagementClient, headers: dict[str, str], status: int
) -> None:
    answer = await send(mcp, [("X-API-Key", manage.key), *headers.items()])
    assert answer.status == status, answer


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_there_is_nothing_but_messages(mcp: str, manage: ManagementClient, method: str) -> None:
    assert (await send(mcp, [("X-API-Key", manage.key)], method=method)).status == 405
    assert (await send(mcp.replace("/mcp", "/livez"), [], method="GET")).body == {"status": "ok"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([LIST, LIST], 400),
        ({"jsonrpc": "2.0", "id": 1}, 400),
        ("text", 400),
        ({"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {}}, 200),
        ({**LIST, "params": {"text": "x" * 5_000_000}}, 413),
    ],
)
async def test_what_is_no_message_of_ours_does_no_harm(
    mcp: str, manage: ManagementClient, body: Any, status: int
) -> None:
    answer = await send(mcp, [("X-API-Key", manage.key)], body)
    assert answer.status == status, answer
    assert isinstance(answer.body, str) or "result" not in answer.body
    assert (await send(mcp, [("X-API-Key", manage.key)])).status == 200


async def test_who_fails_again_and_again_has_to_wait_and_nobody_else(
    mcp: str, manage: ManagementClient, database: TestDatabase
) -> None:
    guessed = await key_for(database, ORGANIZATION_ID)
    statuses = [(await send(mcp, [("X-API-Key", guessed[:-1])])).status for _ in range(7)]
    assert statuses[:5] == [401] * 5
    assert statuses[-1] == 429
    waiting = await send(mcp, [("X-API-Key", guessed[:-1])])
    assert int(waiting.headers["Retry-After"]) > 0
    # Other keys hold from the same address; and that one still does at the API, whose count is not used up.
    assert (await send(mcp, [("X-API-Key", manage.key)])).status == 200
    assert (await manage.with_key(guessed).get("/api/v1/session")).status == 200


async def test_without_the_management_api_it_says_so(manage: ManagementClient) -> None:
    async with running_mcp(NOT_REACHED) as url:
        answer = await send(url, [("X-API-Key", manage.key)])
    assert (answer.status, answer.body["code"], answer.headers["Retry-After"]) == (503, "unavailable", "5")
