"""One run of the bench: what is measured, in which order."""

import itertools
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from retrieval_sidecar.embeddings import Embedder
from tests.bench import numpy_bound, parts
from tests.bench.database import CACHE, BenchData, Database, bench_data
from tests.bench.figures import latency, ratio
from tests.bench.large import measure_large
from tests.bench.memory import on_disk
from tests.bench.peers import compare
from tests.bench.plan import Plan
from tests.bench.sidecar import Measured, Sidecar, holding_calls, running_sidecar
from tests.bench.statements import Asked, Series, measure
from tests.bench.tenant import SELECTIONS, asked_of

# Of the questions in calls: so many in a hundred are among the few that many callers ask.
FREQUENT_PERCENT = 30
FREQUENT_QUESTIONS = 50


@dataclass
class Bench:
    """A run under way."""

    plan: Plan
    data: BenchData
    asked: Asked
    embedder: Embedder
    embedder_name: str
    log: Path
    console: Console
    begun: float

    async def run(self, *, with_peers: bool) -> dict[str, Any]:
        """Everything; what is written to build/bench/search.json, without verdicts."""
        search: list[dict[str, Any]] = []
        ours: dict[str, Series] = {}
        bound: list[dict[str, Any]] = []
        found: dict[str, Any] = {}
        for database in self.data.databases:
            by_sql = await self._by_sql(database)
            if database.passages == self.plan.peer_rows:
                ours = await self._by_vectors_alone(database)
                bound = self._bound(database, ours, by_sql)
            async with self._sidecar(database) as sidecar:
                idle = sidecar.memory_mb()
                search += await self._over_http(database, sidecar, by_sql)
                if database is self.data.databases[0]:
                    fresh = asked_of(database.under_test.items)
                    found["parts"] = await self._parts(database, sidecar, fresh)
                    found["calls"] = await self._calls(database, sidecar, fresh)
                    found["memory"] = {"sidecar_idle_mb": idle, "sidecar_after_mb": sidecar.memory_mb()}
        found["memory"]["disk"] = [on_disk(database) for database in self.data.databases]
        large = await measure_large(self.plan, self.data, self._say)
        peers = {}
        if with_peers:
            database = next(each for each in self.data.databases if each.passages == self.plan.peer_rows)
            peers = compare.measure(self.plan, database, self.asked, ours, self.data.folder, self._say)
        return {
            "plan": asdict(self.plan),
            "machine": machine(),
            "embedder": self.embedder_name,
            "search": search,
            "bound": bound,
            **found,
            "large": large,
            "peers": peers,
        }

    async def _by_sql(self, database: Database) -> dict[tuple[str, int], Series]:
        found = {}
        for selection, clients in itertools.product(SELECTIONS, (1, self.plan.clients)):
            self._say(f"SQL among {database.passages:,} passages, {selection}, clients: {clients}")
            found[selection, clients] = await measure(
                database.test.url("voice"),
                database.under_test,
                selection,
                self.asked,
                clients=clients,
                searches=self.plan.searches,
            )
        return found

    async def _by_vectors_alone(self, database: Database) -> dict[str, Series]:
        """The statement with no words and codes to look for: the work that numpy and the other stores do."""
        found = {}
        for selection in SELECTIONS:
            self._say(f"SQL among {database.passages:,} passages, {selection}, vectors alone")
            found[selection] = await measure(
                database.test.url("voice"),
                database.under_test,
                selection,
                self.asked.by_vectors_alone(),
                clients=1,
                searches=self.plan.searches,
            )
        return found

    def _bound(
        self, database: Database, alone: dict[str, Series], by_sql: dict[tuple[str, int], Series]
    ) -> list[dict[str, Any]]:
        """Brute force in numpy over the organization's passages, and how far the statement is from it."""
        found = []
        bound = numpy_bound.measure(database.under_test, SELECTIONS, self.asked)
        for selection, milliseconds in bound.items():
            series, numpy = alone[selection], milliseconds["p50"]
            found.append(
                {
                    "selection": selection,
                    "milliseconds": milliseconds,
                    "sql": series.milliseconds,
                    "recall": series.recall,
                    "sql_ratio": ratio(series.milliseconds["p50"], numpy),
                    "with_words_ratio": ratio(by_sql[selection, 1].milliseconds["p50"], numpy),
                }
            )
        return found

    def _sidecar(self, database: Database) -> Any:
        return running_sidecar(database.test, database.under_test.number, self.embedder_name, self.log)

    async def _over_http(
        self, database: Database, sidecar: Sidecar, by_sql: dict[tuple[str, int], Series]
    ) -> list[dict[str, Any]]:
        """The same searches over HTTP, their questions in the sidecar's cache: it is the search that is measured."""
        found: list[dict[str, Any]] = []
        for selection in SELECTIONS:
            for clients in (1, self.plan.clients):
                self._say(f"HTTP among {database.passages:,} passages, {selection}, clients: {clients}")
                measured, again = Measured(), itertools.cycle(self.data.questions)
                async with holding_calls(sidecar, database.under_test, clients, selection) as calls:
                    for question in self.data.questions if not found else ():
                        await calls.ask(0, question, Measured())  # its vector is kept from here on
                    await calls.loop(clients, self.plan.seconds / 3, again, measured, "http")
                series = by_sql[selection, clients]
                found.append(
                    {
                        "passages": database.passages,
                        "selection": selection,
                        "rows": series.rows,
                        "clients": clients,
                        "sql": series.milliseconds,
                        "recall": series.recall,
                        "http": latency(measured.samples["http"]),
                        "statuses": dict(measured.statuses),
                        "errors": measured.errors,
                        "outside": series.outside + measured.outside,
                    }
                )
        return found

    async def _parts(self, database: Database, sidecar: Sidecar, fresh: Iterator[str]) -> dict[str, Any]:
        self._say("HTTP beside its parts, by turns")
        return await parts.measure(self.plan, database, sidecar, self.embedder, fresh)

    async def _calls(self, database: Database, sidecar: Sidecar, fresh: Iterator[str]) -> dict[str, Any]:
        """Many calls at once, each asking now and then."""
        plan, measured = self.plan, Measured()
        self._say(f"{plan.calls} calls at once for {plan.calls_s:.0f} s, a question each {plan.think_s:g} s")
        async with holding_calls(sidecar, database.under_test, plan.calls) as calls:
            asked = mixed(fresh)
            await calls.loop(plan.calls, plan.calls_s, asked, measured, "calls", pause_s=plan.think_s)
        return {
            "calls": plan.calls,
            "think_s": plan.think_s,
            "frequent_percent": FREQUENT_PERCENT,
            "milliseconds": latency(measured.samples["calls"]),
            "statuses": dict(measured.statuses),
            "errors": measured.errors,
            "outside": measured.outside,
        }

    def _say(self, what: str) -> None:
        self.console.print(f"{time.perf_counter() - self.begun:5.0f} s  {what} ...")


def mixed(fresh: Iterator[str]) -> Iterator[str]:
    """Questions as callers ask them: some are asked again and again, the others are new."""
    frequent = list(itertools.islice(fresh, FREQUENT_QUESTIONS))
    chance = np.random.default_rng(7)
    while True:
        is_frequent = chance.integers(100) < FREQUENT_PERCENT
        yield frequent[chance.integers(len(frequent))] if is_frequent else next(fresh)


def machine() -> dict[str, Any]:
    """Where it was measured."""
    return {
        "cpus": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


async def run(
    plan: Plan,
    embedder: Embedder,
    embedder_name: str,
    console: Console,
    log: Path,
    *,
    with_peers: bool,
    cache: Path = CACHE,
) -> dict[str, Any]:
    """Measure everything that a plan says.

    Args:
        embedder: the sidecar's model, in this process; started.
        embedder_name: the sidecar's setting for it.
        log: the sidecar's.
    """
    begun, load_before = time.perf_counter(), os.getloadavg()[0]
    async with bench_data(plan, embedder, console, cache) as data:
        asked = Asked(data.questions, data.vectors)
        found = await Bench(plan, data, asked, embedder, embedder_name, log, console, begun).run(with_peers=with_peers)
    found["took_s"] = round(time.perf_counter() - begun)
    found["machine"]["load_average_before"] = round(load_before, 2)
    return found
