"""The call's timeline on its way to the sidecar: in batches, beside the call, never in its way."""

import asyncio
import contextlib
from collections import deque
from datetime import UTC, datetime
from typing import Final

import structlog

from contracts.voice import ErrorEvent
from worker import metrics
from worker.deadline import Deadline
from worker.errors import SidecarError, SidecarUnavailableError
from worker.sidecar_client import Event, SessionIds, SidecarClient

_BATCH: Final = 100  # the contract's limit
_REPORT_S: Final = 3.0

log = structlog.get_logger(__name__)


def now() -> datetime:
    """The time that an event carries."""
    return datetime.now(UTC)


class Timeline:
    """Collects events and reports them in the background.

    Adding never waits. Where the sidecar is away, events wait for it, the oldest giving way when
    there are more than `capacity`. Each keeps its id, so that reporting one twice does no harm.
    """

    def __init__(
        self,
        client: SidecarClient,
        ids: SessionIds,
        *,
        interval_s: float = 1.0,
        capacity: int = 1000,
    ) -> None:
        """Start reporting every `interval_s` seconds; needs a running event loop."""
        self._client, self._ids = client, ids
        self._waiting: deque[Event] = deque(maxlen=capacity)
        self._lost = 0
        self._reporter = asyncio.create_task(self._report_regularly(interval_s))

    def add(self, event: Event) -> None:
        """Take an event into the timeline."""
        self._lost += len(self._waiting) == self._waiting.maxlen
        self._waiting.append(event)
        if isinstance(event, ErrorEvent):
            if event.code == "answered_without_search":
                metrics.note(metrics.UNSEARCHED)
            else:
                metrics.note(metrics.ERRORS, source=event.source)

    async def aclose(self, deadline: Deadline) -> None:
        """Report what is left, trying until the deadline."""
        self._reporter.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reporter
        while self._waiting and not deadline.passed:
            if not await self._report(deadline):
                await asyncio.sleep(min(0.2, deadline.remaining()))
        lost = self._lost + len(self._waiting)
        if lost:
            log.warning("timeline_incomplete", session_id=str(self._ids.session_id), lost=lost)

    async def _report_regularly(self, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            while self._waiting and await self._report(Deadline.after(_REPORT_S)):
                pass

    async def _report(self, deadline: Deadline) -> bool:
        """Report one batch, and say whether it is off our hands."""
        batch = list(self._waiting)[:_BATCH]
        try:
            await self._client.report(self._ids, batch, deadline)
        except SidecarUnavailableError as error:
            log.info("timeline_delayed", session_id=str(self._ids.session_id), code=error.code)
            return False
        except SidecarError as error:
            self._lost += len(batch)
            log.error(  # noqa: TRY400 - the code says it
                "timeline_refused", session_id=str(self._ids.session_id), code=error.code
            )
        reported = {event.id for event in batch}
        while self._waiting and self._waiting[0].id in reported:
            self._waiting.popleft()
        return True
