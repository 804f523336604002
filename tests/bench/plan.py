"""How much is measured: the whole, a quick look for CI's trend, and a tiny one for the tests of the bench itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of one run.

    Attributes:
        items: documents of the organization under test; 3.2 passages each.
        embedded: passages that the model really embeds; the rest are mixtures of these (`vectors.py`).
        questions: distinct ones, embedded once.
        databases: passages of all organizations together, one database each, smallest first.
        large: passages of one organization each, in the largest database; none of them is hidden.
        searches: timed, of each series by SQL.
        seconds: how long each series over HTTP takes, all its rounds together.
        warm_s: how long the sidecar is warmed before anything is timed.
        calls: held at once on one sidecar, one question each `think_s`.
        calls_s: for how long.
        peer_rows: passages that the peers are given; that of one of `databases`.
        peer_searches: timed, of each peer and selection.
    """

    name: str
    items: int
    embedded: int
    questions: int
    databases: tuple[int, ...]
    large: tuple[int, ...]
    searches: int
    seconds: float
    warm_s: float
    calls: int
    calls_s: float
    peer_rows: int
    peer_searches: int
    clients: int = 8
    think_s: float = 5.0


FULL = Plan(
    name="full",
    items=3143,
    embedded=4000,
    questions=400,
    databases=(100_000, 1_000_000),
    large=(30_000, 100_000),
    searches=300,
    seconds=9.0,
    warm_s=3.0,
    calls=200,
    calls_s=60.0,
    peer_rows=100_000,
    peer_searches=100,
)
QUICK = Plan(
    name="quick",
    items=3143,
    embedded=300,
    questions=60,
    databases=(15_000, 30_000),
    large=(4_000, 12_000),
    searches=40,
    seconds=1.5,
    warm_s=0.5,
    calls=50,
    calls_s=10.0,
    peer_rows=15_000,
    peer_searches=10,
)
LOAD = Plan(
    name="load",
    items=3143,
    embedded=300,
    questions=60,
    databases=(30_000,),
    large=(),
    searches=40,
    seconds=0.0,
    warm_s=20.0,
    calls=200,
    calls_s=600.0,
    peer_rows=0,
    peer_searches=0,
)
"""Of `make load`, which takes of it what it needs."""
TINY = Plan(
    name="tiny",
    items=60,
    embedded=40,
    questions=12,
    databases=(400, 1_000),
    large=(200,),
    searches=10,
    seconds=0.2,
    warm_s=0.1,
    calls=4,
    calls_s=0.2,
    peer_rows=400,
    peer_searches=5,
    clients=2,
    think_s=0.1,
)
PLANS = {plan.name: plan for plan in (FULL, QUICK, TINY)}
