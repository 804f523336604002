"""The MCP server over HTTP: who is let in, before a message is looked at.

Each request stands for itself and shows its own key, so no session can be taken over and any number of processes may
serve.
"""

import asyncio
import http
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from retrieval_sidecar.management.keys import parse_key
from retrieval_sidecar.management.throttle import Throttle
from retrieval_sidecar.mcp.api import ManagementApi, Refused, Unreachable, http_client
from retrieval_sidecar.mcp.server import Asker, Context, create_server
from retrieval_sidecar.mcp.settings import McpSettings, listed

log = structlog.get_logger()

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# A selection with as many ids as the management API takes.
_MAX_BODY_BYTES = 4 * 1024 * 1024
_MAX_CONNECTIONS = 200
# Fewer than the management API lets pass, so that nobody here can have another's key refused there.
_OF_KEY, _OF_ADDRESS = (5, 12.0), (30, 2.0)
_ASKER = "answerline.asker"
_BEARER = "Bearer "


class Turned(Exception):
    """A request that is not let in, and what it is told: a problem document, as the management API has them."""

    def __init__(self, status: int, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        title = http.HTTPStatus(status).phrase
        said = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response: Response = JSONResponse(said, status, named, media_type="application/problem+json")


class Door:
    """Lets a request through to the server when it is no page's doing and shows a key that holds."""

    def __init__(
        self, app: ASGIApp, api_of: Callable[[str], ManagementApi], security: TransportSecuritySettings
    ) -> None:
        self._app = app
        self._api_of = api_of
        self._security = TransportSecurityMiddleware(security)
        clock = asyncio.get_running_loop().time
        self._of_key, self._of_address = Throttle(*_OF_KEY, clock), Throttle(*_OF_ADDRESS, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        refusal = await self._security.validate_request(request, is_post=True)
        if refusal is None:
            try:
                scope[_ASKER] = await self._asker(request)
            except Turned as turned:
                refusal = turned.response
        await (refusal or self._app)(scope, receive, send)

    async def _asker(self, request: Request) -> Asker:
        """Who asks. Raises Turned."""
        if request.url.query:
            raise Turned(400, "invalid_request", "Nothing is asked in the address: a key goes into a header.")
        shown = _shown_key(request)
        key = parse_key(shown)
        address = request.client.host if request.client else None
        who = (address, key.ids if key else None)
        if wait_s := self._of_key.wait_s(who):
            raise _too_many(wait_s)
        try:
            if shown is not None and key is not None:
                return await Asker.of(self._api_of(shown))
        except Unreachable as error:
            log.warning("management API not reached", cause=type(error.__cause__).__name__)
            raise Turned(503, "unavailable", str(error), Retry_After="5") from None
        except Refused as error:
            if error.status != http.HTTPStatus.UNAUTHORIZED:
                again = {} if error.retry_after_s is None else {"Retry_After": error.retry_after_s}
                raise Turned(error.status, error.code, str(error), **again) from None
        wait_s = self._of_address.wait_s(address)
        self._of_key.failed(who)
        self._of_address.failed(address)
        log.warning("key refused", key_id=str(key.ids[-1]) if key else None, address=address)
        raise _too_many(wait_s) if wait_s else _unauthorized()


@asynccontextmanager
async def opened(settings: McpSettings) -> AsyncIterator[Starlette]:
    """The application, for as long as this lasts."""
    async with http_client() as client:
        manager = StreamableHTTPSessionManager(
            create_server(_asker_of), json_response=True, stateless=True, max_request_body_size=_MAX_BODY_BYTES
        )
        hosts = [*_LOOPBACK, *(f"{each}:*" for each in _LOOPBACK), *listed(settings.mcp_hosts)]
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=listed(settings.mcp_origins))
        door = Door(manager.handle_request, lambda key: ManagementApi(client, settings.base, key), security)
        async with manager.run():
            # There is nothing to listen for between requests, so nothing but POST.
            yield Starlette(routes=[Route(PATH, door, methods=["POST"]), Route("/livez", _alive)])


class Server(uvicorn.Server):
    """What speaks HTTP; addresses are those of the connections, whatever a header says."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_graceful_shutdown=10,
            )
        )

    def stop(self) -> None:
        """Answer what was asked, and end."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to who serves: uvicorn would end by the signal itself, as if it had failed."""
        yield


async def serve(settings: McpSettings, listener: socket.socket) -> None:
    """Serve on a socket until told to stop (SIGTERM or Ctrl-C)."""
    async with opened(settings) as app:
        server = Server(app)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
        await server.serve(sockets=[listener])


async def _asker_of(context: Context) -> Asker:
    assert context.request is not None  # noqa: S101 - of HTTP it is there
    found: Asker = context.request.scope[_ASKER]
    return found


async def _alive(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _shown_key(request: Request) -> str | None:
    """The key of a request: one header, of one kind."""
    bearer = [each[len(_BEARER) :] for each in request.headers.getlist("Authorization") if each.startswith(_BEARER)]
    shown = request.headers.getlist("X-API-Key") + bearer
    return shown[0].strip() if len(shown) == 1 else None


def _unauthorized() -> Turned:
    said = "A valid API key is required, in the header X-API-Key or as a bearer token."
    return Turned(401, "unauthorized", said, WWW_Authenticate="Bearer")


def _too_many(wait_s: int) -> Turned:
    return Turned(429, "too_many_requests", "Too many requests without a valid API key.", Retry_After=str(wait_s))
