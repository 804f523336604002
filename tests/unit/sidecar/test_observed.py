"""What is noted of a request: how long, by which route, and what came of it, also of one that was given up."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from prometheus_client import REGISTRY

from retrieval_sidecar.http.observed import observed
from tests.support.traces import Spans, recorded

TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as found:
        yield found


def counted(route: str, status: str, method: str = "GET") -> float:
    labels = {"http_request_method": method, "http_route": route, "http_response_status_code": status}
    return REGISTRY.get_sample_value("http_server_request_duration_seconds_count", labels) or 0.0


@asynccontextmanager
async def serving(*, goes_on: bool, hanging: asyncio.Event | None = None) -> AsyncIterator[str]:
    async def thing(_request: web.Request) -> web.Response:
        if hanging:
            hanging.set()
            await asyncio.Event().wait()
        return web.Response()

    app = web.Application(middlewares=[observed(goes_on=goes_on)])
    app.router.add_get("/things/{thingId}", thing)
    async with TestServer(app, host="127.0.0.1", handler_cancellation=True) as server:
        yield str(server.make_url("")).rstrip("/")


@pytest.mark.parametrize("goes_on", [True, False])
async def test_only_an_api_of_ours_alone_goes_on_with_a_clients_trace(spans: Spans, *, goes_on: bool) -> None:
    async with (
        serving(goes_on=goes_on) as url,
        aiohttp.ClientSession() as http,
        http.get(f"{url}/things/sentinel", headers=HEADERS) as answer,
    ):
        assert answer.status == 200
    span = spans.one("GET /things/{thingId}")
    assert span.context
    assert (f"{span.context.trace_id:032x}" == TRACE) is goes_on
    assert "sentinel" not in spans.text()


async def test_a_request_that_was_given_up_is_counted_as_that(spans: Spans) -> None:
    before, hanging = counted("/things/{thingId}", "499"), asyncio.Event()
    async with serving(goes_on=True, hanging=hanging) as url, aiohttp.ClientSession() as http:
        asking = asyncio.create_task(http.get(f"{url}/things/1").__aenter__())
        await hanging.wait()
        asking.cancel()
        async with asyncio.timeout(10):
            while not spans.named("GET /things/{thingId}"):  # noqa: ASYNC110 - a span has no event
                await asyncio.sleep(0)
    assert counted("/things/{thingId}", "499") == before + 1


async def test_what_is_at_no_route_is_counted_together() -> None:
    before = counted("", "404", "_OTHER")
    async with serving(goes_on=True) as url, aiohttp.ClientSession() as http:
        for name in ("a", "b"):
            async with http.request("OPTIONS", f"{url}/{name}") as answer:
                assert answer.status == 404
    assert counted("", "404", "_OTHER") == before + 2
