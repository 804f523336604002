"""Exact or approximate: a function of counts, decided before a statement is sent and never by the planner.

Measured (docs/search.md, "Large organizations"): an exact scan costs its rows, an HNSW index costs nearly nothing but
misses answers once a filter leaves few of the vectors that it was built over.
"""

from typing import Literal

EXACT_ROWS = 20_000
"""Up to so many candidate rows the exact scan is quick enough: some 10 ms."""

KEPT_SHARE = 0.5
"""An index is asked only while at least this share of its vectors may be returned: of the nearest EF_SEARCH that it
gives, half are four times as many as a search wants."""

EF_SEARCH = 200
"""How many of the nearest the index gives, before the predicate (pgvector's `hnsw.ef_search`)."""

INDEX_SETTINGS = {"hnsw.ef_search": str(EF_SEARCH), "hnsw.iterative_scan": "off", "cpu_operator_cost": "0.05"}
"""For an approximate statement alone. Not iterated: what a graph gives later on has more gaps, and that it gave too few
is what tells a search to be exact after all. And to the planner an operator costs what comparing two integers does
(0.0025); were vectors compared for that, it would sort some thousand of them rather than ask an index."""

Plan = Literal["exact", "approximate"]
Advice = Literal["stay", "move", "move back"]


def plan_of(servable_rows: int, rows_in_scope: int, *, has_index: bool) -> Plan:
    """How one leg of a search goes.

    Args:
        servable_rows: the vectors in the index.
        rows_in_scope: how many of them the leg may return at the least.
        has_index: whether there is an index at all.
    """
    if not has_index or rows_in_scope <= EXACT_ROWS or rows_in_scope < KEPT_SHARE * servable_rows:
        return "exact"
    return "approximate"


def advice_for(servable_rows: int, *, has_partition: bool) -> Advice:
    """Where an organization's vectors belong.

    There is room between the two bounds, so that one that grows and shrinks a little does not move each time.
    """
    if has_partition:
        return "move back" if servable_rows < EXACT_ROWS // 2 else "stay"
    return "move" if servable_rows > EXACT_ROWS else "stay"
