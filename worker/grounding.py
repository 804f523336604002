"""Was a search needed, and not made? Judged without a model, and counted; the caller is never held up by it."""

import contextlib
import json
from dataclasses import dataclass, field
from typing import Final

from worker.messages import content_words, is_acknowledgement, is_question

_FEWEST_ASKED: Final = 2  # words that carry a question; fewer ask to repeat, or ask nothing
_FEWEST_ANSWERED: Final = 3
_KNOWN: Final = 0.7


@dataclass(slots=True)
class TurnJudge:
    """Follows the turns of one call.

    Attributes:
        code: the language of the call (ISO 639).
        known: the words of the prompt, of results, and of what was said before.
    """

    code: str
    known: set[str]
    _asked: str = ""
    _answered: list[str] = field(default_factory=list)
    _searched: bool = False

    def caller_said(self, text: str) -> None:
        """Take what the turn is about; it may come after the search, or the answer."""
        self._asked = text
        self.known |= content_words(text, self.code)

    def agent_said(self, text: str) -> None:
        """Take what answers the turn."""
        self._answered.append(text)

    def searched(self, output: str) -> None:
        """Take what a search of the turn brought: JSON, as the model has it, unless the call broke off."""
        self._searched = True
        with contextlib.suppress(ValueError):
            self._learn(json.loads(output).get("results", []))

    def _learn(self, results: list[dict[str, str]]) -> None:
        self.known |= content_words(" ".join(f"{each['title']} {each['content']}" for each in results), self.code)

    def ended(self) -> bool:
        """End the turn, and say whether it was answered without a search that it needed."""
        asked, answered = content_words(self._asked, self.code), " ".join(self._answered)
        said = content_words(answered, self.code)
        unsearched = bool(
            not self._searched
            and self._asked
            and not is_acknowledgement(self._asked, self.code)
            and (self._states_a_new_fact(said) or (is_question(self._asked, self.code) and len(asked) >= _FEWEST_ASKED))
            and len(said) >= _FEWEST_ANSWERED
            and not answered.rstrip().endswith(("?", "؟"))
            and len(said & self.known) < _KNOWN * len(said)
        )
        self.known |= said
        self._asked, self._answered, self._searched = "", [], False
        return unsearched

    def _states_a_new_fact(self, said: frozenset[str]) -> bool:
        return any(character.isdigit() for word in said - self.known for character in word)
