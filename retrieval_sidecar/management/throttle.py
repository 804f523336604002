"""How often somebody may fail to show a key that holds."""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable

_MOST_REMEMBERED = 10_000


class Throttle:
    """A token bucket for each who fails: so many failures at once, and one more each so many seconds.

    Written here because no library that is installed counts failures without counting what did not fail.
    """

    def __init__(
        self, burst: int, seconds_each: float, clock: Callable[[], float], most: int = _MOST_REMEMBERED
    ) -> None:
        """Make one with nobody in it.

        Args:
            burst: failures that are let pass at once.
            seconds_each: until one of them is forgotten.
            clock: seconds.
            most: how many are remembered; who failed longest ago is forgotten first.
        """
        self._burst = burst
        self._seconds_each = seconds_each
        self._clock = clock
        self._most = most
        # Of each, when all of its failures will be forgotten.
        self._forgiven_at: OrderedDict[Hashable, float] = OrderedDict()

    def wait_s(self, who: Hashable) -> int:
        """Whole seconds until who may fail again; 0 for now."""
        forgiven_at = self._forgiven_at.get(who)
        if forgiven_at is None:
            return 0
        # One failure more must find room within the burst.
        room_in = forgiven_at - self._clock() - (self._burst - 1) * self._seconds_each
        return max(0, math.ceil(room_in))

    def failed(self, who: Hashable) -> None:
        """Count a failure."""
        now = self._clock()
        self._forgiven_at[who] = max(now, self._forgiven_at.get(who, now)) + self._seconds_each
        self._forgiven_at.move_to_end(who)
        if len(self._forgiven_at) > self._most:
            self._forgiven_at.popitem(last=False)
