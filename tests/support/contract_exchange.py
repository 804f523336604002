"""Every exchange of a test is held against its contract, errors included.

A test's fake sidecar takes `contract_checked_middleware(exchanges)` into its application, where
`exchanges` is the fixture `contract_exchanges`, which fails the test at its end. A client of the
real sidecar takes `contract_checked_client_middleware()` into its session, which raises at once.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from functools import cache
from http.cookies import SimpleCookie
from typing import Any, NoReturn, TypeVar

from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, web
from aiohttp.client_middlewares import ClientMiddlewareType
from aiohttp.payload import Payload
from aiohttp.typedefs import Handler, Middleware
from jsonschema.exceptions import ValidationError as SchemaError
from jsonschema.exceptions import best_match
from multidict import CIMultiDict
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.templating.paths.exceptions import OperationNotFound, PathNotFound
from openapi_core.validation.schemas.exceptions import InvalidSchemaValue
from pydantic import ValidationError
from yaml import safe_load

from contracts import management, pins, voice

_PROBLEM = "application/problem+json"
_PROBLEMS: dict[pins.Name, type[voice.Problem | management.Problem]] = {
    "voice": voice.Problem,
    "management": management.Problem,
}


class ContractViolationError(AssertionError):
    """An exchange that the contract does not allow; the text says where and why."""


@dataclass(frozen=True)
class RequestSeen:
    """A request as it went over the wire."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ResponseSeen:
    """A response as it went over the wire."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class ContractChecker:
    """Holds exchanges against an OpenAPI document: parameters, headers, bodies, formats, statuses.

    What the document does not name (path, method, status, content type, property) is a violation.
    """

    def __init__(self, name: pins.Name) -> None:
        self._problem = _PROBLEMS[name]
        self._api = OpenAPI.from_dict(
            safe_load(pins.document(name)),
            config=Config(
                extra_media_type_deserializers={
                    "application/json": _read_json,
                    _PROBLEM: _read_json,
                    "application/yaml": _read_text,
                    "text/event-stream": _read_text,
                    "multipart/form-data": _read_form,
                }
            ),
        )

    def request_violations(self, request: RequestSeen) -> list[str]:
        """What is wrong with the request; empty when nothing is."""
        return _described(self._api.iter_request_errors(_CoreRequest(request)))

    def response_violations(self, request: RequestSeen, response: ResponseSeen) -> list[str]:
        """What is wrong with the response; empty when nothing is.

        The request may be wrong, for that is what the documented errors are there for, but then
        success is a violation. Outside the documented paths and methods a problem document of 404
        or 405 is the one right answer.
        """
        errors = list(self._api.iter_response_errors(_CoreRequest(request), _CoreResponse(response)))
        if any(isinstance(error, PathNotFound | OperationNotFound) for error in errors):
            return self._not_a_refusal(response)
        violations = _described(errors)
        if _media_type(response.headers) == _PROBLEM:
            violations += self._problem_violations(response)
        if response.status < 400:
            unfit = self.request_violations(request)
            violations += [f"success in spite of the request's {violation}" for violation in unfit]
        return violations

    def assert_request(self, request: RequestSeen) -> None:
        """Raise `ContractViolationError` when the contract does not allow the request."""
        _fail_on(self.request_violations(request), f"request {request.method} {request.path}")

    def assert_response(self, request: RequestSeen, response: ResponseSeen) -> None:
        """Raise `ContractViolationError` when the contract does not allow this response."""
        violations = self.response_violations(request, response)
        _fail_on(violations, f"response {response.status} to {request.method} {request.path}")

    def _problem_violations(self, response: ResponseSeen) -> list[str]:
        try:
            problem = self._problem.from_wire(response.body)
        except ValidationError as error:
            return [f"body is no problem document: {error.errors()[0]['msg']}"]
        if problem.status != response.status:
            return [f"problem document says status {problem.status}"]
        return []

    def _not_a_refusal(self, response: ResponseSeen) -> list[str]:
        if response.status not in (404, 405):
            return ["status is not 404 or 405, but the contract has no such operation"]
        if _media_type(response.headers) != _PROBLEM:
            return ["content type is not application/problem+json"]
        return self._problem_violations(response)


@cache
def checker(name: pins.Name) -> ContractChecker:
    """The checker of a contract, built once."""
    return ContractChecker(name)


def voice_checker() -> ContractChecker:
    """The checker of the voice contract."""
    return checker("voice")


@dataclass
class ContractExchanges:
    """What did not fit the contract in the exchanges of a test's fake sidecar."""

    violations: list[str] = field(default_factory=list)

    def assert_clean(self) -> None:
        """Raise `ContractViolationError` when any exchange did not fit."""
        if self.violations:
            raise ContractViolationError("\n".join(self.violations))


_BROKEN = web.ResponseKey("broken_on_purpose", bool)
_ResponseT = TypeVar("_ResponseT", bound=web.StreamResponse)


def broken_on_purpose(response: _ResponseT) -> _ResponseT:
    """Let a fake sidecar break the contract, to see what the client makes of it."""
    response[_BROKEN] = True
    return response


def contract_checked_middleware(exchanges: ContractExchanges) -> Middleware:
    """A server middleware that holds each exchange of a fake sidecar against the contract.

    The client under test may swallow any answer, so what does not fit is kept in `exchanges`, and
    the client gets a 500 for it. A handler that is cancelled has no response to check; one that
    fails is a fault of the test's.
    """
    contract = voice_checker()

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        seen = RequestSeen(request.method, request.path, request.headers, await request.read())
        try:
            contract.assert_request(seen)
            response = await _answer(handler, request)
            if _BROKEN not in response:
                contract.assert_response(seen, _seen_response(response))
        except ContractViolationError as violation:
            exchanges.violations.append(str(violation))
            return web.Response(status=500, text="The exchange did not fit the contract.")
        except Exception as error:
            exchanges.violations.append(f"the fake sidecar's handler failed: {error!r}")
            raise
        return response

    return middleware


def contract_checked_client_middleware(name: pins.Name = "voice") -> ClientMiddlewareType:
    """A middleware for `ClientSession` that raises on a response that the contract forbids."""
    contract = checker(name)

    async def middleware(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        body = await request.body.as_bytes() if isinstance(request.body, Payload) else request.body
        seen = RequestSeen(request.method, request.url.raw_path, request.headers, body, request.url.query)
        response = await handler(request)
        contract.assert_response(seen, ResponseSeen(response.status, response.headers, await response.read()))
        return response

    return middleware


async def _answer(handler: Handler, request: web.Request) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as answer:
        return answer


def _seen_response(response: web.StreamResponse) -> ResponseSeen:
    if not isinstance(response, web.Response) or not isinstance(response.body, bytes | None):
        raise ContractViolationError("a streamed response, which cannot be checked")
    return ResponseSeen(response.status, response.headers, response.body or b"")


class _CoreRequest:
    """A request in the shape that openapi-core reads."""

    host_url = ""

    def __init__(self, seen: RequestSeen) -> None:
        self.method = seen.method.lower()
        self.path = seen.path
        self.body = seen.body or None
        headers = CIMultiDict(seen.headers)
        media_type, semicolon, parameters = headers.get("Content-Type", "").partition(";")
        # A form's boundary is itself in any case; a character set is the same in every.
        is_form = media_type.lower().startswith("multipart/")
        self.content_type = media_type.lower() + semicolon + (parameters if is_form else parameters.lower())
        cookies = {name: morsel.value for name, morsel in SimpleCookie(headers.get("Cookie", "")).items()}
        self.parameters = RequestParameters(header=headers, query=dict(seen.query), cookie=cookies)


class _CoreResponse:
    """A response in the shape that openapi-core reads."""

    def __init__(self, seen: ResponseSeen) -> None:
        self.status_code = seen.status
        self.data = seen.body or None
        self.headers = CIMultiDict(seen.headers)
        self.content_type = self.headers.get("Content-Type", "").lower()


def _read_json(body: bytes, **_parameters: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(body.decode("utf-8"), parse_constant=refuse)


def _read_text(body: bytes, **_parameters: str) -> str:
    return body.decode("utf-8")


def _read_form(body: bytes, *, boundary: str = "", **_parameters: str) -> dict[str, Any]:
    """The parts of a form by name, bytes as characters; one of a name that came twice is a list."""
    head = f'Content-Type: multipart/form-data; boundary="{boundary}"\r\n\r\n'.encode()
    parts: dict[str, Any] = {}
    for part in BytesParser().parsebytes(head + body).walk():
        if part.is_multipart():
            continue
        name = str(part.get_param("name", header="Content-Disposition"))
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        parts[name] = [parts[name]] if name in parts else content.decode("latin-1")
    return parts


def _described(errors: Iterable[Exception]) -> list[str]:
    return [_describe(error) for error in errors]


def _describe(error: Exception) -> str:
    cause = error.__cause__
    if not isinstance(cause, InvalidSchemaValue):
        return f"{error}" if cause is None else f"{error}: {cause}"
    worst = best_match(e for e in cause.schema_errors if isinstance(e, SchemaError))
    if worst is None:
        return f"{error}: {cause}"
    return f"{error}: {worst.json_path}: {worst.message}"


def _media_type(headers: Mapping[str, str]) -> str:
    return CIMultiDict(headers).get("Content-Type", "").partition(";")[0].strip().lower()


def _fail_on(violations: list[str], exchange: str) -> None:
    if violations:
        raise ContractViolationError(f"{exchange}: " + "; ".join(violations))
