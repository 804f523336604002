"""When two passages are one thing to a caller: a text that was loaded twice, or a text and its translation."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from retrieval_sidecar.search.ranking import Candidate

_WORD = re.compile(r"[^\W_]+")
# Fewer words than this may be an answer to anything ("Yes, free of charge."): the title says to what.
_WORDS_OF_ITS_OWN = 12
_FIRST = 60  # characters
# How much of the longer of two near-identical texts the shorter one must be.
_NEARLY_ALL = 0.9


def family_of(base: str, source_name: str, external_id: str, language: str) -> str:
    """What a document and its translations have in common: where they stand, with no part that names a language.

    `faq.en.jsonl` / `delivery-en` and `faq.ru.jsonl` / `delivery-ru` of one base are of one family.
    """
    parts = (_without(language, name) for name in (source_name, external_id))
    return "\0".join((base, *parts))


def _without(language: str, name: str) -> str:
    return " ".join(part for part in _WORD.findall(name.casefold()) if part != language)


@dataclass(frozen=True)
class Thing:
    """A candidate, to be compared with others."""

    candidate: Candidate

    def is_same(self, other: "Thing") -> bool:
        """Whether both say the same: word for word, but for a few words added, or each in its language."""
        one, another = self.candidate, other.candidate
        if one.is_instruction != another.is_instruction:
            return False
        if one.language != another.language and self.family is not None and self.family == other.family:
            return one.chunk_index == another.chunk_index
        if not (self.may_be_within(other) or other.may_be_within(self)):
            return False
        shorter, longer = (self, other) if len(self.words) <= len(other.words) else (other, self)
        return (
            len(shorter.words) >= _NEARLY_ALL * len(longer.words)
            and shorter.vocabulary <= longer.vocabulary
            and _is_within(shorter.words, longer.words)
            # Another number is another thing.
            and not any(char.isdigit() for word in Counter(longer.words) - Counter(shorter.words) for char in word)
        )

    def may_be_within(self, other: "Thing") -> bool:
        """False where the other lacks a word of this one: so nearly all pairs end before a text is cut into words."""
        return self.probe in other.folded

    @cached_property
    def folded(self) -> str:
        """Title and content, as words are compared."""
        return f"{self.candidate.title} {self.candidate.content}".casefold()

    @cached_property
    def probe(self) -> str:
        """The longest of the content's first words, which is seldom anywhere else; the last may be a part of a word."""
        return max(_WORD.findall(self.candidate.content[:_FIRST].casefold()), key=len, default="")

    @cached_property
    def family(self) -> str | None:
        """What its document has in common with its translations; None of an instruction."""
        return family_of(*self.candidate.stands_at, self.candidate.language) if self.candidate.stands_at else None

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def words(self) -> list[str]:
        """What is compared: of a short text with its title."""
        words = _WORD.findall(self.candidate.content.casefold())
        if len(words) >= _WORDS_OF_ITS_OWN:
            return words
        return _WORD.findall(self.candidate.title.casefold()) + words


def _is_within(shorter: list[str], longer: list[str]) -> bool:
    """Whether all words of one stand in the other in that order."""
    rest = iter(longer)
    return all(word in rest for word in shorter)
