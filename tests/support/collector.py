"""An OpenTelemetry collector for tests: takes traces in as they come over the wire."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """A span; times are seconds since the epoch."""

    name: str
    began: float
    ended: float
    attributes: dict[str, Any]


@dataclass
class Collector:
    """What was sent to it.

    Attributes:
        traces: the spans of each trace, by its id.
    """

    traces: dict[bytes, list[Received]] = field(default_factory=lambda: defaultdict(list))
    url: str = ""
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def turns(self) -> list[dict[str, Received]]:
        """Each trace that a caller's turn began, its spans by name; the first of a name."""
        found = []
        for spans in self.traces.values():
            named = {span.name: span for span in sorted(spans, key=lambda span: span.began, reverse=True)}
            if "turn" in named:
                found.append(named)
        return sorted(found, key=lambda turn: turn["turn"].began)

    async def has_turns(self, number: int, seconds: float) -> None:
        """Wait until so many turns have come. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while len(self.turns()) < number:
                self._came.clear()
                await self._came.wait()

    async def take(self, request: web.Request) -> web.Response:
        """What OTLP over HTTP posts."""
        sent = ExportTraceServiceRequest.FromString(await request.read())
        for span in (span for of in sent.resource_spans for scope in of.scope_spans for span in scope.spans):
            attributes = {
                each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in span.attributes
            }
            times = (span.start_time_unix_nano / 1e9, span.end_time_unix_nano / 1e9)
            self.traces[span.trace_id].append(Received(span.name, *times, attributes))
        self._came.set()
        return web.Response(content_type="application/x-protobuf")


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector on a port of its own on loopback."""
    collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    async with TestServer(app, host="127.0.0.1") as server:
        collector.url = str(server.make_url("/"))
        yield collector
