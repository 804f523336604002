"""Exact or approximate, stay or move: by counts alone."""

import pytest

from retrieval_sidecar.partitions.rule import EF_SEARCH, INDEX_SETTINGS, KEPT_SHARE, advice_for, plan_of
from retrieval_sidecar.search.statement import POOL


@pytest.mark.parametrize(
    ("servable_rows", "rows_in_scope", "plan"),
    [
        (0, 0, "exact"),
        (6_287, 6_287, "exact"),
        (20_000, 20_000, "exact"),
        (20_001, 20_001, "approximate"),
        (65_000, 20_000, "exact"),
        (40_002, 20_001, "approximate"),
        (40_004, 20_001, "exact"),
        (65_000, 32_500, "approximate"),
        (65_000, 32_499, "exact"),
        (65_000, 65, "exact"),
        (1_000_000, 499_999, "exact"),
        (1_000_000, 1_000_000, "approximate"),
    ],
)
def test_a_leg_is_approximate_only_where_there_is_much_and_most_of_it_is_in_scope(
    servable_rows: int, rows_in_scope: int, plan: str
) -> None:
    assert plan_of(servable_rows, rows_in_scope, has_index=True) == plan


@pytest.mark.parametrize("rows", [0, 20_001, 1_000_000])
def test_without_an_index_every_leg_is_exact(rows: int) -> None:
    assert plan_of(rows, rows, has_index=False) == "exact"


@pytest.mark.parametrize(
    ("servable_rows", "has_partition", "advice"),
    [
        (0, False, "stay"),
        (20_000, False, "stay"),
        (20_001, False, "move"),
        (20_001, True, "stay"),
        (10_000, True, "stay"),
        (9_999, True, "move back"),
        (0, True, "move back"),
    ],
)
def test_an_organization_moves_at_one_size_and_back_at_another(
    servable_rows: int, advice: str, *, has_partition: bool
) -> None:
    assert advice_for(servable_rows, has_partition=has_partition) == advice


def test_the_index_gives_several_times_what_a_search_wants_of_what_is_left() -> None:
    assert EF_SEARCH * KEPT_SHARE >= 4 * POOL
    assert INDEX_SETTINGS["hnsw.iterative_scan"] == "off"
