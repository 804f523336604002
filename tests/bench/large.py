"""One large organization after the other: the statement that the product chooses for it, at three selections."""

from collections.abc import Callable, Sequence
from typing import Any

from tests.bench import numpy_bound
from tests.bench.database import BenchData
from tests.bench.plan import Plan
from tests.bench.statements import Asked, measure
from tests.bench.tenant import ALL
from tests.bench.texts import Item

SELECTIONS = (ALL, "10 %", "1 %")
# How an organization is searched, in the partition of its own that it has.
LAYOUTS = {"exact": False, "by the rule": True}
_SEARCHES = 100  # at most: one of 200,000 passages takes its time


async def measure_large(plan: Plan, data: BenchData, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Latency and recall of each, one client; in the largest database, among the passages of all others."""
    database = data.databases[-1]
    searches = min(plan.searches, _SEARCHES)
    found = []
    for passages, organization in sorted(database.large.items()):
        asked = Asked(_questions(organization.items, len(data.questions)), data.vectors)
        bound = numpy_bound.measure(organization, (ALL,), asked)
        for selection in SELECTIONS:
            for layout, by_rule in LAYOUTS.items():
                say(f"One organization of {passages:,} passages, {selection}, {layout}")
                series = await measure(
                    database.test.url("voice"),
                    organization,
                    selection,
                    asked,
                    clients=1,
                    searches=searches,
                    by_rule=by_rule,
                )
                found.append(
                    {
                        "passages": passages,
                        "among": database.passages,
                        "layout": layout,
                        "selection": selection,
                        "rows": series.rows,
                        "milliseconds": series.milliseconds,
                        "numpy": bound.get(selection),
                        "recall": series.recall,
                        "outside": series.outside,
                    }
                )
    return found


def _questions(items: Sequence[Item], count: int) -> list[str]:
    """So many questions about the organization's own items, evenly spread: their words are met, as a caller's are."""
    asked = [question for item in items for question in item.questions]
    return [asked[place * len(asked) // count] for place in range(count)]
