"""Searches by SQL alone: the product's own statement, on connections of its own pool."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from psycopg.rows import DictRow, dict_row

from retrieval_sidecar.database import Connection, Pool, time_limit
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.partitions.rule import INDEX_SETTINGS
from retrieval_sidecar.scope.resolve import Scope, scope_of_agent
from retrieval_sidecar.search.candidates import approximate_legs, search_with
from retrieval_sidecar.search.question import Question, searchable
from retrieval_sidecar.search.service import utc_now
from retrieval_sidecar.search.statement import shape_of
from tests.bench.figures import K, Latency, Truth, latency
from tests.bench.tenant import Searchable, agent_id, organization_id
from tests.bench.texts import LANGUAGE

_WARM = 5  # executions on each connection: planned, and its pages in memory


@dataclass(frozen=True, slots=True)
class Series:
    """What a series of searches came to.

    Attributes:
        rows: how many passages the agent may tell.
        recall: the mean share of the five nearest that were among the candidates.
        outside: candidates that the agent may not tell: there must be none.
    """

    milliseconds: Latency
    rows: int
    recall: float
    outside: int


class Asked:
    """Questions, read as the product reads them."""

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.vectors = vectors
        self.questions = [
            Question.read(searchable(text, "query"), utterance=None, language=None, default_language=LANGUAGE)
            for text in texts
        ]

    def by_vectors_alone(self) -> "Asked":
        """The same without their words and codes: what a store that knows only vectors is asked."""
        alone = copy(self)
        alone.questions = [replace(question, words=(), codes=()) for question in self.questions]
        return alone

    def centred(self, organization: Searchable) -> Vectors:
        """Their vectors as the statement compares them in an organization, (q, d)."""
        return np.stack(
            [
                organization.centred(vector, question.language)
                for question, vector in zip(self.questions, self.vectors, strict=True)
            ]
        )

    def truth(self, organization: Searchable, selection: str) -> Truth:
        """What brute force finds for each of them in what an agent may tell."""
        return Truth(
            organization.ids, organization.vectors, organization.allowed(selection), self.centred(organization)
        )


async def measure(
    conninfo: str,
    organization: Searchable,
    selection: str,
    asked: Asked,
    *,
    clients: int,
    searches: int,
    by_rule: bool = True,
) -> Series:
    """Search with so many clients in a closed loop, `searches` times together, and compare with brute force.

    Args:
        conninfo: of the voice role.
        selection: whose agent asks.
        by_rule: False to be exact whatever the product's rule says.
    """
    truth = asked.truth(organization, selection)
    samples: list[float] = []
    recalls: list[float] = []
    outside = 0
    turns = itertools.count()
    pool = Pool(conninfo, clients)
    await pool.open(wait=True)
    try:
        async with pool.connection() as connection:
            scope = await scope_of(connection, organization, selection)

        async def one() -> None:
            nonlocal outside
            async with pool.connection() as connection:
                for question in range(_WARM):
                    await search(connection, scope, asked, question % len(asked.questions), by_rule=by_rule)
                while (turn := next(turns)) < searches:
                    question = turn % len(asked.questions)
                    started = time.perf_counter()
                    rows = await search(connection, scope, asked, question, by_rule=by_rule)
                    samples.append((time.perf_counter() - started) * 1000)
                    found = _by_meaning(rows)
                    recalls.append(truth.recall(question, found[:K]))
                    outside += truth.outside(found)

        await asyncio.gather(*(one() for _ in range(clients)))
    finally:
        await pool.close()
    return Series(latency(samples), truth.rows, round(float(np.mean(recalls)), 4), outside)


async def scope_of(connection: Connection, organization: Searchable, selection: str) -> Scope:
    """What the agent of a selection may tell now."""
    number = organization.number
    return await scope_of_agent(organization_id(number), agent_id(number, selection), None, connection, utc_now())


async def search(
    connection: Connection, scope: Scope, asked: Asked, question: int, *, by_rule: bool = True
) -> list[DictRow]:
    """The rows of the one statement of a search, all of them fetched, text and all.

    Args:
        by_rule: approximate where the product's rule says so, exact otherwise.
    """
    shape, deadline = shape_of(scope), Deadline.after(LONGEST_S)
    by_index = await approximate_legs(connection, scope, shape, deadline) if by_rule else ()
    statement, parameters = search_with(scope, shape, asked.questions[question], asked.vectors[question], by_index)
    async with connection.cursor(row_factory=dict_row) as cursor:
        if by_index:
            async with time_limit(connection, deadline, INDEX_SETTINGS):
                await cursor.execute(statement, parameters)
        else:
            await cursor.execute(statement, parameters)
        return await cursor.fetchall()


def _by_meaning(rows: Sequence[DictRow]) -> list[int]:
    """Passage ids, the nearest first."""
    return [int(row["passage_id"]) for row in sorted(rows, key=lambda row: (row["distance"], row["passage_id"]))]
