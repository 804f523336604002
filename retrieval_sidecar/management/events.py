"""The operation that tells of a base's sources while it happens: server-sent events."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import structlog
from aiohttp import web
from aiohttp_sse import EventSourceResponse, sse_response

from contracts import management as wire
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import DeadlineExceeded, NotFound, SidecarError, TooManyRequests, Unavailable
from retrieval_sidecar.http.requests import read_id, refuse_parameters
from retrieval_sidecar.management.access import AUTHORIZE, Operation
from retrieval_sidecar.management.answers import to_reading, to_source
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.reach import require_base, source_within
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.sources.watching import Seen, State, changes, states_of

log = structlog.get_logger()

_OF_ORGANIZATION, _OF_ALL = 20, 200
_AT_ONCE = 50  # sources that are told of between two looks
_COME_AGAIN_S = 5


@dataclass(frozen=True, slots=True)
class Pace:
    """How a stream goes.

    Attributes:
        look_s: seconds between two looks at the sources, and at whether who watches still may.
        heartbeat_s: between two signs of life, so that nothing on the way takes a quiet stream for a dead one.
        longest_s: after which it ends, and the client comes again by itself.
    """

    look_s: float = 1.0
    heartbeat_s: float = 15.0
    longest_s: float = 900.0


class Streams:
    """Those that are open: so many of an organization, and of all, at once; all end when the process does."""

    def __init__(self, pace: Pace, *, of_organization: int = _OF_ORGANIZATION, of_all: int = _OF_ALL) -> None:
        self.pace = pace
        self._of_organization = of_organization
        self._of_all = of_all
        self._open: Counter[UUID] = Counter()
        self._ending = asyncio.Event()

    @contextmanager
    def one_of(self, organization_id: UUID) -> Iterator[None]:
        """Be one of them for the block. Raises TooManyRequests."""
        if self._open[organization_id] >= self._of_organization or self._open.total() >= self._of_all:
            raise TooManyRequests(
                _COME_AGAIN_S, f"So many streams are open already; an organization has {self._of_organization} at most."
            )
        self._open[organization_id] += 1
        try:
            yield
        finally:
            self._open[organization_id] -= 1
            self._open += Counter()  # without those that have none

    async def until_next_look(self) -> bool:
        """Wait; whether there is another one."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), self.pace.look_s)
        return not self._ending.is_set()

    async def end(self, _app: web.Application) -> None:
        """For an application's `on_shutdown`: nobody waits for a stream to end by itself."""
        self._ending.set()


class EventHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, streams: Streams) -> None:
        self._transactions = transactions
        self._streams = streams

    def operations(self) -> list[Operation]:
        return [Operation("GET", "/knowledge-bases/{kb_id}/events", "agents.view", self.follow_sources)]

    async def follow_sources(self, request: web.Request, caller: Caller) -> web.StreamResponse:
        base_id = read_id(request, "kb_id")
        refuse_parameters(request)
        with self._streams.one_of(caller.organization_id):
            # Before the first byte: what a client reads once the stream is open is never older than what it is told.
            known = await self._look(caller, base_id)
            async with sse_response(request, ping_interval=self._streams.pace.heartbeat_s) as stream:
                try:
                    await self._tell(request, stream, caller, base_id, known)
                except ConnectionError:
                    log.debug("watcher left")
                except Exception as error:  # the answer has begun: there is no other to give
                    log.exception("stream broken", type=type(error).__name__)
            return stream

    async def _tell(
        self, request: web.Request, stream: EventSourceResponse, caller: Caller, base_id: UUID, known: dict[UUID, State]
    ) -> None:
        for state in known.values():
            if state.status == "processing":
                await self._send(stream, caller, base_id, Seen(state.source_id, state))
        loop = asyncio.get_running_loop()
        last = loop.time() + self._streams.pace.longest_s
        while loop.time() < last and await self._streams.until_next_look() and stream.is_connected():
            try:
                await request[AUTHORIZE]()
                found = await self._look(caller, base_id)
                for seen in changes(known, found, most=_AT_ONCE):
                    await self._send(stream, caller, base_id, seen)
                    if seen.state is None:
                        del known[seen.source_id]
                    else:
                        known[seen.source_id] = seen.state
            except (Unavailable, DeadlineExceeded) as error:
                log.warning("look at sources failed", cause=type(error).__name__)
            except SidecarError:
                return  # who watches may no longer, or there is nothing to be watched any more

    async def _look(self, caller: Caller, base_id: UUID) -> dict[UUID, State]:
        async def look(connection: Connection) -> dict[UUID, State]:
            await require_base(connection, caller, base_id)
            return await states_of(connection, caller.organization_id, base_id)

        return await self._transactions.read(look)

    async def _send(self, stream: EventSourceResponse, caller: Caller, base_id: UUID, seen: Seen) -> None:
        if seen.state is not None and seen.state.run is not None and seen.is_progress:
            progress = wire.SourceProgress(id=seen.source_id, reading=to_reading(seen.state.run))
            return await stream.send(progress.to_wire(), event="progress")
        if seen.state is not None:
            found = partial(source_within, caller=caller, base_id=base_id, source_id=seen.source_id)
            with suppress(NotFound):  # removed since the look
                source = to_source(await self._transactions.read(found))
                return await stream.send(source.to_wire(), event="source")
        return await stream.send(wire.SourceRemoved(id=seen.source_id).to_wire(), event="removed")
