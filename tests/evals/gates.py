"""The gates: what the figures of each bench must reach, for a target."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from tests.evals.bench import Outcome

FILE: Final = Path(__file__).parent / "gates.toml"
TARGETS: Final = ("pipeline", "realtime")
Target = Literal["pipeline", "realtime"]


class Bound(BaseModel):
    """What one figure must reach; `full` where that is of whole runs only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min: float | None = None
    max: float | None = None
    full: bool = False

    def is_missed_by(self, value: float) -> bool:
        return (self.min is not None and value < self.min) or (self.max is not None and value > self.max)

    def __str__(self) -> str:
        bounds = (("at least", self.min), ("at most", self.max))
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)


class Gate(BaseModel):
    """The bounds of a bench, at least one; `optional` where a machine may lack what it needs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    optional: bool = False
    bounds: Annotated[dict[str, Bound], Field(min_length=1)]


def read_gates(target: Target, file: Path = FILE) -> dict[str, Gate]:
    """The gates of a target, by bench. Raises KeyError or ValidationError for a file that cannot be meant."""
    read: Mapping[str, Mapping[str, Any]] = tomllib.loads(file.read_text("utf-8"))[target]
    return {
        bench: Gate(
            optional=written.get("optional", False),
            bounds={name: bound for name, bound in written.items() if name != "optional"},
        )
        for bench, written in read.items()
    }


def missed(gates: Mapping[str, Gate], outcomes: Mapping[str, Outcome], *, quick: bool) -> Iterable[str]:
    """Each gate that is not reached, in words; a bench without a gate is one that is not reached."""
    for bench, outcome in outcomes.items():
        gate = gates.get(bench)
        if gate is None:
            yield f"{bench} has no gate"
            continue
        if outcome.skipped is not None:
            if outcome.broke or not gate.optional:
                yield f"{bench} was not run: {outcome.skipped}"
            continue
        for name, bound in gate.bounds.items():
            if bound.full and quick:
                continue
            value = outcome.figures.get(name)
            if value is None:
                yield f"{bench}: nothing has measured {name!r}"
            elif bound.is_missed_by(value):
                yield f"{bench}: {name} is {value:g}, and must be {bound}"
