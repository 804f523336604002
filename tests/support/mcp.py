"""The real MCP server over both of its transports, asked by the SDK's own client."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from pydantic import AnyHttpUrl

from retrieval_sidecar.mcp import http
from retrieval_sidecar.mcp.settings import McpSettings

ROOT = Path(__file__).parents[2]
Mode = Literal["auto", "legacy"]
Connect = Callable[[str], AbstractAsyncContextManager[Client]]
"""Connects with a key."""


@asynccontextmanager
async def running_mcp(management_url: str, **settings: Any) -> AsyncIterator[str]:
    """The server over HTTP on a free port; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    given = McpSettings(management_url=AnyHttpUrl(management_url), **settings)
    started: asyncio.Future[http.Server] = asyncio.get_running_loop().create_future()

    async def serve() -> None:
        async with http.opened(given) as app:
            server = http.Server(app)
            started.set_result(server)
            await server.serve(sockets=[listener])

    serving = asyncio.create_task(serve())
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        (await started).stop()
        await serving


@asynccontextmanager
async def over_http(url: str, key: str, mode: Mode = "auto", **headers: str) -> AsyncIterator[Client]:
    sent = {"X-API-Key": key} | headers
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60, trust_env=False) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(management_url: str, key: str, mode: Mode = "auto") -> AsyncIterator[Client]:
    async with Client(stdio_client(command(management_url, ANSWERLINE_MCP_API_KEY=key)), mode=mode) as client:
        yield client


def command(management_url: str, **variables: str) -> StdioServerParameters:
    """How a client starts the server."""
    environment = {"PYTHONPATH": str(ROOT), "ANSWERLINE_MANAGEMENT_URL": management_url} | variables
    return StdioServerParameters(command=sys.executable, args=["-m", "retrieval_sidecar", "mcp"], env=environment)


@dataclass(frozen=True)
class Called:
    """What came of a call, however it was said."""

    failed: bool
    text: str
    body: Any

    @property
    def code(self) -> str:
        """Why it failed."""
        assert self.failed, self
        return self.text.partition("\n")[0].removeprefix("error: ")


async def call(client: Client, name: str, **arguments: Any) -> Called:
    """Call a tool; where it did something, what it says in words and as structure is the same."""
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    if not result.is_error:
        assert json.loads(content.text) == result.structured_content
    return Called(bool(result.is_error), content.text, result.structured_content)
