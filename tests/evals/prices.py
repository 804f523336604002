"""What a case used of the models, and what that costs, by a table that whoever pays may edit."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

PRICES: Final = Path(__file__).parent / "prices.toml"
_MILLION: Final = 1_000_000


@dataclass(slots=True)
class Usage:
    """What was used, by model; stand-ins count words where a model would count tokens.

    Attributes:
        tokens: {model: [in, out]}.
        searches: of the sidecar, which cost nothing.
    """

    tokens: dict[str, list[int]] = field(default_factory=dict)
    searches: int = 0


def price_of(usage: Usage, table: dict[str, Any] | None = None) -> float | None:
    """In US dollars; None where nothing was used that has a price, or the table lacks a model."""
    prices = _table() if table is None else table
    if not usage.tokens or not usage.tokens.keys() <= prices.keys():
        return None
    costs = (
        used_in * float(prices[model]["in"]) + used_out * float(prices[model]["out"])
        for model, (used_in, used_out) in usage.tokens.items()
    )
    return sum(costs) / _MILLION


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(PRICES.read_text("utf-8")) if PRICES.exists() else {}
