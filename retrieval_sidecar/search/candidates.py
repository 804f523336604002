"""The one statement of a search, run, and its rows read."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.trace import SpanKind
from pgvector import Vector
from psycopg.rows import dict_row

from contracts.tracing import step
from retrieval_sidecar.database import Connection, time_limit
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.partitions.rule import INDEX_SETTINGS, plan_of
from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.ranking import Candidate
from retrieval_sidecar.search.statement import (
    Shape,
    legs_of,
    rows_statement,
    scope_parameters,
    search_statement,
)


async def find_candidates(
    connection: Connection,
    scope: Scope,
    shape: Shape,
    questions: Sequence[Question],
    vectors: Vectors | None,
    deadline: Deadline,
) -> list[list[Candidate]]:
    """What is near each question by meaning, words or codes, within the scope; in no particular order.

    Args:
        shape: of the scope, not empty.
        vectors: of the questions, a row each as the embedder gave it; None to search by words and codes alone.
    """
    by_index = () if vectors is None else await approximate_legs(connection, scope, shape, deadline)
    rows = [None] * len(questions) if vectors is None else vectors
    return [
        await _find(connection, scope, shape, question, vector, by_index, deadline)
        for question, vector in zip(questions, rows, strict=True)
    ]


async def _find(
    connection: Connection,
    scope: Scope,
    shape: Shape,
    question: Question,
    vector: Vectors | None,
    by_index: tuple[str, ...],
    deadline: Deadline,
) -> list[Candidate]:
    statement, parameters = search_with(scope, shape, question, vector, by_index)
    async with connection.cursor(row_factory=dict_row) as cursor:
        with step(
            "search postgresql", kind=SpanKind.CLIENT, db__system__name="postgresql", db__operation__name="SELECT"
        ):
            async with time_limit(connection, deadline, INDEX_SETTINGS if by_index else {}):
                await cursor.execute(statement, parameters)
            rows = await cursor.fetchall()
    return read_candidates(rows, question)


async def approximate_legs(connection: Connection, scope: Scope, shape: Shape, deadline: Deadline) -> tuple[str, ...]:
    """The legs of a shape that go by an index. An ordinary organization has none, and nothing is asked for it."""
    if scope.partition_id == 0 or scope.with_reserved:  # the indexes are of what is servable
        return ()
    async with time_limit(connection, deadline):
        cursor = await connection.execute(rows_statement(shape), scope_parameters(scope))
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - sums always give one
    servable_rows, *rows_of_legs = row
    return tuple(
        leg
        for leg, rows in zip(legs_of(shape), rows_of_legs, strict=True)
        if plan_of(servable_rows, rows, has_index=True) == "approximate"
    )


def search_with(
    scope: Scope, shape: Shape, question: Question, vector: Vectors | None, by_index: tuple[str, ...] = ()
) -> tuple[bytes, dict[str, Any]]:
    """The statement of a search and the values that it refers to; see `search_statement`."""
    statement = search_statement(
        shape,
        by_meaning=vector is not None,
        partition_id=scope.partition_id,
        dimensions=scope.dimensions,
        by_index=by_index,
        with_reserved=scope.with_reserved,
    )
    return statement, asked_parameters(scope, question, vector)


def asked_parameters(scope: Scope, question: Question, vector: Vectors | None) -> dict[str, Any]:
    """The values that a statement about a question refers to."""
    return scope_parameters(scope) | {
        "vector": None if vector is None else Vector(vector),
        "language": question.language,
        "words": list(question.words),
        "codes": list(question.codes),
        # Without a vector words are all there is.
        "spare_common": vector is not None,
    }


def read_candidates(rows: Sequence[dict[str, Any]], question: Question) -> list[Candidate]:
    """The candidates of a statement's rows, in their order."""
    shares = _shares(rows[0], question) if rows else {}
    return [_candidate(row, shares) for row in rows]


def _shares(row: dict[str, Any], question: Question) -> dict[str, float]:
    """What each word of the question is worth, of all of them together; every row says it."""
    # A word that no allowed passage holds counts as the rarest: the question asks for something that is not here.
    found = json.loads(row["weights"] or "{}")
    weights = {word: found.get(word, row["unknown_weight"]) for word in question.words}
    total = sum(weights.values()) or 1.0
    return {word: weight / total for word, weight in weights.items()}


def _candidate(row: dict[str, Any], shares: Mapping[str, float]) -> Candidate:
    return Candidate(
        passage_id=row["passage_id"],
        is_instruction=row["is_instruction"],
        id=row["id"],
        chunk_index=row["chunk_index"],
        title=row["title"],
        content=row["content"],
        source_url=row["source_url"],
        language=row["language"],
        region_code=row["region_code"],
        # At a right angle to the last bit: what is stored is all alike, nothing is left of it once centred, and words
        # must decide.
        meaning=None if row["distance"] in (None, 1.0) else 1.0 - row["distance"],
        matched={word: shares[word] for word in row["words"]},
        code=row["has_code"],
        stands_at=None if row["is_instruction"] else (str(row["base_id"]), row["source_name"], row["external_id"]),
    )
