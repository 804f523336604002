"""A sidecar for the worker's tests: a real HTTP server, whose every exchange fits the contract."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias
from uuid import UUID, uuid4

from aiohttp import web
from aiohttp.test_utils import TestServer

from contracts import pins
from contracts.voice import (
    Bootstrap,
    BootstrapRequest,
    Ended,
    EndRequest,
    EventsAccepted,
    EventsRequest,
    Problem,
    Readiness,
    SearchEvent,
    SearchRequest,
    SearchResponse,
)
from tests.support.contract_exchange import ContractExchanges, contract_checked_middleware

SESSION: Final = UUID("1f8e2f4c-41a5-4b21-9c8a-5d2b7d2f9a10")
ORG: Final = UUID("6f0d3b6e-3d0c-4c57-9a55-0f6a4b1c2d3e")
AGENT: Final = UUID("0b9f7f0a-8c2e-4f39-9d53-7a1e5c6b8d90")
TOKEN: Final = "voice-token-of-the-tests"

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.Response]]

_CODES: Final = {
    400: ("invalid_request", "Bad Request"),
    401: ("unauthorized", "Unauthorized"),
    404: ("not_found", "Not Found"),
    500: ("internal_error", "Internal Server Error"),
    503: ("unavailable", "Service Unavailable"),
    504: ("deadline_exceeded", "Gateway Timeout"),
}


@dataclass
class FakeSidecar:
    """Answers as told, and keeps what it was sent.

    Attributes:
        bootstrap, search, events, end, ready: what answers the operation; may be replaced.
        deadlines: `X-Deadline-Ms` of each search, in milliseconds.
        disconnected: set when a search was cancelled because its client left.
        bootstrapping, searching, reported_some, ended: set when such a request has arrived.
    """

    exchanges: ContractExchanges
    bootstraps: list[BootstrapRequest] = field(default_factory=list)
    searches: list[SearchRequest] = field(default_factory=list)
    reported: list[EventsRequest] = field(default_factory=list)
    ends: list[EndRequest] = field(default_factory=list)
    deadlines: list[int] = field(default_factory=list)
    bootstrapping: asyncio.Event = field(default_factory=asyncio.Event)
    searching: asyncio.Event = field(default_factory=asyncio.Event)
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    reported_some: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    def __post_init__(self) -> None:
        self.bootstrap: Handler = answering(201, bootstrap_answer().to_wire())
        self.search: Handler = answering(200, found().to_wire())
        self.events: Handler = answering(202, EventsAccepted(accepted=1, duplicates=0).to_wire())
        self.end: Handler = answering(200, Ended(session_id=SESSION, status="completed", ended_at=_AT).to_wire())
        self.ready: Handler = answering(200, readiness().to_wire())

    @property
    def timeline(self) -> list[Any]:
        """All events that were reported, in their order."""
        return [event for request in self.reported for event in request.events]

    @property
    def searched(self) -> list[SearchEvent]:
        """What was reported of searches."""
        return [event for event in self.timeline if isinstance(event, SearchEvent)]

    @property
    def endings(self) -> list[tuple[str, str]]:
        """Status and reason of each end that was told."""
        return [(end.status, end.reason) for end in self.ends]

    async def searched_times(self, number: int) -> None:
        """Wait until so many searches have arrived."""
        async with asyncio.timeout(5):
            while len(self.searches) < number:
                self.searching.clear()
                await self.searching.wait()

    def app(self) -> web.Application:
        """The application of one server."""
        app = web.Application(middlewares=[contract_checked_middleware(self.exchanges), _authorized])
        sessions = "/internal/voice/v1/sessions"
        app.router.add_post(sessions, self._bootstrap)
        app.router.add_post(sessions + "/{id}/tools/knowledge-search", self._search)
        app.router.add_post(sessions + "/{id}/events", self._events)
        app.router.add_post(sessions + "/{id}/end", self._end)
        app.router.add_get("/readyz", self._ready)
        return app

    async def _ready(self, request: web.Request) -> web.Response:
        return await self.ready(request)

    async def _bootstrap(self, request: web.Request) -> web.Response:
        self.bootstraps.append(BootstrapRequest.from_wire(await request.read()))
        self.bootstrapping.set()
        return await self.bootstrap(request)

    async def _search(self, request: web.Request) -> web.Response:
        self.searches.append(SearchRequest.from_wire(await request.read()))
        self.deadlines.append(int(request.headers["X-Deadline-Ms"]))
        self.searching.set()
        try:
            return await self.search(request)
        except asyncio.CancelledError:
            self.disconnected.set()
            raise

    async def _events(self, request: web.Request) -> web.Response:
        answer = await self.events(request)
        if answer.status == 202:
            self.reported.append(EventsRequest.from_wire(await request.read()))
            self.reported_some.set()
        return answer

    async def _end(self, request: web.Request) -> web.Response:
        if request.match_info["id"] != str(SESSION):
            return problem(404)
        self.ends.append(EndRequest.from_wire(await request.read()))
        self.ended.set()
        return await self.end(request)


@asynccontextmanager
async def serving(sidecar: FakeSidecar) -> AsyncIterator[FakeSidecar]:
    """Serve it on a port of its own on loopback."""
    async with TestServer(sidecar.app(), host="127.0.0.1") as server:
        sidecar.url = str(server.make_url("/"))
        yield sidecar


@web.middleware
async def _authorized(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    open_to_all = request.path in {"/readyz", "/livez"}
    if open_to_all or request.headers.get("Authorization") == f"Bearer {TOKEN}":
        return await handler(request)
    return problem(401)


def answering(status: int, body: str) -> Handler:
    """Answers always this."""

    async def handler(_request: web.Request) -> web.Response:
        return web.Response(status=status, text=body, content_type="application/json")

    return handler


def refusing(status: int) -> Handler:
    """Answers always with the problem document of that status."""

    async def handler(_request: web.Request) -> web.Response:
        return problem(status)

    return handler


def in_turn(*handlers: Handler) -> Handler:
    """Each handler once, in their order."""
    waiting = list(handlers)

    async def handler(request: web.Request) -> web.Response:
        return await waiting.pop(0)(request)

    return handler


def hanging(released: asyncio.Event, then: Handler | None = None) -> Handler:
    """Answers when it is released, not before."""

    async def handler(request: web.Request) -> web.Response:
        await released.wait()
        return await (then or refusing(504))(request)

    return handler


def problem(status: int) -> web.Response:
    """The problem document of a status."""
    code, title = _CODES[status]
    document = Problem.model_validate(
        {"type": "about:blank", "title": title, "status": status, "code": code, "detail": title}
    )
    response = web.Response(status=status, text=document.to_wire(), content_type="application/problem+json")
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        response.headers["Retry-After"] = "1"
    return response


_AT: Final = datetime(2026, 11, 30, 20, 15, tzinfo=UTC)


def readiness(*, version: str | None = None, sha256: str | None = None, ready: bool = True) -> Readiness:
    """What a sidecar says of itself; by default, one of this very release."""
    pin = pins.voice()
    return Readiness.model_validate(
        {
            "status": "ready" if ready else "not_ready",
            "contractVersion": version or pin.version,
            "contractSha256": sha256 or pin.sha256,
            "checks": {"database": "ok", "migrations": "ok", "embedder": "ok" if ready else "failing"},
        }
    )


def bootstrap_answer(*, agent: dict[str, Any] | None = None, **fields: Any) -> Bootstrap:
    """A session of a clinic's front desk, with some fields replaced."""
    return Bootstrap.model_validate(
        {
            "sessionId": str(SESSION),
            "orgId": str(ORG),
            "agent": {
                "agentId": str(AGENT),
                "name": "Front desk",
                "language": "en",
                "prompt": "You answer the phone of a clinic.",
                "greeting": "Larkfield Clinic, how can I help?",
                "knowledgeMode": "search",
                **(agent or {}),
            },
            "dynamicInstructions": [],
            "scope": {
                "instruction_scope": {"mode": "all", "instruction_ids": [], "directory_ids": []},
                "knowledge_scope": {"mode": "all", "item_ids": [], "folder_keys": []},
                "captured_at": "2026-11-30T20:15:00Z",
            },
            **fields,
        }
    )


def passage(**fields: Any) -> dict[str, Any]:
    """A passage of a search's answer, with some fields replaced."""
    return {
        "type": "knowledge",
        "id": str(uuid4()),
        "chunkIndex": 0,
        "title": "Door codes",
        "content": "The code of the north entrance is LF-27-B.",
        "language": "en",
        "score": 0.871,
        "relevance": 0.94,
        **fields,
    }


def found(*passages: dict[str, Any], **fields: Any) -> SearchResponse:
    """An answer with results, with some fields replaced."""
    results = list(passages) or [passage()]
    return _search_response(
        status="ok",
        results=results,
        citations=[{"id": each["id"], "title": each["title"]} for each in results],
        answerText=results[0]["content"][:1200],
        **fields,
    )


def nothing(
    status: str = "no_match",
    reason: str = "no_relevant_knowledge",
    message_key: str = "knowledge.no_match",
) -> SearchResponse:
    """An answer without results."""
    return _search_response(status=status, reasonCode=reason, messageKey=message_key, results=[], citations=[])


def _search_response(**fields: Any) -> SearchResponse:
    return SearchResponse.model_validate(
        {
            "searchId": str(uuid4()),
            "instructionMode": "all",
            "knowledgeMode": "all",
            "language": "en",
            "degraded": False,
            "crossLanguageFallback": False,
            "timings": {"embedMs": 1, "searchMs": 1, "totalMs": 2},
            **fields,
        }
    )
