"""Requests as steps of a trace."""

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from contracts import tracing

_PROBES = ("/livez", "/readyz")


def traced(*, goes_on: bool) -> Middleware:
    """A middleware, the outermost: each request but a probe's is a step.

    Args:
        goes_on: of the client's own trace, where its `traceparent` names one. Else each request begins a trace: who
            may be anybody shall not decide what is recorded.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not tracing.is_on() or request.path in _PROBES:
            return await handler(request)
        route = route_of(request)
        parent = tracing.incoming(request.headers.get(tracing.TRACEPARENT)) if goes_on else Context()
        with tracing.step(f"{request.method} {route}".strip(), parent=parent, kind=SpanKind.SERVER) as span:
            span.set_attributes({"http.request.method": request.method, "http.route": route})
            response = await handler(request)
            span.set_attribute("http.response.status_code", response.status)
            if response.status >= 500:
                tracing.failed(span, str(response.status))
            return response

    return middleware


def route_of(request: web.Request) -> str:
    """The path as it stands in the contract, without what stands in its places; empty for one that is in none."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else ""
