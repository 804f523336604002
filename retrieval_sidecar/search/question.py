"""A question as the search reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.text import codes, languages
from retrieval_sidecar.text.normalize import for_embedding, words

MAX_CHARACTERS = 500
_WORDS_TO_BE_SURE = 5
_MONOLOGUE_WORDS = 15


def searchable(text: str, field: str) -> str:
    """What is embedded of a text. Raises InvalidRequest for one that is too long, or in which nothing is visible."""
    embedded = for_embedding(text)
    if not embedded or len(text.strip()) > MAX_CHARACTERS:
        raise InvalidRequest.of(field, f"must hold 1 to {MAX_CHARACTERS} characters after trimming")
    # One sign may stand for many letters in its normal form; embedding them all would take seconds.
    return embedded[:MAX_CHARACTERS]


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for.

    Attributes:
        text: what is embedded.
        language: of the text itself, for centring its vector.
        asked_in: the language that the caller should be answered in.
        words: of the query without stop words, and of the utterance without common words.
        codes: what either may mean as a code, as it is written or said.
        fallbacks: the languages that come next to the one asked in, best first.
        is_monologue: so many telling words in the query itself that one vector cannot stand for them.
    """

    text: str
    language: str
    asked_in: str
    words: tuple[str, ...]
    codes: tuple[str, ...]
    fallbacks: tuple[str, ...] = ()
    is_monologue: bool = False

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that an answer is wanted in, best first; any other comes after them."""
        return (self.asked_in, *self.fallbacks)

    def language_place(self, language: str) -> int:
        """How far down a language stands among those wanted, from 0; any other stands after them."""
        wanted = self.languages
        return wanted.index(language) if language in wanted else len(wanted)

    @property
    def coverage_counts(self) -> float:
        """How much it says that a passage holds the question's words, 0..1: of two words both are soon found."""
        return min(1.0, len(self.words) / _WORDS_TO_BE_SURE)

    @classmethod
    def read(
        cls,
        text: str,
        *,
        utterance: str | None,
        language: str | None,
        default_language: str,
        fallbacks: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Read a text that `searchable` gave.

        Args:
            language: asked in; None to take the text's own, `default_language` where it does not tell.
            fallbacks: for each language those that come next to it, best first.
        """
        own = languages.detect(text, default=language or default_language)
        common = languages.common_words(own)
        is_monologue = len(set(words(text)) - common) > _MONOLOGUE_WORDS
        # What a caller says at length, here or in the utterance, is full of words that any text holds.
        meaningless = common if is_monologue else languages.stop_words(own)
        telling = [word for word in words(text) if word not in meaningless]
        telling += [word for word in words(utterance or "") if word not in common]
        spoken_in = dict.fromkeys((own, language or own))
        return cls(
            text,
            own,
            language or own,
            tuple(dict.fromkeys(telling)),
            tuple(sorted(codes.in_question(text, *spoken_in) | codes.in_question(utterance or "", *spoken_in))),
            fallbacks=tuple((fallbacks or {}).get(language or own, ())),
            is_monologue=is_monologue,
        )
