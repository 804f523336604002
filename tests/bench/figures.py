"""Figures of a series: percentiles, and recall against brute force."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

K = 5
# Two sums of the same 384 products differ by less; a row as near as the fifth, to rounding, is as good as the fifth.
_ROUNDING = 1e-5


class Latency(TypedDict):
    """Milliseconds of a series."""

    p50: float
    p95: float
    p99: float
    n: int


def latency(samples: Sequence[float]) -> Latency:
    """Percentiles of milliseconds, between samples by linear interpolation. Raises ValueError where there are none."""
    if not samples:
        raise ValueError("a series without a sample has no percentiles")
    p50, p95, p99 = (round(float(each), 3) for each in np.percentile(samples, [50, 95, 99]))
    return {"p50": p50, "p95": p95, "p99": p99, "n": len(samples)}


def nearest(
    vectors: NDArray[np.float32], allowed: NDArray[np.bool_], question: NDArray[np.float32]
) -> NDArray[np.intp]:
    """The rows of the K allowed vectors nearest to a question, best first: all rows compared, then masked.

    Args:
        vectors: unit rows, (n, d).
        allowed: (n,).
        question: a unit vector, (d,).
    """
    similarity = vectors @ question
    similarity[~allowed] = -np.inf
    count = min(K, int(allowed.sum()))
    if count == 0:
        return np.empty(0, np.intp)
    best = np.argpartition(similarity, -count)[-count:]
    ordered: NDArray[np.intp] = best[np.argsort(-similarity[best], kind="stable")]
    return ordered


class Truth:
    """What brute force finds for each question in the allowed rows of one selection.

    Attributes:
        rows: how many are allowed.
    """

    def __init__(
        self,
        ids: NDArray[np.int64],
        vectors: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        questions: NDArray[np.float32],
    ) -> None:
        """Compare every question, (q, d), with every allowed row; `ids`, (n,), name the rows."""
        self.rows = int(allowed.sum())
        self._questions = questions
        self._vectors = vectors[allowed]
        self._row_of = {int(id_): row for row, id_ in enumerate(ids[allowed])}
        wanted = min(K, self.rows)
        self._wanted = wanted
        self._least = (
            [float(np.partition(self._vectors @ each, -wanted)[-wanted]) for each in questions] if wanted else []
        )

    def recall(self, question: int, found: Iterable[int]) -> float:
        """The share of the K nearest that are found, 0..1; 1 where nothing is allowed and nothing was found.

        Args:
            found: ids of what a search gave, in any order, at most K of them counted by the caller.
        """
        rows = {self._row_of[id_] for id_ in found if id_ in self._row_of}
        if self._wanted == 0:
            return 1.0
        least = self._least[question] - _ROUNDING
        near = sum(float(self._vectors[row] @ self._questions[question]) >= least for row in rows)
        return min(near, self._wanted) / self._wanted

    def outside(self, found: Iterable[int]) -> int:
        """How many of the found ids are not allowed: there must be none."""
        return sum(id_ not in self._row_of for id_ in found)


def ratio(numerator: float, denominator: float) -> float | None:
    """A ratio to two digits; None where there is nothing to divide by."""
    return round(numerator / denominator, 2) if denominator > 0 else None
