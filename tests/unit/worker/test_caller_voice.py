"""Whether the caller speaks, and how long the caller has been waiting."""

import time

from worker.caller_voice import CallerVoice


def test_a_caller_who_was_never_heard_waits_for_nothing() -> None:
    assert CallerVoice().waited_s() == 0


def test_waiting_is_counted_from_the_end_of_speech_and_not_while_the_caller_speaks() -> None:
    caller, now = CallerVoice(), time.time()
    caller.has_become("speaking", now - 10)
    assert (caller.speaking, caller.waited_s()) == (True, 0)
    caller.has_become("listening", now - 5)
    assert not caller.speaking
    assert 5.2 <= caller.waited_s() < 60
    caller.has_become("away", now)
    assert caller.ended_at == now - 5.25
    caller.has_become("speaking", now)
    assert caller.waited_s() == 0
