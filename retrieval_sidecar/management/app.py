"""The management API's application: what it opens, and in which order it closes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import structlog
from aiohttp import web

from retrieval_sidecar.console.handlers import SessionHandlers
from retrieval_sidecar.console.pages import Pages, browser_headers
from retrieval_sidecar.console.sessions import Sessions
from retrieval_sidecar.content.instructions import InstructionLimits
from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.embeddings import Embedder, Embedders, create_embedders
from retrieval_sidecar.errors import ConfigurationError, SidecarError
from retrieval_sidecar.http.background import Background, pools_open
from retrieval_sidecar.http.observed import observed
from retrieval_sidecar.http.problems import problem_documents
from retrieval_sidecar.http.readiness import Readiness, embedders_loaded
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.management.access import Access, Operation
from retrieval_sidecar.management.agents import AgentHandlers
from retrieval_sidecar.management.api_keys import ApiKeyHandlers
from retrieval_sidecar.management.audit_log import AuditHandlers
from retrieval_sidecar.management.bases import BaseHandlers
from retrieval_sidecar.management.calls import CallHandlers
from retrieval_sidecar.management.contacts import ContactHandlers, SegmentHandlers
from retrieval_sidecar.management.directories import DirectoryHandlers
from retrieval_sidecar.management.events import EventHandlers, Pace, Streams
from retrieval_sidecar.management.health import HealthHandlers
from retrieval_sidecar.management.indexing import Indexing
from retrieval_sidecar.management.instructions import InstructionHandlers
from retrieval_sidecar.management.items import ItemHandlers
from retrieval_sidecar.management.numbers import NumberHandlers
from retrieval_sidecar.management.organization import OrganizationHandlers
from retrieval_sidecar.management.people import MemberHandlers, TeamHandlers
from retrieval_sidecar.management.search import SearchHandlers
from retrieval_sidecar.management.searches import SearchLogHandlers
from retrieval_sidecar.management.selectables import SelectableHandlers
from retrieval_sidecar.management.sources import Queue, SourceHandlers
from retrieval_sidecar.management.statistics import StatisticsHandlers
from retrieval_sidecar.management.throttle import Throttle
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.management.trial import TrialHandlers
from retrieval_sidecar.search.service import Clock, SearchService, utc_now
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sources.limits import SourceLimits

log = structlog.get_logger()

BASE = "/api/v1"
_DRAIN_S = 10.0
# The longest text that may be pasted, each of its characters escaped; an upload is not read as a body.
_MAX_BODY_BYTES = 8 * 1024 * 1024
# Failures with one key's id, and of one address, at once and then one each so many seconds.
_OF_KEY, _OF_ADDRESS = (10, 6.0), (60, 1.0)


def create_app(
    settings: Settings,
    *,
    queue: Queue | None = None,
    embedder: Embedder | Embedders | None = None,
    clock: Clock = utc_now,
    pace: Pace | None = None,
) -> web.Application:
    """The application, nothing opened yet.

    Args:
        queue: where jobs are requested, in place of that in the database.
        embedder: in place of those that the settings name.
        clock: decides validity and when keys end.
        pace: of streams of events, in place of the usual.

    Raises:
        ConfigurationError: it would listen where the voice API does.
    """
    if settings.management_port == settings.voice_port != 0:
        raise ConfigurationError(
            f"ANSWERLINE_MANAGEMENT_PORT and ANSWERLINE_VOICE_PORT are both {settings.voice_port}: the two APIs never"
            " share a port. Set one of them to another."
        )
    app = web.Application(middlewares=[observed(goes_on=False), problem_documents], client_max_size=_MAX_BODY_BYTES)
    conninfo = settings.conninfo("manage")
    pool = Pool(conninfo, settings.pool_size, waiting=settings.pool_queue, name="management")
    # Of its own, so that a sidecar whose connections are all in use is still known to be ready.
    probe = Pool(conninfo, 1, name="management probe")
    embedders = create_embedders(settings) if embedder is None else Embedders.of(embedder)
    readiness, background = Readiness(probe), Background()
    transactions = Transactions(pool, background, clock)
    of_key, of_address = (Throttle(*each, lambda: clock().timestamp()) for each in (_OF_KEY, _OF_ADDRESS))
    sessions = Sessions(
        timedelta(minutes=settings.console_idle_minutes), timedelta(hours=settings.console_session_hours)
    )
    access = Access(transactions, sessions, clock, of_key, of_address)
    limits, instruction_limits = SourceLimits.of(settings), InstructionLimits.of(settings)
    jobs = JobQueue(conninfo)
    indexing = Indexing(queue or jobs)
    streams = Streams(pace or Pace())
    search = SearchService(pool, embedders, clock)
    # A further kind of thing to be managed is a module of handlers and a line here.
    operations: list[Operation] = [
        *BaseHandlers(transactions, limits).operations(),
        *SourceHandlers(
            transactions, queue or jobs, limits, uploads=settings.uploads, upload_s=settings.upload_timeout_s
        ).operations(),
        *AgentHandlers(transactions, clock, max_bases=settings.max_agent_bases).operations(),
        *ItemHandlers(transactions, indexing, limits).operations(),
        *InstructionHandlers(transactions, indexing, instruction_limits).operations(),
        *DirectoryHandlers(transactions, instruction_limits).operations(),
        *NumberHandlers(transactions).operations(),
        *ContactHandlers(transactions).operations(),
        *SegmentHandlers(transactions).operations(),
        *TeamHandlers(transactions).operations(),
        *MemberHandlers(transactions, clock).operations(),
        *ApiKeyHandlers(transactions, clock).operations(),
        *OrganizationHandlers(transactions).operations(),
        *SelectableHandlers(transactions).operations(),
        *CallHandlers(transactions).operations(),
        *AuditHandlers(transactions).operations(),
        *SearchHandlers(transactions, search).operations(),
        *TrialHandlers(transactions, search).operations(),
        *SearchLogHandlers(transactions).operations(),
        *StatisticsHandlers(transactions, clock).operations(),
        *EventHandlers(transactions, streams).operations(),
        *SessionHandlers(transactions, sessions, clock).operations(),
    ]
    app.add_routes([access.route(BASE, operation) for operation in operations])
    app.add_routes(HealthHandlers(readiness).routes(BASE))
    app.add_routes(Pages().routes())
    app.on_response_prepare.append(browser_headers)
    app.on_shutdown.append(streams.end)

    async def queue_open(_app: web.Application) -> AsyncIterator[None]:
        # In the background, as the pools: without a database the process answers /livez all the same.
        opening = asyncio.create_task(_open(jobs))
        yield
        opening.cancel()
        with suppress(asyncio.CancelledError):
            await opening
        await jobs.app.close_async()

    resources = [pools_open(pool, probe, background, _DRAIN_S), embedders_loaded(embedders, readiness)]
    app.cleanup_ctx.extend(resources if queue else [queue_open, *resources])
    return app


async def _open(jobs: JobQueue) -> None:
    try:
        async with translated_errors():
            await jobs.app.open_async()
    except SidecarError as error:  # its pool goes on trying
        log.warning("queue not reached yet", cause=type(error.__cause__).__name__)
