"""Delays and failures on purpose, an endpoint at a time: how tests see a provider misbehave."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from demo.standins import wire

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Endpoint(StrEnum):
    MODELS = "/v1/models"
    TRANSCRIPTIONS = "/v1/audio/transcriptions"
    SPEECH = "/v1/audio/speech"
    COMPLETIONS = "/v1/chat/completions"
    REALTIME = "/v1/realtime"  # the connection itself
    RESPONSE = "response.create"  # each response on such a connection


class Fault(BaseModel):
    """What an endpoint does instead of, or before, answering.

    Attributes:
        endpoint: its path.
        status: answer with this error; None to answer well.
        times: for so many requests; None for all that follow.
        delay: seconds to wait first.
        drop: close the connection instead, of a realtime response.
        after: pieces of sound that come before it, of a realtime response.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: Endpoint
    status: int | None = Field(default=None, ge=400, le=599)
    times: int | None = Field(default=None, ge=0)
    delay: float = Field(default=0.0, ge=0.0)
    drop: bool = False
    after: int = Field(default=0, ge=0)


class Faults:
    """One fault an endpoint, the last one set; `POST /standins/faults` sets it from outside."""

    def __init__(self, delays: Mapping[Endpoint, float] | None = None) -> None:
        self._faults = {endpoint: Fault(endpoint=endpoint, delay=delay) for endpoint, delay in (delays or {}).items()}

    def set(self, fault: Fault) -> None:
        self._faults[fault.endpoint] = fault

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The control route: the body is a `Fault`."""
        try:
            self.set(Fault.model_validate_json(await request.read()))
        except ValidationError as invalid:
            return wire.error(400, str(invalid))
        return web.Response(status=204)

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        fault = self.take(request.path)
        if fault is not None:
            await asyncio.sleep(fault.delay)
            if fault.status is not None:
                return wire.error(fault.status, "a fault that was asked for", code="fault_injected")
        return await handler(request)

    def take(self, path: str) -> Fault | None:
        """The fault that the next request there has, which is then one less."""
        fault = next((f for f in self._faults.values() if f.endpoint == path), None)
        if fault is None or fault.times is None:
            return fault
        if fault.times == 0:
            return None
        self._faults[fault.endpoint] = fault.model_copy(update={"times": fault.times - 1})
        return fault
