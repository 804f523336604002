"""The MCP server over standard input and output: one client, one key."""

from mcp.server.stdio import stdio_server

from retrieval_sidecar.mcp.api import ManagementApi, http_client
from retrieval_sidecar.mcp.server import Asker, Context, create_server


async def serve(base: str, key: str) -> None:
    """Serve until the client closes the input. What the key may do is looked at for each message."""
    async with http_client() as client:
        api = ManagementApi(client, base, key)

        async def asker_of(_context: Context) -> Asker:
            return await Asker.of(api)

        server = create_server(asker_of)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
