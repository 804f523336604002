"""What the model asks `search_knowledge`, judged without a model: a question, or what to do better."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from worker.messages import content_words
from worker.text import says_something, storable

LONGEST: Final = 500  # characters, by the contract
MOST_PARTS: Final = 4
_ALLOWED: Final = frozenset({"query", "sub_questions"})
_SAME: Final = 0.8


@dataclass(frozen=True, slots=True)
class Question:
    """A question that can be searched, and its parts where it has several."""

    query: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Why nothing can be searched, and what the model can do about it; holds no word of the caller's."""

    text: str


def read_question(arguments: Mapping[str, object], language: str) -> Question | Suggestion:
    """Read the arguments of a call of the tool.

    Args:
        arguments: as the model wrote them.
        language: the call's (ISO 639): by its words two questions are compared.
    """
    query = arguments.get("query")
    if not isinstance(query, str) or not arguments.keys() <= _ALLOWED:
        return Suggestion(
            "Call again with `query`, and `sub_questions` where there are several; there is nothing else."
        )
    query = storable(query).strip()
    if not says_something(query) or len(query) > LONGEST:
        return Suggestion(f"`query` must be a question of 1 to {LONGEST} characters.")
    parts = _parts(arguments.get("sub_questions"), query, language)
    return parts if isinstance(parts, Suggestion) else Question(query, parts)


def same_question(one: frozenset[str], other: frozenset[str], overlap: float) -> bool:
    """Whether two sets of words ask the same: by Jaccard's share of common words, 0 to 1.

    A number or a code that only one of them has makes them two: "E11" is not "E12".
    """
    if any(character.isdigit() for word in one ^ other for character in word):
        return False
    return len(one & other) >= overlap * len(one | other)


def _parts(given: object, query: str, language: str) -> tuple[str, ...] | Suggestion:
    if given is None or given == []:
        return ()
    if not isinstance(given, list) or not all(isinstance(part, str) for part in given):
        return Suggestion("`sub_questions` must be a list of short questions.")
    if len(given) > MOST_PARTS:
        return Suggestion(f"`sub_questions` must be at most {MOST_PARTS}: keep those that matter most to the caller.")
    parts = [storable(part).strip() for part in given]
    if not all(says_something(part) and len(part) <= LONGEST for part in parts):
        return Suggestion(
            f"Each of `sub_questions` must be a question of 1 to {LONGEST} characters: leave out empty ones."
        )
    return _repeated(parts, query, language) or tuple(parts)


def _repeated(parts: list[str], query: str, language: str) -> Suggestion | None:
    whole, seen = content_words(query, language), list[frozenset[str]]()
    for part in parts:
        words = content_words(part, language)
        if same_question(words, whole, _SAME):
            return Suggestion("A part repeats `query`: leave `sub_questions` out unless there are several questions.")
        if any(same_question(words, other, _SAME) for other in seen):
            return Suggestion("Two of `sub_questions` ask the same: keep one of them.")
        seen.append(words)
    return None
