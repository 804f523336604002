"""At most so many searches a turn, and none twice: a model that searches on and on keeps the caller waiting."""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from worker.messages import content_words
from worker.question import Question, same_question

SEARCHES_A_TURN: Final = 2
_OVERLAP: Final = 0.7

Refusal: TypeAlias = Literal["already_searched", "enough_searched", "unavailable"]


@dataclass(slots=True)
class Search:
    """A search of the turn; `failed` once it turned out that it could not be made."""

    words: frozenset[str]
    failed: bool = False


@dataclass(slots=True)
class SearchGuard:
    """Remembers what was searched in the present turn of one call; never shared between calls."""

    _turn: str = ""
    _searches: list[Search] = field(default_factory=list)

    def judge(self, turn: str, question: Question, language: str) -> Search | Refusal:
        """Take note of a search that may be made now, or say why it may not.

        Args:
            turn: an id of the agent's turn; a new one begins afresh.
            question: what the model asks.
            language: the call's (ISO 639), whose stop words do not count.
        """
        if turn != self._turn:
            self._turn, self._searches = turn, []
        words = content_words(" ".join((question.query, *question.parts)), language)
        for search in self._searches:
            if same_question(words, search.words, _OVERLAP):
                return "unavailable" if search.failed else "already_searched"
        if len(self._searches) >= SEARCHES_A_TURN:
            return "enough_searched"
        self._searches.append(Search(words))
        return self._searches[-1]
