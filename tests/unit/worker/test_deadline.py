"""A deadline on a clock of the test's."""

from worker.deadline import Deadline


def test_what_remains_shrinks_with_the_clock_and_stops_at_zero() -> None:
    now = 100.0
    deadline = Deadline.after(4, lambda: now)
    assert deadline.remaining() == 4
    now = 103.5
    assert deadline.remaining() == 0.5
    assert not deadline.passed
    now = 107
    assert deadline.remaining() == 0
    assert deadline.passed
