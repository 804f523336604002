"""The MCP server: mcp."""

import asyncio
import logging
import socket
from typing import Annotated

import structlog
import typer

from retrieval_sidecar.cli.shared import app, fail
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.mcp.settings import McpSettings
from retrieval_sidecar.telemetry import configure_logging

log = structlog.get_logger()


@app.command()
def mcp(
    *,
    over_http: Annotated[
        bool, typer.Option("--http", help="Serve any number of clients, each with its own key, until told to stop.")
    ] = False,
) -> None:
    """Let an MCP client list and search knowledge bases and, with agents.edit, change what agents search.

    Without --http it speaks to one client on standard input and output, with the key ANSWERLINE_MCP_API_KEY.
    """
    try:
        settings = McpSettings.from_env()
    except SidecarError as error:
        fail(str(error))
    configure_logging(settings.log_level)
    # The SDK repeats headers that it refuses, and the server speaks of each of its starts.
    for library in ("mcp", "uvicorn"):
        logging.getLogger(library).setLevel(logging.ERROR)
    if over_http:
        _serve_http(settings)
    elif settings.mcp_api_key is None:
        fail("Set ANSWERLINE_MCP_API_KEY, or the file of that name in ANSWERLINE_SECRETS_DIR, to an API key.")
    else:
        from retrieval_sidecar.mcp import stdio  # noqa: PLC0415 - no other command waits for the SDK

        asyncio.run(stdio.serve(settings.base, settings.mcp_api_key.get_secret_value().strip()))


def _serve_http(settings: McpSettings) -> None:
    from retrieval_sidecar.mcp import http  # noqa: PLC0415 - no other command waits for the SDK

    try:
        family = socket.AF_INET6 if ":" in settings.mcp_host else socket.AF_INET
        listener = socket.create_server((settings.mcp_host, settings.mcp_port), family=family)
    except OSError as error:
        fail(f"Cannot listen on {settings.mcp_host} port {settings.mcp_port}: {error.strerror}")
    log.info("mcp listens", port=listener.getsockname()[1])
    asyncio.run(http.serve(settings, listener))
