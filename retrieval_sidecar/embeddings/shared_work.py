"""One piece of work for several who want its result."""

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class SharedWork(Generic[_T]):
    """Runs while anybody is in its `with` block; the last to leave stops it, one who leaves early stops nobody's."""

    def __init__(self, work: Coroutine[Any, Any, _T]) -> None:
        self._task = asyncio.create_task(work)
        self._waiting = 0

    def __enter__(self) -> "SharedWork[_T]":
        self._waiting += 1
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self._task.cancel()

    @property
    def is_abandoned(self) -> bool:
        """Whether it was stopped: too late to join."""
        return self._task.cancelling() > 0

    async def result(self) -> _T:
        """What came of it; for those in the block. Raises what the work raised."""
        return await asyncio.shield(self._task)

    def when_over(self, callback: Callable[[], None]) -> None:
        """Call this once it is done, failed or stopped."""
        self._task.add_done_callback(lambda _task: callback())
