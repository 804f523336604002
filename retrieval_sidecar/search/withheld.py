"""Why a passage was not given: for operators, who may see what a call may not hear."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from psycopg.rows import dict_row

from retrieval_sidecar.database import Connection, time_limit
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.search.candidates import asked_parameters, read_candidates
from retrieval_sidecar.search.ranking import Ranked, rank
from retrieval_sidecar.search.relevance import GIVEN
from retrieval_sidecar.search.service import Outcome
from retrieval_sidecar.search.statement import shape_of, withheld_statement

Reason = Literal[
    "not_relevant",
    "not_among_best",
    "out_of_scope",
    "draft",
    "internal",
    "other_channel",
    "expired",
    "not_yet_valid",
    "outside_schedule",
    "segment",
    "source_not_ready",
]


@dataclass(frozen=True, slots=True)
class NotGiven:
    """A passage that was not given.

    Attributes:
        ranked: as it stands among all that is near the question; its relevance is what it would be if it were searched.
        reasons: why not; at least one.
    """

    ranked: Ranked
    reasons: Sequence[Reason]


def considered(outcome: Outcome) -> list[NotGiven]:
    """What was searched and not given, in its order."""
    given = {found.ranked.candidate.passage_id for found in outcome.results}
    return [
        NotGiven(each, ("not_relevant" if each.relevance < GIVEN else "not_among_best",))
        for each in outcome.considered
        if each.candidate.passage_id not in given
    ]


async def find_withheld(connection: Connection, outcome: Outcome, deadline: Deadline) -> list[NotGiven]:
    """What is near the question and was not searched for this caller; the nearest first.

    Nothing of bases that belong to a team or a person, nor of what is deleted. All that the organization has is
    compared, so of a very large one this takes longer than the search did.
    """
    scope, question = outcome.scope, outcome.question
    if scope.space_id is None:
        return []
    statement = withheld_statement(
        shape_of(scope), by_meaning=outcome.vector is not None, partition_id=scope.partition_id
    )
    async with connection.cursor(row_factory=dict_row) as cursor:
        async with time_limit(connection, deadline):
            await cursor.execute(statement, asked_parameters(scope, question, outcome.vector))
        rows = await cursor.fetchall()
    reasons = {row["passage_id"]: row["reasons"] for row in rows}
    near = [each.candidate for each in outcome.considered] + read_candidates(rows, question)
    ranking = rank(near, question, region=outcome.region, calibration=scope.calibration)
    return [
        # Of a row that was opened between the two statements there is no reason any more.
        NotGiven(each, reasons[each.candidate.passage_id])
        for each in ranking
        if reasons.get(each.candidate.passage_id)
    ]
