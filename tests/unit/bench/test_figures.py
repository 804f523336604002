"""Percentiles and recall, held against what can be counted by hand."""

import numpy as np
import pytest

from tests.bench.figures import Truth, latency, nearest, ratio

# Unit vectors at these degrees; the question is at 0.
DEGREES = np.array([0, 10, 20, 30, 40, 50, 60, 70])
VECTORS = np.stack([np.cos(np.radians(DEGREES)), np.sin(np.radians(DEGREES))], axis=1).astype(np.float32)
IDS = np.arange(100, 108)
QUESTION = np.array([1.0, 0.0], np.float32)


def truth(allowed: list[int]) -> Truth:
    mask = np.zeros(len(VECTORS), np.bool_)
    mask[allowed] = True
    return Truth(IDS, VECTORS, mask, QUESTION[None, :])


def test_percentiles_of_a_hundred() -> None:
    assert latency([float(n) for n in range(101)]) == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "n": 101}


def test_a_series_without_samples_has_no_percentiles() -> None:
    with pytest.raises(ValueError, match="no percentiles"):
        latency([])


def test_nearest_gives_the_allowed_rows_in_order() -> None:
    allowed = np.array([False, True, True, False, True, True, True, True])
    assert nearest(VECTORS, allowed, QUESTION).tolist() == [1, 2, 4, 5, 6]


def test_nearest_gives_fewer_where_fewer_are_allowed() -> None:
    allowed = np.zeros(8, np.bool_)
    assert nearest(VECTORS, allowed, QUESTION).tolist() == []
    allowed[[6, 3]] = True
    assert nearest(VECTORS, allowed, QUESTION).tolist() == [3, 6]


def test_recall_counts_what_is_among_the_nearest_allowed() -> None:
    found = truth([0, 2, 3, 4, 5, 6, 7])
    assert found.recall(0, [100, 102, 103, 104, 105]) == 1.0
    assert found.recall(0, [105, 104, 103, 102, 100]) == 1.0
    assert found.recall(0, [100, 102, 103, 106, 107]) == pytest.approx(0.6)
    assert found.recall(0, []) == 0.0


def test_a_row_outside_of_the_selection_never_counts() -> None:
    found = truth([2, 3, 4, 5, 6])
    assert found.recall(0, [100, 101, 102, 103, 104]) == pytest.approx(0.6)
    assert found.outside([100, 101, 102]) == 2


def test_recall_of_fewer_rows_than_five_is_of_those() -> None:
    found = truth([1, 5])
    assert found.rows == 2
    assert found.recall(0, [105]) == 0.5
    assert found.recall(0, [101, 105]) == 1.0


def test_nothing_allowed_is_found_by_finding_nothing() -> None:
    assert truth([]).recall(0, []) == 1.0


def test_rows_as_near_as_the_fifth_count_for_it() -> None:
    vectors = np.repeat(VECTORS[1:2], 7, axis=0)
    found = Truth(np.arange(7), vectors, np.ones(7, np.bool_), QUESTION[None, :])
    assert found.recall(0, [6, 5, 4, 3, 2]) == 1.0
    assert found.recall(0, [6, 6, 6, 6, 6]) == pytest.approx(0.2)


def test_ratio_of_nothing() -> None:
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) is None
