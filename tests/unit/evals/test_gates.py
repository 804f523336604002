"""The gates hold every bench in every target, and say what is missed."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.evals.bench import Outcome
from tests.evals.benches import BENCHES
from tests.evals.gates import TARGETS, Bound, Gate, Target, missed, read_gates

NAMES = {bench.name for bench in BENCHES}


@pytest.mark.parametrize("target", TARGETS)
def test_every_bench_has_a_gate_and_every_gate_a_bench(target: Target) -> None:
    assert read_gates(target).keys() == NAMES, f"gates.toml: each bench needs a gate under [{target}]"


def test_a_bench_that_is_missing_in_the_file_is_missed() -> None:
    gates = read_gates("pipeline")
    del gates["leak"]
    assert list(missed(gates, {"leak": Outcome(figures={"leaks": 0.0})}, quick=False)) == ["leak has no gate"]


def test_a_gate_without_a_bound_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gates.toml"
    file.write_text("[pipeline.leak]\noptional = true\n", encoding="utf-8")
    with pytest.raises(ValidationError):
        read_gates("pipeline", file)


@pytest.mark.parametrize(
    ("bound", "value", "is_missed"),
    [
        (Bound(min=0.9), 0.89, True),
        (Bound(min=0.9), 0.9, False),
        (Bound(max=0), 1.0, True),
        (Bound(max=0), 0.0, False),
    ],
)
def test_a_bound_holds_its_own_value(bound: Bound, value: float, is_missed: bool) -> None:  # noqa: FBT001
    gates = {"leak": Gate(bounds={"figure": bound})}
    found = list(missed(gates, {"leak": Outcome(figures={"figure": value})}, quick=False))
    assert bool(found) is is_missed


def test_what_was_not_measured_is_missed_and_what_is_for_whole_runs_only_there() -> None:
    gates = {"leak": Gate(bounds={"figure": Bound(min=1, full=True)})}
    outcomes = {"leak": Outcome()}
    assert list(missed(gates, outcomes, quick=False)) == ["leak: nothing has measured 'figure'"]
    assert not list(missed(gates, outcomes, quick=True))


@pytest.mark.parametrize(("optional", "broke", "count"), [(True, False, 0), (False, False, 1), (True, True, 1)])
def test_a_bench_may_be_left_out_where_the_gate_says_so_but_not_break(
    optional: bool,  # noqa: FBT001
    broke: bool,  # noqa: FBT001
    count: int,
) -> None:
    gates = {"audio": Gate(optional=optional, bounds={"passed": Bound(min=1)})}
    outcome = Outcome(skipped="there is no server", broke=broke)
    assert len(list(missed(gates, {"audio": outcome}, quick=False))) == count
