"""The voice API's application: what it opens, and in which order it closes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import structlog
from aiohttp import web

from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.embeddings import Embedder, Embedders, create_embedders
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.http.background import Background, pools_open
from retrieval_sidecar.http.observed import observed
from retrieval_sidecar.http.problems import problem_documents
from retrieval_sidecar.http.readiness import Readiness, embedders_loaded
from retrieval_sidecar.metrics import CALLS_ENDED, CALLS_OPEN, CALLS_SILENT
from retrieval_sidecar.search.service import Clock, SearchService, utc_now
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.voice import sessions
from retrieval_sidecar.voice.handlers import VoiceHandlers
from retrieval_sidecar.voice.requests import MAX_BODY_BYTES

log = structlog.get_logger()

_WATCHDOG_PERIOD_S = 60.0
_DRAIN_S = 5.0
_SILENT = timedelta(minutes=10)


def create_app(
    settings: Settings, *, embedder: Embedder | Embedders | None = None, clock: Clock = utc_now
) -> web.Application:
    """The application, nothing opened yet.

    Args:
        embedder: in place of those that the settings name.
        clock: decides validity, expiry and what counts as lost.
    """
    app = web.Application(middlewares=[observed(goes_on=True), problem_documents], client_max_size=MAX_BODY_BYTES)
    conninfo = settings.conninfo("voice")
    pool = Pool(conninfo, settings.pool_size, waiting=settings.pool_queue)
    embedders = create_embedders(settings) if embedder is None else Embedders.of(embedder)
    # Of its own, so that a sidecar whose connections are all in use is still known to be ready.
    probe = Pool(conninfo, 1)
    readiness, background = Readiness(probe), Background()
    handlers = VoiceHandlers(pool, SearchService(pool, embedders, clock), readiness, background, clock)
    app.add_routes(handlers.routes())

    async def watchdog(_app: web.Application) -> AsyncIterator[None]:
        watching = asyncio.create_task(
            _end_lost_sessions(pool, clock, timedelta(minutes=settings.session_idle_minutes))
        )
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    app.cleanup_ctx.extend(
        [pools_open(pool, probe, background, _DRAIN_S), embedders_loaded(embedders, readiness), watchdog]
    )
    return app


async def _end_lost_sessions(pool: Pool, clock: Clock, idle: timedelta) -> None:
    while True:
        await asyncio.sleep(_WATCHDOG_PERIOD_S)
        with suppress(SidecarError):
            async with translated_errors(), pool.connection() as connection:
                now = clock()
                if ended := await sessions.end_lost(connection, now - idle, now):
                    CALLS_ENDED.labels("lost").inc(ended)
                    log.warning("lost sessions ended", count=ended)
                count, silent = await sessions.count_open(connection, now - min(_SILENT, idle))
                CALLS_OPEN.set(count)
                CALLS_SILENT.set(silent)
