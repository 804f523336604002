"""Figures of a ranking and of a refusal."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """How well a score tells answerable questions from others.

    Attributes:
        auroc: the chance that an answerable question scores above another; ties count half.
        refused_at_5: the share of others below the score that loses 5 % of the answerable.
        curve: (share of answerable lost, share of others refused) along the thresholds.
    """

    answerable: int
    others: int
    auroc: float
    refused_at_5: float
    curve: list[tuple[float, float]]


def refusal_of(scores: Sequence[float], answerable: Sequence[bool]) -> Refusal:
    """Figures of a score that should be high for answerable questions."""
    values, is_good = np.asarray(scores, np.float64), np.asarray(answerable, bool)
    good, bad = values[is_good], values[~is_good]
    thresholds = np.quantile(good, np.linspace(0, 1, 101))
    return Refusal(
        answerable=len(good),
        others=len(bad),
        auroc=_auroc(good, bad),
        refused_at_5=float((bad < np.quantile(good, 0.05)).mean()),
        curve=[(float((good < t).mean()), float((bad < t).mean())) for t in thresholds],
    )


def _auroc(good: NDArray[np.float64], bad: NDArray[np.float64]) -> float:
    ordered = np.sort(bad)
    below = np.searchsorted(ordered, good, side="left")
    not_above = np.searchsorted(ordered, good, side="right")
    return float((below + not_above).mean() / (2 * len(bad)))
