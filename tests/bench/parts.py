"""What a search over HTTP costs beyond its parts: embedding and statement are measured alone, by turns with it."""

import itertools
import time
from collections.abc import Iterator
from typing import Any

from retrieval_sidecar.database import Pool
from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.search.question import searchable
from tests.bench.database import Database
from tests.bench.figures import latency, ratio
from tests.bench.plan import Plan
from tests.bench.sidecar import Measured, Sidecar, holding_calls
from tests.bench.statements import Asked, scope_of, search
from tests.bench.tenant import ALL

_ROUNDS = 3
_CACHED_QUESTIONS = 64
# As calls are: even in a lively one, a caller takes more than a second between two questions.
_BETWEEN_QUESTIONS_S = 1.0
AS_CALLS = "calls, one question a second"


async def measure(
    plan: Plan, database: Database, sidecar: Sidecar, embedder: Embedder, fresh: Iterator[str]
) -> dict[str, Any]:
    """All kinds by turns, so that what else the machine does meets each of them alike.

    Args:
        embedder: the sidecar's model, in this process; started.
        fresh: questions that the sidecar has not been asked yet: none is cached but those that are meant to be.
    """
    measured = Measured()
    clients = plan.clients
    again = itertools.cycle(list(itertools.islice(fresh, _CACHED_QUESTIONS)))
    async with holding_calls(sidecar, database.under_test, clients) as calls:
        warming = Measured()
        await calls.loop(clients, plan.warm_s, fresh, warming, "warm")
        await _parts(database, embedder, plan.warm_s, fresh, warming)
        for _ in range(_CACHED_QUESTIONS):
            await calls.ask(0, next(again), warming)
        for _ in range(_ROUNDS):
            share = plan.seconds / _ROUNDS
            await _parts(database, embedder, share, fresh, measured)
            for count in dict.fromkeys((1, clients)):
                await calls.loop(count, share, fresh, measured, f"new, {_clients(count)}")
                await calls.loop(count, share, again, measured, f"cached, {_clients(count)}")
            for what, asked in (("new", fresh), ("cached", again)):
                kind = f"{what}, {clients} {AS_CALLS}"
                await calls.loop(clients, share, asked, measured, kind, pause_s=_BETWEEN_QUESTIONS_S)
    return _figures(measured)


async def _parts(database: Database, embedder: Embedder, seconds: float, asked: Iterator[str], into: Measured) -> None:
    """The embedding of a question, and the bare statement on a prepared connection."""
    pool = Pool(database.test.url("voice"), 1)
    await pool.open(wait=True)
    try:
        async with pool.connection() as connection:
            scope = await scope_of(connection, database.under_test, ALL)
            until = time.perf_counter() + seconds
            while (started := time.perf_counter()) < until:
                text = next(asked)
                vectors = await embedder.embed_queries([searchable(text, "query")])
                embedded = time.perf_counter()
                question = Asked([text], vectors)
                searched = time.perf_counter()
                await search(connection, scope, question, 0)
                ended = time.perf_counter()
                into.samples["embedding"].append((embedded - started) * 1000)
                into.samples["sql"].append((ended - searched) * 1000)
                into.samples["embedding + sql"].append((embedded - started + ended - searched) * 1000)
    finally:
        await pool.close()


def _figures(measured: Measured) -> dict[str, Any]:
    found = {kind: latency(samples) for kind, samples in measured.samples.items()}
    return {
        "milliseconds": found,
        "cpu_milliseconds_a_search": {
            kind: {name: round(1000 * seconds / found[kind]["n"], 2) for name, seconds in spent.items()}
            for kind, spent in measured.cpu_s.items()
        },
        "overhead": {
            "new": ratio(found["new, 1 client"]["p50"], found["embedding + sql"]["p50"]),
            "cached": ratio(found["cached, 1 client"]["p50"], found["sql"]["p50"]),
        },
        "statuses": dict(measured.statuses),
        "errors": measured.errors,
        "outside": measured.outside,
    }


def _clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"
