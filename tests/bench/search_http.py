"""What a search costs over HTTP: `python -m tests.bench.search_http`.

A sidecar process as in production serves 3,143 items; clients ask in a closed loop, each the next question as soon as
the last is answered. In the same run, by turns, the parts are measured by themselves: the embedding of a question, and
the bare statement on a prepared connection. The rest is what the sidecar adds.
"""

import asyncio
import itertools
import json
import os
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import aiohttp
import numpy as np
import psutil
import typer
from rich.console import Console
from rich.table import Table

from demo.processes import answers, running
from retrieval_sidecar.database import Pool
from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.scope.resolve import scope_of_agent
from retrieval_sidecar.search.candidates import search_with
from retrieval_sidecar.search.question import Question, searchable
from retrieval_sidecar.search.service import utc_now
from retrieval_sidecar.search.statement import shape_of
from tests.bench.database import bench_database
from tests.bench.organization import AGENT_ID, ITEMS, NUMBER, ORGANIZATION_ID, questions
from tests.support.database import TestDatabase
from tests.support.sidecar import SESSIONS, token_for

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "bench" / "search_http.json"
_ROUNDS = 3
_CACHED_QUESTIONS = 64
_BETWEEN_QUESTIONS_S = 1.0

EmbedderName = Literal["local", "fake"]
console = Console()


@dataclass
class Measured:
    """What each kind of work took, all rounds together.

    Attributes:
        samples: milliseconds of each.
        cpu_s: processor time of the sidecar and of its database connections, summed up.
        statuses: how often each came.
    """

    samples: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_s: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    statuses: Counter[str] = field(default_factory=Counter)

    def percentiles(self, kind: str) -> dict[str, float]:
        found = np.percentile(self.samples[kind], [50, 95, 99])
        return {name: round(float(value), 2) for name, value in zip(("p50", "p95", "p99"), found, strict=True)}


@dataclass(frozen=True)
class Sidecar:
    """A sidecar process. `connections` are PostgreSQL's processes for it."""

    url: str
    pid: int
    connections: Sequence[int] = ()

    def cpu_s(self) -> Counter[str]:
        """Seconds of processor time until now. Other work on the machine moves these less than it does latencies."""
        pids = {"sidecar": [self.pid], "postgres": self.connections}
        return Counter({name: sum(_cpu_s(psutil.Process(pid)) for pid in group) for name, group in pids.items()})


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


class Calls:
    """Clients of a sidecar, each in a call of its own."""

    def __init__(self, http: aiohttp.ClientSession, sidecar: Sidecar, token: str) -> None:
        self._http, self._sidecar, self._url = http, sidecar, sidecar.url
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._sessions: list[dict[str, Any]] = []

    async def open(self, count: int) -> None:
        for number in range(count):
            body = {"calledNumber": NUMBER, "roomName": "bench", "callId": f"bench-{time.time_ns()}-{number}"}
            async with self._http.post(self._url + SESSIONS, json=body, headers=self._headers) as answer:
                self._sessions.append(await answer.json())

    async def ask(self, client: int, question: str) -> str:
        """The status of the answer: `ok` or the like, or that of HTTP."""
        session = self._sessions[client]
        body = {"orgId": session["orgId"], "agentId": session["agent"]["agentId"], "query": question}
        path = f"{SESSIONS}/{session['sessionId']}/tools/knowledge-search"
        async with self._http.post(self._url + path, json=body, headers=self._headers) as answer:
            found = await answer.json()
            return str(found["status"])

    async def loop(
        self, clients: int, seconds: float, asked: Iterator[str], into: Measured, kind: str, *, pause_s: float = 0.0
    ) -> None:
        """Ask with so many clients at once, for so long; each rests for `pause_s` between its questions."""
        until = time.perf_counter() + seconds

        async def one(client: int) -> None:
            await asyncio.sleep(pause_s * client / clients)
            while (started := time.perf_counter()) < until:
                into.statuses[await self.ask(client, next(asked))] += 1
                into.samples[kind].append((time.perf_counter() - started) * 1000)
                if pause_s > 0:
                    await asyncio.sleep(pause_s)

        before = self._sidecar.cpu_s()
        await asyncio.gather(*(one(client) for client in range(clients)))
        into.cpu_s[kind] += self._sidecar.cpu_s() - before


class Parts:
    """The embedding and the statement of a search, without a sidecar around them."""

    def __init__(self, database: TestDatabase, embedder: Embedder) -> None:
        self._pool = Pool(database.url("voice"), 1)
        self._embedder = embedder

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Parts"]:
        await self._pool.open(wait=True)
        try:
            yield self
        finally:
            await self._pool.close()

    async def connections(self) -> Sequence[int]:
        """PostgreSQL's processes for the voice role, without the one of these parts."""
        async with self._pool.connection() as connection:
            found = await connection.execute(
                "select pid from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()"
            )
            return [pid async for (pid,) in found]

    async def measure(self, seconds: float, asked: Iterator[str], into: Measured) -> None:
        until = time.perf_counter() + seconds
        async with self._pool.connection() as connection:
            scope = await scope_of_agent(ORGANIZATION_ID, AGENT_ID, None, connection, utc_now())
            shape = shape_of(scope)
            while time.perf_counter() < until:
                text = searchable(next(asked), "query")
                started = time.perf_counter()
                (vector,) = await self._embedder.embed_queries([text])
                embedded = time.perf_counter()
                question = Question.read(text, utterance=None, language=None, default_language="en")
                statement, parameters = search_with(scope, shape, question, vector)
                searched = time.perf_counter()
                cursor = await connection.execute(statement, parameters)
                await cursor.fetchall()
                ended = time.perf_counter()
                into.samples["embedding"].append((embedded - started) * 1000)
                into.samples["sql"].append((ended - searched) * 1000)
                into.samples["parts"].append((embedded - started + ended - searched) * 1000)


@asynccontextmanager
async def running_sidecar(database: TestDatabase, embedder: EmbedderName, log: Path) -> AsyncIterator[Sidecar]:
    """A sidecar process that is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = database.environment | {"ANSWERLINE_VOICE_PORT": str(port), "ANSWERLINE_EMBEDDER": embedder}
    argv = [sys.executable, "-m", "retrieval_sidecar", "serve"]
    is_ready = partial(answers, f"{url}/readyz")
    async with running("retrieval sidecar", argv, log=log, environment=environment, is_ready=is_ready) as process:
        yield Sidecar(url, process.pid)


async def measure(clients: int, seconds: float, embedder: EmbedderName) -> Measured:
    """All kinds by turns, so that what else the machine does meets each of them alike."""
    measured = Measured()
    # Each question once in a run: none of them is cached but those that are meant to be.
    fresh = iter(questions())
    again = itertools.cycle(itertools.islice(fresh, _CACHED_QUESTIONS))
    model: Embedder = LocalEmbedder() if embedder == "local" else FakeEmbedder()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    await model.start()
    async with bench_database(model, console) as database:
        token = await token_for(database, ORGANIZATION_ID)
        async with (
            running_sidecar(database, embedder, RESULTS.with_suffix(".log")) as sidecar,
            Parts(database, model).open() as parts,
            aiohttp.ClientSession() as http,
        ):
            calls = Calls(http, replace(sidecar, connections=await parts.connections()), token)
            await calls.open(clients)
            warming = Measured()
            await calls.loop(clients, 2.0, fresh, warming, "")
            await parts.measure(1.0, fresh, warming)
            for _ in range(_CACHED_QUESTIONS):
                await calls.ask(0, next(again))
            for _ in range(_ROUNDS):
                await parts.measure(seconds / _ROUNDS, fresh, measured)
                for count in dict.fromkeys((1, clients)):
                    await calls.loop(count, seconds / _ROUNDS, fresh, measured, f"http {count} new")
                    await calls.loop(count, seconds / _ROUNDS, again, measured, f"http {count} cached")
                # As calls are: even in a lively one, a caller takes more than a second between two questions.
                await calls.loop(
                    clients, seconds / _ROUNDS, fresh, measured, f"{clients} calls new", pause_s=_BETWEEN_QUESTIONS_S
                )
    return measured


def report(measured: Measured, clients: int, embedder: str) -> dict[str, Any]:
    """What is written to build/bench/search_http.json."""
    figures = {kind: measured.percentiles(kind) | {"n": len(rows)} for kind, rows in measured.samples.items()}
    cpu = {
        kind: {name: round(1000 * seconds / len(measured.samples[kind]), 2) for name, seconds in spent.items()}
        for kind, spent in measured.cpu_s.items()
    }
    parts, sql = figures["parts"]["p50"], figures["sql"]["p50"]
    return {
        "embedder": embedder,
        "items": ITEMS,
        "clients": clients,
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "statuses": dict(measured.statuses),
        "milliseconds": figures,
        "cpu_milliseconds_a_search": cpu,
        "overhead": {
            "new": round(figures["http 1 new"]["p50"] / parts, 2),
            "cached": round(figures["http 1 cached"]["p50"] / sql, 2),
        },
    }


def show(figures: dict[str, Any]) -> None:
    table = Table(box=None)
    for heading in ("milliseconds", "p50", "p95", "p99", "n", "cpu sidecar", "cpu postgres"):
        table.add_column(heading, justify="left" if heading == "milliseconds" else "right")
    for kind, row in figures["milliseconds"].items():
        cpu = figures["cpu_milliseconds_a_search"].get(kind, {})
        cells = [f"{row[name]:.1f}" for name in ("p50", "p95", "p99")] + [str(row["n"])]
        table.add_row(kind, *cells, *(f"{cpu[name]:.1f}" if name in cpu else "" for name in ("sidecar", "postgres")))
    console.print(table)
    overhead = figures["overhead"]
    console.print(f"HTTP p50 is {overhead['new']} × (embedding + SQL), {overhead['cached']} × SQL where it is cached")
    console.print(f"answers: {figures['statuses']}; load average {figures['load_average']:.1f}")


def main(
    clients: Annotated[int, typer.Option(help="How many ask at once, beside one alone.")] = 8,
    seconds: Annotated[float, typer.Option(help="How long each kind is measured, all rounds together.")] = 10,
    embedder: Annotated[EmbedderName, typer.Option(help="The sidecar's.")] = "local",
) -> None:
    """Measure searches over HTTP and write build/bench/search_http.json."""
    figures = report(asyncio.run(measure(clients, seconds, embedder)), clients, embedder)
    RESULTS.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    show(figures)


if __name__ == "__main__":
    typer.run(main)
