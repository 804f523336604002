"""The management API as the tools ask it: with the caller's own key, so that its rules are the only ones."""

import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeVar

import aiohttp
from pydantic import ValidationError

from contracts import management as wire
from contracts.model import ContractModel

_BASE = "/api/v1"
# Longer than the API lets any change take.
_TIMEOUT = aiohttp.ClientTimeout(total=70, connect=5)
_MOST_BYTES = 8 * 1024 * 1024
_MOST_TEXT = 2_000

Model = TypeVar("Model", bound=ContractModel)


class Refused(Exception):
    """The management API said no; the text is fit for who asked.

    Attributes:
        status: of HTTP.
        code: the contract's.
        retry_after_s: when to come again, where it says so.
    """

    def __init__(self, status: int, code: str, text: str, retry_after_s: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s


class Unreachable(Exception):
    """No management API answers, or what answers is none."""

    def __init__(self) -> None:
        super().__init__("The management API does not answer. Try again in a while.")


@asynccontextmanager
async def http_client() -> AsyncIterator[aiohttp.ClientSession]:
    """What the API is asked by: without cookies and without proxies, which would see keys."""
    async with aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


class ManagementApi:
    """The API as one key may use it. All that is asked raises Refused or Unreachable."""

    def __init__(self, http: aiohttp.ClientSession, base: str, key: str) -> None:
        self._http = http
        self._base = base
        self._key = key

    async def permissions(self) -> frozenset[str]:
        """What the key may do, what its permissions include as well."""
        session, _ = await self.ask("GET", "/session", wire.ConsoleSession)
        return frozenset(session.permissions)

    async def ask(
        self,
        method: Literal["GET", "POST", "PUT"],
        path: str,
        model: type[Model],
        *,
        query: Mapping[str, Any] | None = None,
        body: ContractModel | None = None,
        etag: str | None = None,
    ) -> tuple[Model, str | None]:
        """What is answered, and the ETag of it."""
        headers = {"X-API-Key": self._key, "Accept": "application/json"}
        if etag is not None:
            headers["If-Match"] = etag
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = io.BytesIO(body.to_wire().encode())
        try:
            async with self._http.request(
                method,
                self._base + _BASE + path,
                params=query,
                data=content,
                headers=headers,
                allow_redirects=False,  # to wherever the key is not meant for
            ) as response:
                answered = await _read(response)
                if response.status >= 300:
                    raise _refused(response, answered)
                return model.from_wire(answered, unknown="ignore"), response.headers.get("ETag")
        except (aiohttp.ClientError, TimeoutError, ValidationError) as error:
            raise Unreachable from error


async def _read(response: aiohttp.ClientResponse) -> bytes:
    answered = bytearray()
    async for piece in response.content.iter_any():
        answered += piece
        if len(answered) > _MOST_BYTES:
            raise Unreachable
    return bytes(answered)


def _refused(response: aiohttp.ClientResponse, answered: bytes) -> Exception:
    if response.content_type != "application/problem+json":
        return Unreachable()
    problem = wire.Problem.from_wire(answered, unknown="ignore")
    said = [problem.detail or problem.title, *(f"{each.field}: {each.message}" for each in problem.errors or ())]
    return Refused(response.status, problem.code, "\n".join(said)[:_MOST_TEXT], response.headers.get("Retry-After"))
