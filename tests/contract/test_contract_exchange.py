"""The guard of all exchanges fails where it should."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from contracts import pins
from tests.support.contract_exchange import (
    ContractExchanges,
    ContractViolationError,
    RequestSeen,
    ResponseSeen,
    broken_on_purpose,
    checker,
    contract_checked_client_middleware,
    contract_checked_middleware,
    voice_checker,
)

JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json; charset=utf-8"}
TOKEN = {"Authorization": "Bearer token"}
SESSION = f"/internal/voice/v1/sessions/{uuid4()}"
SEARCH = f"{SESSION}/tools/knowledge-search"
EVENTS = f"{SESSION}/events"

IDS = {"orgId": str(uuid4()), "agentId": str(uuid4())}
QUESTION: dict[str, Any] = {**IDS, "query": "door code"}
NOTHING: dict[str, Any] = {
    "searchId": str(uuid4()),
    "status": "no_match",
    "reasonCode": "no_relevant_knowledge",
    "instructionMode": "all",
    "knowledgeMode": "all",
    "results": [],
    "citations": [],
    "language": "en",
    "degraded": False,
    "crossLanguageFallback": False,
    "timings": {"embedMs": 1.5, "searchMs": 2, "totalMs": 4.5},
}
RESULT: dict[str, Any] = {
    "type": "knowledge",
    "id": str(uuid4()),
    "chunkIndex": 0,
    "title": "Doors",
    "content": "LF-27-B",
    "language": "en",
    "score": 0.8,
    "relevance": 0.9,
}
TURN: dict[str, Any] = {
    "type": "turn",
    "id": str(uuid4()),
    "at": "2026-11-30T20:15:07.120Z",
    "role": "caller",
    "text": "hello",
}
UNAVAILABLE: dict[str, Any] = {
    "type": "about:blank",
    "title": "Service Unavailable",
    "status": 503,
    "code": "unavailable",
    "detail": "Try again.",
}


def request(path: str = SEARCH, body: Any = QUESTION, headers: dict[str, str] | None = None) -> RequestSeen:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return RequestSeen("POST", path, {**JSON, **TOKEN} if headers is None else headers, raw)


def response(status: int, body: Any, headers: dict[str, str] = JSON) -> ResponseSeen:
    return ResponseSeen(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def events(**changed: Any) -> RequestSeen:
    return request(EVENTS, {**IDS, "events": [{**TURN, **changed}]})


@pytest.mark.parametrize(
    "fitting",
    [
        request(),
        request(headers={**JSON, **TOKEN, "x-deadline-ms": "3800"}),
        request(headers={"content-type": "application/json; charset=utf-8", **TOKEN}),
        events(),
        RequestSeen("GET", "/readyz"),
    ],
)
def test_a_request_that_fits_passes(fitting: RequestSeen) -> None:
    assert voice_checker().request_violations(fitting) == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (request(body={**QUESTION, "limit": 50}), "'limit' was unexpected"),
        (request(body={**QUESTION, "query": " "}), "$.query"),
        (request(body={**QUESTION, "query": "x" * 501}), "too long"),
        (request(body={**QUESTION, "orgId": "42"}), "not a 'uuid'"),
        (request(body={**QUESTION, "language": None}), "$.language"),
        (request(body=IDS), "'query' is a required property"),
        (request(body=b"{"), "Request body"),
        (request(body=b'{"query": NaN}'), "Request body"),
        (request(body=b""), "Missing required request body"),
        (request(headers={"Content-Type": "text/plain", **TOKEN}), "text/plain"),
        (request(headers=JSON), "Security"),
        (request(headers={**JSON, **TOKEN, "X-Deadline-Ms": "0"}), "X-Deadline-Ms"),
        (request(headers={**JSON, **TOKEN, "X-Deadline-Ms": "soon"}), "X-Deadline-Ms"),
        (request("/internal/voice/v1/sessions/42/tools/knowledge-search"), "sessionId"),
        (request("/internal/voice/v2/sessions"), "v2"),
        (RequestSeen("GET", SEARCH, TOKEN), "Operation get not found"),
        (events(at="2026-11-30 20:15:07"), "date-time"),
        (events(type="dial_tone"), "$.events[0]"),
        (events(role="nobody"), "$.events[0].role"),
        (events(type="kb.inline"), "$.events[0]"),
        (events(mood="calm"), "'mood' was unexpected"),
        (request(EVENTS, {**IDS, "events": []}), "$.events"),
    ],
)
def test_a_wrong_request_is_named(wrong: RequestSeen, named: str) -> None:
    with pytest.raises(ContractViolationError) as failure:
        voice_checker().assert_request(wrong)
    assert named in str(failure.value)


@pytest.mark.parametrize(
    ("asked", "fitting"),
    [
        (request(), response(200, NOTHING)),
        (request(), response(200, {**NOTHING, "status": "ok", "results": [RESULT]})),
        (request(), response(503, UNAVAILABLE, {**PROBLEM, "Retry-After": "1"})),
        (
            request(body={}),
            response(400, {**UNAVAILABLE, "status": 400, "code": "invalid_request"}, PROBLEM),
        ),
        (
            RequestSeen("GET", "/internal/voice/v1/openapi.yaml"),
            response(200, pins.document(), {"Content-Type": "application/yaml"}),
        ),
        (
            RequestSeen("GET", "/nowhere"),
            response(404, {**UNAVAILABLE, "status": 404, "code": "not_found"}, PROBLEM),
        ),
        (
            RequestSeen("GET", SEARCH),
            response(405, {**UNAVAILABLE, "status": 405, "code": "method_not_allowed"}, PROBLEM),
        ),
    ],
)
def test_a_response_that_fits_passes(asked: RequestSeen, fitting: ResponseSeen) -> None:
    assert voice_checker().response_violations(asked, fitting) == []


@pytest.mark.parametrize(
    ("asked", "wrong", "named"),
    [
        (request(), response(200, {**NOTHING, "secret": 1}), "'secret' was unexpected"),
        (request(), response(200, {**NOTHING, "searchId": "1"}), "not a 'uuid'"),
        (request(), response(200, {**NOTHING, "status": "fine"}), "$.status"),
        (
            request(),
            response(200, {**NOTHING, "results": [{**RESULT, "relevance": 1.2}]}),
            "$.results[0]",
        ),
        (request(), response(200, {**NOTHING, "results": [RESULT] * 6}), "$.results"),
        (request(), response(200, b"{}{}"), "application/json"),
        (request(), response(200, b""), "Missing response data"),
        (request(), response(200, NOTHING, {"Content-Type": "text/html"}), "text/html"),
        (request(), response(200, NOTHING, {}), "Valid mimetypes"),
        (request(), response(201, NOTHING), "201"),
        (request(), response(429, UNAVAILABLE, PROBLEM), "429"),
        (request(), response(503, UNAVAILABLE, PROBLEM), "Retry-After"),
        (request(), response(500, UNAVAILABLE, PROBLEM), "says status 503"),
        (
            request(),
            response(500, {**UNAVAILABLE, "status": 500, "cause": "x"}, PROBLEM),
            "'cause' was unexpected",
        ),
        (request(), response(500, UNAVAILABLE, JSON), "application/json"),
        (request(body={}), response(200, NOTHING), "success in spite of"),
        (request(headers=JSON), response(200, NOTHING), "success in spite of"),
        (RequestSeen("GET", "/nowhere"), response(200, {}), "no such operation"),
        (RequestSeen("GET", "/nowhere"), response(404, {}), "application/problem+json"),
        (RequestSeen("GET", "/nowhere"), response(404, {}, PROBLEM), "no problem document"),
    ],
)
def test_a_wrong_response_is_named(asked: RequestSeen, wrong: ResponseSeen, named: str) -> None:
    with pytest.raises(ContractViolationError) as failure:
        voice_checker().assert_response(asked, wrong)
    assert named in str(failure.value)


def form(*names: str) -> bytes:
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="a"\r\n\r\ntext\r\n' for name in names]
    return "".join([*parts, "--x--\r\n"]).encode()


KEY = {"X-API-Key": "key"}
LIST = "/api/v1/knowledge-bases"
FILE = f"{LIST}/{uuid4()}/sources/file"
FORM = {**KEY, "Content-Type": "multipart/form-data; boundary=x"}


@pytest.mark.parametrize(
    "fitting",
    [
        RequestSeen("GET", LIST, KEY),
        RequestSeen("GET", LIST, KEY, query={"limit": "100", "cursor": "abc"}),
        RequestSeen("POST", LIST, {**JSON, **KEY}, b'{"name": "Patients"}'),
        RequestSeen("POST", FILE, FORM, form("file")),
    ],
)
def test_a_request_that_fits_the_other_contract_passes(fitting: RequestSeen) -> None:
    assert checker("management").request_violations(fitting) == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (RequestSeen("GET", LIST), "Security"),
        (RequestSeen("GET", LIST, KEY, query={"limit": "101"}), "limit"),
        (RequestSeen("GET", LIST, KEY, query={"cursor": "a b"}), "cursor"),
        (RequestSeen("POST", LIST, {**JSON, **KEY}, b'{"name": " "}'), "$.name"),
        (RequestSeen("POST", FILE, FORM, form("files")), "'file' is a required property"),
        (RequestSeen("POST", FILE, FORM, form("file", "file")), "not of type 'string'"),
        (RequestSeen("POST", FILE, {**JSON, **KEY}, b"{}"), "application/json"),
    ],
)
def test_a_request_that_does_not_fit_the_other_contract_is_named(wrong: RequestSeen, named: str) -> None:
    with pytest.raises(ContractViolationError) as failure:
        checker("management").assert_request(wrong)
    assert named in str(failure.value)


@asynccontextmanager
async def sidecar(answer: Callable[[], web.StreamResponse], *watched: Any) -> AsyncIterator[TestServer]:
    async def handler(_request: web.Request) -> web.StreamResponse:
        return answer()

    app = web.Application(middlewares=watched)
    app.router.add_post("/internal/voice/v1/sessions/{id}/tools/knowledge-search", handler)
    server = TestServer(app)
    async with server:
        yield server


async def test_a_fake_sidecar_is_held_to_the_contract() -> None:
    exchanges = ContractExchanges()
    answers = iter(
        [
            web.json_response(NOTHING),
            web.json_response({}),
            broken_on_purpose(web.json_response({})),
            web.StreamResponse(),
        ]
    )
    guard = contract_checked_middleware(exchanges)
    async with sidecar(lambda: next(answers), guard) as server, TestClient(server) as client:
        statuses = [(await client.post(SEARCH, json=QUESTION, headers=TOKEN)).status for _ in range(4)]
        statuses.append((await client.post(SEARCH, json={}, headers=TOKEN)).status)
        statuses.append((await client.get("/nowhere")).status)

    assert statuses == [200, 500, 200, 500, 500, 500]
    wrong_answer, streamed, wrong_question, nowhere = exchanges.violations
    assert "response 200" in wrong_answer
    assert "streamed" in streamed
    assert "request POST" in wrong_question
    assert "/nowhere" in nowhere
    with pytest.raises(ContractViolationError):
        exchanges.assert_clean()


async def test_the_checks_leave_bodies_readable() -> None:
    def echo() -> web.StreamResponse:
        return web.json_response(NOTHING)

    exchanges = ContractExchanges()
    async with (
        sidecar(echo, contract_checked_middleware(exchanges)) as server,
        TestClient(server, middlewares=[contract_checked_client_middleware()]) as client,
    ):
        answer = await client.post(SEARCH, json=QUESTION, headers=TOKEN)
        assert await answer.json() == NOTHING
    exchanges.assert_clean()


async def test_a_client_of_the_real_sidecar_raises_at_once() -> None:
    async with (
        sidecar(lambda: web.json_response({**NOTHING, "secret": 1})) as server,
        TestClient(server, middlewares=[contract_checked_client_middleware()]) as client,
    ):
        with pytest.raises(ContractViolationError, match="secret"):
            await client.post(SEARCH, json=QUESTION, headers=TOKEN)
