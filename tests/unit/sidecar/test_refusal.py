"""Figures of a refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.calibration.refusal import refusal_of

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_auroc_is_the_share_of_pairs_in_the_right_order(good: list[float], bad: list[float]) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in good for other in bad]
    found = refusal_of([*good, *bad], [True] * len(good) + [False] * len(bad))
    assert found.auroc == pytest.approx(sum(pairs) / len(pairs))
    assert (found.answerable, found.others) == (len(good), len(bad))
    assert found.curve == sorted(found.curve)


def test_what_is_refused_at_five_percent_lost() -> None:
    good = [float(score) for score in range(100, 200)]
    bad = [0.0, 50.0, 104.0, 150.0]
    assert refusal_of([*good, *bad], [True] * 100 + [False] * 4).refused_at_5 == 0.75
