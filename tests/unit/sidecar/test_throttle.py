"""How often somebody may fail: a bucket for each, by a clock that the test moves."""

from retrieval_sidecar.management.throttle import Throttle


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def failing(throttle: Throttle, who: str, times: int) -> list[int]:
    waits = []
    for _ in range(times):
        waits.append(throttle.wait_s(who))
        throttle.failed(who)
    return waits


def test_so_many_failures_pass_and_then_one_each_so_many_seconds() -> None:
    clock = Clock()
    throttle = Throttle(3, 10, clock)
    assert failing(throttle, "a", 3) == [0, 0, 0]
    assert throttle.wait_s("a") == 10
    clock.now += 9.5
    assert throttle.wait_s("a") == 1
    clock.now += 0.5
    assert failing(throttle, "a", 1) == [0]
    assert throttle.wait_s("a") == 10
    clock.now += 30
    assert failing(throttle, "a", 3) == [0, 0, 0]


def test_one_is_not_held_for_another() -> None:
    throttle = Throttle(1, 10, Clock())
    throttle.failed("a")
    assert (throttle.wait_s("a"), throttle.wait_s("b")) == (10, 0)


def test_a_pause_earns_no_more_than_the_burst() -> None:
    clock = Clock()
    throttle = Throttle(2, 10, clock)
    throttle.failed("a")
    clock.now += 1000
    assert failing(throttle, "a", 2) == [0, 0]
    assert throttle.wait_s("a") == 10


def test_only_so_many_are_remembered_the_latest() -> None:
    throttle = Throttle(1, 10, Clock(), most=2)
    for who in ("a", "b", "a", "c"):
        throttle.failed(who)
    assert [throttle.wait_s(who) > 0 for who in ("a", "b", "c")] == [True, False, True]
