"""Requests as steps of a trace, and as numbers."""

import asyncio
import time

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from contracts import tracing
from retrieval_sidecar.metrics import REQUESTS

_PROBES = ("/livez", "/readyz")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_CLIENT_LEFT = 499


def observed(*, goes_on: bool) -> Middleware:
    """A middleware, the outermost: of each request but a probe's it is noted how long it took and what came of it.

    Args:
        goes_on: its step is one of the client's own trace, where its `traceparent` names one. Else each request begins
            a trace: who may be anybody shall not decide what is recorded.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in _PROBES:
            return await handler(request)
        route = _route_of(request)
        method = request.method if request.method in _METHODS else "_OTHER"
        parent = tracing.incoming(request.headers.get(tracing.TRACEPARENT)) if goes_on else Context()
        began, status = time.perf_counter(), 500
        try:
            with tracing.step(f"{method} {route}".strip(), parent=parent, kind=SpanKind.SERVER) as span:
                span.set_attributes({"http.request.method": method, "http.route": route})
                response = await handler(request)
                status = response.status
                span.set_attribute("http.response.status_code", status)
                if status >= 500:
                    tracing.failed(span, str(status))
                return response
        except web.HTTPException as answer:
            status = answer.status
            raise
        except asyncio.CancelledError:
            status = _CLIENT_LEFT
            raise
        finally:
            REQUESTS.labels(method, route, str(status)).observe(time.perf_counter() - began)

    return middleware


def _route_of(request: web.Request) -> str:
    """The path as it stands in the contract, without what stands in its places; empty for one that is in none."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else ""
