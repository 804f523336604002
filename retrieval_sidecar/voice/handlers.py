"""The operations of the voice API."""

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import structlog
from aiohttp import web
from opentelemetry import trace

from contracts import pins
from contracts.model import ContractModel
from contracts.tracing import step
from contracts.voice import (
    BootstrapRequest,
    Checks,
    EndRequest,
    EventsRequest,
    Liveness,
    SearchRequest,
)
from contracts.voice import Readiness as Answer
from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.http.background import Background
from retrieval_sidecar.http.readiness import Readiness
from retrieval_sidecar.http.requests import read_body, read_id
from retrieval_sidecar.http.responses import answer, contract
from retrieval_sidecar.metrics import CALLS_ENDED, CALLS_STARTED
from retrieval_sidecar.scope.resolve import SessionKey, scope_of_session
from retrieval_sidecar.search.service import Clock, SearchService
from retrieval_sidecar.voice import sessions
from retrieval_sidecar.voice.answers import to_log_row, to_response
from retrieval_sidecar.voice.requests import read_deadline
from retrieval_sidecar.voice.search_log import SearchLog
from retrieval_sidecar.voice.tokens import authenticate

log = structlog.get_logger()
_T = TypeVar("_T")


class VoiceHandlers:
    """One method an operation, named as in the contract."""

    def __init__(
        self,
        pool: Pool,
        search: SearchService,
        readiness: Readiness,
        background: Background,
        clock: Clock,
    ) -> None:
        self._pool = pool
        self._search = search
        self._readiness = readiness
        self._background = background
        self._search_log = SearchLog(pool, background)
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        base = "/internal/voice/v1"
        session = base + "/sessions/{sessionId}"
        return [
            web.post(f"{base}/sessions", self.bootstrap_session),
            web.post(f"{session}/tools/knowledge-search", self.search_knowledge),
            web.post(f"{session}/events", self.report_events),
            web.post(f"{session}/end", self.end_session),
            web.get(f"{base}/openapi.yaml", self.contract, allow_head=False),
            web.get("/livez", self.livez, allow_head=False),
            web.get("/readyz", self.readyz, allow_head=False),
        ]

    async def bootstrap_session(self, request: web.Request) -> web.Response:
        token_id, deadline = await self._authenticated(request)
        body = await read_body(request, BootstrapRequest, deadline)

        async def open_session() -> tuple[ContractModel, bool]:
            async with self._pool.within(deadline) as connection:
                return await sessions.bootstrap(connection, token_id, body, self._clock())

        opened, created = await self._write(open_session(), deadline)
        CALLS_STARTED.inc(created)
        return answer(opened, status=201 if created else 200)

    async def search_knowledge(self, request: web.Request) -> web.Response:
        token_id, deadline = await self._authenticated(request)
        session_id = read_id(request, "sessionId")
        body = await read_body(request, SearchRequest, deadline)
        key = SessionKey(body.org_id, body.agent_id, session_id, token_id)
        outcome = await self._search.search(partial(scope_of_session, key), body, deadline)
        trace.get_current_span().set_attributes(
            {"answerline.search.id": str(outcome.search_id), "answerline.session.id": str(session_id)}
        )
        region = body.region_code or outcome.scope.region_code
        self._search_log.add(to_log_row(key, body.query, region, outcome))
        log.info(
            "search",
            search_id=str(outcome.search_id),
            session_id=str(session_id),
            status=outcome.status,
            results=len(outcome.results),
            degraded=outcome.degraded,
            ms=round(outcome.total_ms, 1),
        )
        return answer(to_response(outcome, has_parts=bool(body.sub_questions)))

    async def report_events(self, request: web.Request) -> web.Response:
        token_id, deadline = await self._authenticated(request)
        session_id = read_id(request, "sessionId")
        body = await read_body(request, EventsRequest, deadline)
        key = SessionKey(body.org_id, body.agent_id, session_id, token_id)

        async def store() -> ContractModel:
            async with self._pool.within(deadline) as connection:
                return await sessions.report_events(connection, key, body, self._clock())

        return answer(await self._write(store(), deadline), status=202)

    async def end_session(self, request: web.Request) -> web.Response:
        token_id, deadline = await self._authenticated(request)
        session_id = read_id(request, "sessionId")
        body = await read_body(request, EndRequest, deadline)
        key = SessionKey(body.org_id, body.agent_id, session_id, token_id)

        async def end() -> ContractModel:
            now = self._clock()
            async with self._pool.within(deadline) as connection:
                ended = await sessions.end(connection, key, body, now)
            if ended.ended_at == now:  # and not told again, or ended otherwise before
                CALLS_ENDED.labels(ended.status).inc()
            return ended

        return answer(await self._write(end(), deadline))

    async def contract(self, _request: web.Request) -> web.Response:
        return contract("voice")

    async def livez(self, _request: web.Request) -> web.Response:
        return answer(Liveness(status="ok"))

    async def readyz(self, _request: web.Request) -> web.Response:
        found = await self._readiness.check()
        pin = pins.voice()
        ready = Answer(
            status=found.status,
            contract_version=pin.version,
            contract_sha256=pin.sha256,
            checks=Checks(**asdict(found)),
        )
        return answer(ready, status=200 if found.status == "ready" else 503)

    async def _authenticated(self, request: web.Request) -> tuple[UUID, Deadline]:
        deadline = read_deadline(request)
        header = request.headers.get("Authorization")
        with step("authenticate"):
            async with deadline.enforced(), translated_errors():
                token_id = await self._pool.read(
                    deadline, lambda connection: authenticate(connection, header, self._clock())
                )
        return token_id, deadline

    async def _write(self, work: Coroutine[Any, Any, _T], deadline: Deadline) -> _T:
        """Do a write to its end even when the client leaves; only its deadline stops it."""

        async def bounded() -> _T:
            async with deadline.enforced(), translated_errors():
                return await work

        return await asyncio.shield(self._background.start(bounded()))
