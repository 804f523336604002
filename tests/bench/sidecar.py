"""A sidecar process as in production, and clients that hold calls with it."""

import asyncio
import itertools
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from demo.processes import answers, running
from tests.bench.tenant import ALL, Searchable, organization_id, phone_number
from tests.support.database import TestDatabase
from tests.support.sidecar import SESSIONS, connected, token_for

_ANSWERS = {"ok", "no_match", "restricted_empty"}
_calls = itertools.count(1)


@dataclass
class Measured:
    """What each kind of work took, all its rounds together.

    Attributes:
        samples: milliseconds of each.
        cpu_s: processor time of the sidecar and of its database connections, summed up.
        statuses: how often each came: `ok` and the like, or that of HTTP.
        outside: results that the agent may not tell: there must be none.
    """

    samples: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_s: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    statuses: Counter[str] = field(default_factory=Counter)
    outside: int = 0

    @property
    def errors(self) -> int:
        """Answers that were none."""
        return sum(count for status, count in self.statuses.items() if status not in _ANSWERS)


@dataclass
class Sidecar:
    """A sidecar process that is ready.

    Attributes:
        embedder: its setting.
        connections: PostgreSQL's processes for it.
    """

    url: str
    pid: int
    token: str
    embedder: str
    connections: Sequence[int]

    def cpu_s(self) -> Counter[str]:
        """Seconds of processor time until now. Other work on the machine moves these less than it does latencies."""
        pids = {"sidecar": [self.pid], "postgres": self.connections}
        return Counter({name: sum(_cpu_s(psutil.Process(pid)) for pid in group) for name, group in pids.items()})

    def memory_mb(self) -> float:
        """Resident memory of the process."""
        return round(float(psutil.Process(self.pid).memory_info().rss) / 2**20, 1)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@asynccontextmanager
async def running_sidecar(
    database: TestDatabase, organization: int, embedder: str, log: Path
) -> AsyncIterator[Sidecar]:
    """A sidecar process, with a token for the calls of one organization. Raises DemoError where it does not come up.

    What it wrote is gone afterwards.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = database.environment | {"ANSWERLINE_VOICE_PORT": str(port), "ANSWERLINE_EMBEDDER": embedder}
    argv = [sys.executable, "-m", "retrieval_sidecar", "serve"]
    token = await token_for(database, organization_id(organization))
    is_ready = partial(answers, f"{url}/readyz")
    async with running("retrieval sidecar", argv, log=log, environment=environment, is_ready=is_ready) as process:
        async with connected(database, "voice") as connection:
            found = await connection.execute(
                "select pid from pg_stat_activity"
                " where usename = current_user and datname = current_database() and pid <> pg_backend_pid()"
            )
            pids = [pid async for (pid,) in found]
        try:
            yield Sidecar(url, process.pid, token, embedder, pids)
        finally:
            async with connected(database, "owner") as connection:
                await connection.execute("truncate call_session, session_event, search_log, voice_token cascade")


class Calls:
    """Clients of a sidecar, each in a call of its own with the same agent."""

    def __init__(self, http: aiohttp.ClientSession, sidecar: Sidecar, allowed: frozenset[str]) -> None:
        self._http, self._sidecar, self._allowed = http, sidecar, allowed
        self._headers = {"Authorization": f"Bearer {sidecar.token}", "Content-Type": "application/json"}
        self._sessions: list[dict[str, Any]] = []

    async def open(self, count: int, number: str) -> None:
        """Bootstrap so many calls to a number. Raises aiohttp.ClientResponseError."""
        for _ in range(count):
            body = {"calledNumber": number, "roomName": "bench", "callId": f"bench-{time.time_ns()}-{next(_calls)}"}
            async with self._http.post(self._sidecar.url + SESSIONS, json=body, headers=self._headers) as answer:
                answer.raise_for_status()
                self._sessions.append(await answer.json())

    async def ask(self, client: int, question: str, into: Measured) -> None:
        """One search; counts its status, or that of HTTP where it failed."""
        session = self._sessions[client]
        body = {"orgId": session["orgId"], "agentId": session["agent"]["agentId"], "query": question}
        path = f"{SESSIONS}/{session['sessionId']}/tools/knowledge-search"
        try:
            async with self._http.post(self._sidecar.url + path, json=body, headers=self._headers) as answer:
                found = await answer.json()
        except aiohttp.ClientError as error:
            into.statuses[type(error).__name__] += 1
            return
        into.statuses[str(found["status"])] += 1
        into.outside += sum(result["id"] not in self._allowed for result in found.get("results", ()))

    async def loop(
        self, clients: int, seconds: float, asked: Iterator[str], into: Measured, kind: str, *, pause_s: float = 0.0
    ) -> None:
        """Ask with so many clients at once, for so long.

        Args:
            pause_s: each asks so often, or, where an answer takes longer, as soon as it has come; 0 asks at once.
        """
        begun = time.perf_counter()

        async def one(client: int) -> None:
            due = begun + pause_s * client / clients
            while (now := time.perf_counter()) < begun + seconds:
                if due > now:
                    await asyncio.sleep(due - now)
                started = time.perf_counter()
                await self.ask(client, next(asked), into)
                into.samples[kind].append((time.perf_counter() - started) * 1000)
                due += pause_s

        before = self._sidecar.cpu_s()
        await asyncio.gather(*(one(client) for client in range(clients)))
        into.cpu_s[kind] += self._sidecar.cpu_s() - before


@asynccontextmanager
async def holding_calls(
    sidecar: Sidecar, organization: Searchable, count: int, selection: str = ALL
) -> AsyncIterator[Calls]:
    """So many calls with the agent of a selection."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        calls = Calls(http, sidecar, organization.allowed_items(selection))
        await calls.open(count, phone_number(organization.number, selection))
        yield calls
