"""Which phrase is said next while the caller waits."""

from dataclasses import dataclass

from worker.messages import language


@dataclass(slots=True)
class WaitingPhrases:
    """Goes through a language's phrases in turn, so that none is said twice in a row."""

    _said: int = 0

    def next(self, code: str) -> str:
        """The next phrase in that language (ISO 639)."""
        phrases = language(code).waiting
        phrase = phrases[self._said % len(phrases)]
        self._said += 1
        return phrase
