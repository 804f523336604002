"""Figures of a ranking; those of a refusal are the product's own (`retrieval_sidecar.calibration.refusal`)."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """Means over queries.

    Attributes:
        r1, r5: the share of queries with any relevant document first, or among the first five.
        mrr5: the mean of 1/place of the first relevant document among five, 0 without one.
        none: the share of queries for which nothing at all was found.
    """

    queries: int
    r1: float
    r5: float
    mrr5: float
    none: float


def ranking_of(found: Sequence[Sequence[str]], relevant: Sequence[frozenset[str]]) -> Ranking:
    """Figures of found document ids, best first, against the relevant ones."""
    places = [
        next((place for place, id_ in enumerate(ids[:5], start=1) if id_ in wanted), None)
        for ids, wanted in zip(found, relevant, strict=True)
    ]
    count = max(1, len(places))
    return Ranking(
        queries=len(places),
        r1=sum(place == 1 for place in places) / count,
        r5=sum(place is not None for place in places) / count,
        mrr5=sum(1 / place for place in places if place) / count,
        none=sum(not ids for ids in found) / count,
    )
