"""Figures of a refusal: how well a score tells questions that have an answer from those that have none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    """Figures of a score that should be high for answerable questions; there must be some of either kind."""
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
