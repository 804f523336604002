"""`retrieval-sidecar mcp` as clients and operators start it."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.shared.exceptions import MCPError

from retrieval_sidecar.mcp import http as mcp_http
from tests.support.database import TestDatabase
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.mcp import call, command, over_http, over_stdio
from tests.support.small_organization import ORGANIZATION_ID

SENTINEL = "sentinelquery"


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as client:
        yield client


async def started(url: str, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
    """The command as a process, all of it piped."""
    given = command(url, **variables)
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        given.command,
        *given.args,
        *arguments,
        env=get_default_environment() | (given.env or {}),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    """How it ended, and what it said of it."""
    _, said = await process.communicate()
    return process.returncode, said.decode()


async def test_the_key_may_be_a_secret_file(manage: ManagementClient, tmp_path: Path) -> None:
    secret = tmp_path / "ANSWERLINE_MCP_API_KEY"
    secret.write_text(f"{manage.key}\n", encoding="utf-8")
    secret.chmod(0o600)
    given = command(manage.url, ANSWERLINE_SECRETS_DIR=str(tmp_path))
    async with Client(stdio_client(given)) as client:
        assert len((await client.list_tools()).tools) == 4
    secret.chmod(0o644)
    status, said = await ended(await started(manage.url, ANSWERLINE_SECRETS_DIR=str(tmp_path)))
    assert (status, "open to others" in said, manage.key in said) == (1, True, False)


async def test_without_a_key_it_says_what_to_set(manage: ManagementClient) -> None:
    status, said = await ended(await started(manage.url))
    assert (status, "ANSWERLINE_MCP_API_KEY" in said) == (1, True)


async def test_a_key_that_does_not_hold_is_said_to_the_client(manage: ManagementClient) -> None:
    async with over_stdio(manage.url, manage.key[:-1]) as client:
        with pytest.raises(MCPError, match="valid API key"):
            await client.list_tools()
        assert (await call(client, "list_knowledge_bases")).code == "unauthorized"


async def test_over_http_it_serves_until_it_is_told_to_stop_and_logs_nothing_of_what_was_asked(
    manage: ManagementClient,
) -> None:
    process = await started(manage.url, "--http", ANSWERLINE_MCP_PORT="0", ANSWERLINE_LOG_LEVEL="debug")
    assert process.stderr is not None
    logged: list[str] = []
    while not logged or logged[-1].get("event") != "mcp listens":  # type: ignore[attr-defined]
        logged.append(json.loads(await process.stderr.readline()))
    url = f"http://127.0.0.1:{logged[-1]['port']}{mcp_http.PATH}"  # type: ignore[index]
    (base, *_) = (await manage.get("/api/v1/knowledge-bases")).body["items"]
    async with over_http(url, manage.key) as client:
        await call(client, "search_knowledge_base", kb_id=base["id"], query=SENTINEL)
        await call(client, "search_knowledge_base", kb_id=SENTINEL, query=SENTINEL)
    async with aiohttp.ClientSession() as http:
        for headers, body in hostile(manage.key):
            async with http.post(url, data=body, headers={"Content-Type": "application/json"} | headers) as response:
                await response.read()
    process.send_signal(signal.SIGTERM)
    status, said = await ended(process)
    assert status == 0, said
    assert SENTINEL not in said
    assert manage.key.split("_", 3)[3][:-1] not in said
    assert "key refused" in said


def hostile(key: str) -> list[tuple[dict[str, str], str]]:
    holds: dict[str, str] = {"X-API-Key": key, "Accept": "application/json, text/event-stream"}
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": SENTINEL, "params": {SENTINEL: SENTINEL}}
    newest = holds | {"MCP-Protocol-Version": SENTINEL}
    return [
        (holds, json.dumps(message)),
        (newest, json.dumps(message)),
        (holds, json.dumps(message | {"method": "tools/call"})),
        (holds, f'{{"{SENTINEL}'),
        (holds | {"Origin": f"https://{SENTINEL}.example.com"}, json.dumps(message)),
        (holds | {"Host": f"{SENTINEL}.example.com"}, json.dumps(message)),
        ({"X-API-Key": key[:-1]}, json.dumps(message)),
        ({"X-API-Key": SENTINEL}, json.dumps(message)),
    ]
