"""Searching ahead: for what the caller said, while the model still thinks about it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from contracts.voice import SearchResponse
from worker import metrics
from worker.errors import SidecarError
from worker.messages import content_words, is_acknowledgement
from worker.question import LONGEST, Question, same_question
from worker.text import says_something, storable

_OVERLAP: Final = 0.7
_FEWEST_WORDS: Final = 2  # fewer carry no question

Searching = Callable[[Question], Awaitable[SearchResponse]]


@dataclass(slots=True)
class Prefetch:
    """At most one search ahead a turn; dropped when the caller goes on, or the model asks something else.

    Attributes:
        search: asks the sidecar, with the scope of the call as every search has it.
        language: the call's (ISO 639).
    """

    search: Searching
    language: str
    _task: asyncio.Task[SearchResponse] | None = None
    _words: frozenset[str] = frozenset()
    _turn_has_had_one: bool = False
    _began: float = 0.0
    _ended: float | None = None

    def caller_said(self, transcript: str) -> None:
        """Search for these words, unless they ask nothing or this turn had its search."""
        text = storable(transcript).strip()
        words = content_words(text, self.language)
        asks = says_something(text) and len(words) >= _FEWEST_WORDS and not is_acknowledgement(text, self.language)
        if not asks or len(text) > LONGEST or self._turn_has_had_one:
            return
        self._turn_has_had_one = True
        self._words, self._began, self._ended = words, time.monotonic(), None
        self._task = asyncio.ensure_future(self.search(Question(text)))
        self._task.add_done_callback(self._take_note)

    def turn_ended(self) -> None:
        """The caller's turn is the model's now: the next words are another turn."""
        self._turn_has_had_one = False

    def drop(self) -> None:
        """Give the search up: the caller goes on speaking, or the turn has its answer."""
        if self._task:
            self._task.cancel()
            self._task = None
            metrics.note(metrics.AHEAD, result="unused")

    def take(self, question: Question) -> asyncio.Task[SearchResponse] | None:
        """The search ahead, if it was for this question; it is dropped if not."""
        task, self._task = self._task, None
        words = content_words(question.query, self.language)
        if task and not question.parts and same_question(words, self._words, _OVERLAP):
            metrics.note(metrics.SAVED, (self._ended or time.monotonic()) - self._began)
            return task
        if task:
            task.cancel()
            metrics.note(metrics.AHEAD, result="unused")
        return None

    def _take_note(self, task: asyncio.Task[SearchResponse]) -> None:
        """A search that nobody waited for any more may have failed: nothing follows from it."""
        if task is self._task:
            self._ended = time.monotonic()
        if not task.cancelled():
            task.exception()


async def first_useful(
    ahead: asyncio.Task[SearchResponse], search: Callable[[], Awaitable[SearchResponse]]
) -> SearchResponse:
    """What was found ahead; where that is nothing, what the model's own words find.

    Raises:
        SidecarError: when there is no answer to these.
    """
    try:
        response = await ahead
    except SidecarError:
        response = None
    is_useful = response is not None and response.status == "ok"
    metrics.note(metrics.AHEAD, result="used" if is_useful else "unused")
    return response if response and is_useful else await search()
