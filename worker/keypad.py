"""What the caller keys in on the telephone, gathered to one input as a person means it."""

import asyncio
from collections.abc import Callable
from typing import Final

KEYS: Final = frozenset("0123456789*#ABCD")
END: Final = "#"
MOST_KEYS: Final = 32
MOST_INPUTS: Final = 50


class Keypad:
    """Takes keys one by one, and gives them on when the caller is done: at `#`, or after a pause.

    What was keyed in may be a secret: it is held until it is given on, never logged, and a call may bring so much of
    it and no more.
    """

    def __init__(self, pause_s: float, began: Callable[[], None], entered: Callable[[str], None]) -> None:
        """Make one.

        Args:
            pause_s: seconds after a key until nothing more is expected.
            began: hears of the first key of an input.
            entered: takes an input, without the `#` that ends it; an empty one was too long to be meant.
        """
        self._pause_s, self._began, self._entered = pause_s, began, entered
        self._keys = ""
        self._inputs = 0
        self._waiting: asyncio.TimerHandle | None = None

    def press(self, key: str) -> None:
        """Take a key; what is none is not heard."""
        if key not in KEYS or self._inputs >= MOST_INPUTS:
            return
        if key == END:
            self._finish()
            return
        if not self._keys:
            self._began()
        if len(self._keys) <= MOST_KEYS:  # one too many tells
            self._keys += key
        self._stop_waiting()
        self._waiting = asyncio.get_running_loop().call_later(self._pause_s, self._finish)

    def close(self) -> None:
        """Forget what was keyed in last."""
        self._stop_waiting()
        self._keys = ""
        self._inputs = MOST_INPUTS

    def _finish(self) -> None:
        self._stop_waiting()
        keys, self._keys = self._keys, ""
        if keys:
            self._inputs += 1
            self._entered(keys if len(keys) <= MOST_KEYS else "")

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None
