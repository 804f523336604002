"""The sidecar's voice API: HTTP in, typed results or a `SidecarError` out.

Every request has a deadline, within which connecting, one retry and reading fall. All operations
may be repeated: a search only reads, and the others are idempotent by contract.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias, TypeVar
from uuid import UUID

import aiohttp
from opentelemetry.trace import SpanKind
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_fixed,
)

from contracts import tracing
from contracts.model import ContractModel
from contracts.voice import (
    Bootstrap,
    BootstrapRequest,
    Ended,
    EndRequest,
    ErrorEvent,
    EventsAccepted,
    EventsRequest,
    HandoffEvent,
    InlineEvent,
    Readiness,
    SearchEvent,
    SearchRequest,
    SearchResponse,
    TurnEvent,
    UsageEvent,
)
from worker.deadline import Deadline
from worker.errors import (
    NotFoundError,
    SidecarError,
    SidecarRefusedError,
    SidecarUnavailableError,
    UnauthorizedError,
)

_SESSIONS: Final = "/internal/voice/v1/sessions"
_ID: Final = re.compile(r"(?<=/)[0-9a-f-]{36}(?=/)")
_CONNECT_S: Final = 1.0
_EXCHANGE_S: Final = 3.8
# Five passages of 2,000 characters, escaped, are a tenth of this.
_LARGEST_ANSWER: Final = 1 << 20

Event: TypeAlias = TurnEvent | SearchEvent | InlineEvent | ErrorEvent | HandoffEvent | UsageEvent
TerminalStatus: TypeAlias = Literal["completed", "transferred", "failed"]

_Answer = TypeVar("_Answer", bound=ContractModel)


class _TransientError(SidecarUnavailableError):
    """Connection errors and 503: worth one quick try more."""


@dataclass(frozen=True, slots=True)
class SessionIds:
    """The three that must agree in every request of a call."""

    session_id: UUID
    org_id: UUID
    agent_id: UUID


@dataclass
class Attempts:
    """How many requests were sent; readable also after the caller of a request was cancelled."""

    count: int = 0


class SidecarClient:
    """The operations of the voice contract, over one pool of connections."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http

    @classmethod
    @asynccontextmanager
    async def connect(cls, base_url: str, token: str) -> AsyncIterator[Self]:
        """A client whose connections close at the end; proxies of the environment are ignored."""
        async with aiohttp.ClientSession(
            base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {token}"},
            connector=aiohttp.TCPConnector(keepalive_timeout=120),
            trust_env=False,
        ) as http:
            yield cls(http)

    async def readiness(self, deadline: Deadline) -> Readiness:
        """What the sidecar says of itself, also when it is not ready.

        Raises:
            SidecarError: when it says nothing.
        """
        try:
            status, body = await self._exchange("GET", "/readyz", None, deadline)
        except TimeoutError:
            raise SidecarUnavailableError("timeout") from None
        if status not in {200, 503}:
            raise _error_of(status)
        return _parsed(Readiness, body)

    async def bootstrap(self, request: BootstrapRequest, deadline: Deadline) -> Bootstrap:
        """Open the session of a call, or get the one that this call already has.

        Raises:
            NotFoundError: when no agent answers that number or has that id.
            SidecarError: when there is no answer.
        """
        return await self._post(_SESSIONS, request, Bootstrap, deadline)

    async def search(
        self,
        session_id: UUID,
        request: SearchRequest,
        deadline: Deadline,
        attempts: Attempts,
    ) -> SearchResponse:
        """Search for the caller; cancelling this cancels the search in the sidecar.

        Raises:
            SidecarError: when there is no answer.
        """
        path = f"{_SESSIONS}/{session_id}/tools/knowledge-search"
        return await self._post(path, request, SearchResponse, deadline, attempts)

    async def report(self, ids: SessionIds, events: list[Event], deadline: Deadline) -> EventsAccepted:
        """Add 1 to 100 events to the call's timeline.

        Raises:
            SidecarError: when there is no answer.
        """
        request = EventsRequest(org_id=ids.org_id, agent_id=ids.agent_id, events=events)
        path = f"{_SESSIONS}/{ids.session_id}/events"
        return await self._post(path, request, EventsAccepted, deadline)

    async def end(self, ids: SessionIds, status: TerminalStatus, reason: str, deadline: Deadline) -> Ended:
        """End the session, trying as long as the deadline lets us.

        Raises:
            SidecarError: when there is no answer by then.
        """
        request = EndRequest(org_id=ids.org_id, agent_id=ids.agent_id, status=status, reason=reason)
        path = f"{_SESSIONS}/{ids.session_id}/end"
        return await self._post(path, request, Ended, deadline, persistent=True)

    async def _post(
        self,
        path: str,
        request: ContractModel,
        answer: type[_Answer],
        deadline: Deadline,
        attempts: Attempts | None = None,
        *,
        persistent: bool = False,
    ) -> _Answer:
        body = request.to_wire().encode()
        sent = attempts or Attempts()

        async def once() -> _Answer:
            sent.count += 1
            status, content = await self._exchange("POST", path, body, deadline)
            if not 200 <= status < 300:
                raise _error_of(status)
            return _parsed(answer, content)

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(SidecarUnavailableError if persistent else _TransientError),
            stop=_passed(deadline) if persistent else stop_after_attempt(2),
            wait=wait_exponential(multiplier=0.2, max=2) if persistent else wait_fixed(0.05),
            reraise=True,
        )
        try:
            async with asyncio.timeout(deadline.remaining()):
                return await retrying(once)
        except TimeoutError:
            raise SidecarUnavailableError("timeout") from None

    async def _exchange(self, method: str, path: str, body: bytes | None, deadline: Deadline) -> tuple[int, bytes]:
        remaining = min(deadline.remaining(), _EXCHANGE_S)
        headers = {"X-Deadline-Ms": str(max(1, int(remaining * 1000)))}
        if body is not None:
            headers["Content-Type"] = "application/json"
        route = _ID.sub("{sessionId}", path)
        with tracing.step(
            f"{method} {route}", kind=SpanKind.CLIENT, http__request__method=method, http__route=route
        ) as span:
            status, content = await self._send(method, path, body, headers | tracing.outgoing(), remaining)
            span.set_attribute("http.response.status_code", status)
            return status, content

    async def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], remaining: float
    ) -> tuple[int, bytes]:
        try:
            async with self._http.request(
                method,
                path.lstrip("/"),
                data=body,
                headers=headers,
                # aiohttp reads a total of zero as none at all
                timeout=aiohttp.ClientTimeout(total=remaining or 0.001, sock_connect=_CONNECT_S),
                allow_redirects=False,
            ) as response:
                return response.status, await _limited(response)
        except aiohttp.ConnectionTimeoutError:
            raise _TransientError("connect_timeout") from None
        except TimeoutError:
            raise SidecarUnavailableError("timeout") from None
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):
            raise _TransientError("connection") from None
        except aiohttp.ClientError:
            raise SidecarUnavailableError("not_http") from None


async def _limited(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > _LARGEST_ANSWER:
            raise SidecarUnavailableError("too_large")
    return bytes(content)


def _parsed(answer: type[_Answer], content: bytes) -> _Answer:
    """Read an answer. Fields that it has beyond our contract are a later minor version's."""
    try:
        return answer.model_validate_json(content, extra="ignore")
    except ValidationError:
        raise SidecarUnavailableError("unreadable") from None


def _error_of(status: int) -> SidecarError:
    code = f"http_{status}"
    match status:
        case 401 | 403:
            return UnauthorizedError(code)
        case 404:
            return NotFoundError(code)
        case 503:
            return _TransientError(code)
        case _ if 400 <= status < 500:
            return SidecarRefusedError(code)
        case _:
            return SidecarUnavailableError(code)


def _passed(deadline: Deadline) -> Callable[[RetryCallState], bool]:
    return lambda _state: deadline.passed
