"""What the agent says by itself, and the words it knows a language by: `languages/*.yaml`.

The keys `knowledge.*` are the contract's. A language without a file hears English.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

_DEFAULT: Final = "en"
_WORD: Final = re.compile(r"[^\W_][\w\u0900-\u0963'’]*(?:-[\w\u0900-\u0963'’]+)*")  # with the vowel signs of Hindi
_APOSTROPHE: Final = re.compile("['’]")

_Phrases = Annotated[list[str], Field(min_length=1)]


class Language(BaseModel):
    """One file; `languages/README.md` says what each field is for."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    lines: dict[str, str]
    waiting: Annotated[list[str], Field(min_length=2)]
    acknowledgements: _Phrases
    question_words: _Phrases
    stop_words: _Phrases


def language(code: str) -> Language:
    """What is known of that language (ISO 639); English for one without a file."""
    return _languages().get(code, _languages()[_DEFAULT])


def line(key: str, code: str) -> str:
    """The canned line of that key in that language (ISO 639), or in English where there is none.

    Raises:
        KeyError: for a key that does not exist.
    """
    return language(code).lines.get(key) or language(_DEFAULT).lines[key]


def name_of(code: str) -> str | None:
    """The language's name in English; `None` for one without a file."""
    known = _languages().get(code)
    return known.name if known else None


def codes() -> frozenset[str]:
    """The languages that have a file."""
    return frozenset(_languages())


def keys() -> frozenset[str]:
    """Every key that has a line."""
    return frozenset(language(_DEFAULT).lines)


def words(text: str) -> list[str]:
    """The words of a text in the form in which they are compared, in their order."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Arabic vowel signs and the lengthening stroke, and the dots of ё, are written or left out at will
    plain = "".join(c for c in folded if not 0x064B <= ord(c) <= 0x065F and c != "\u0640").replace("ё", "е")
    return [_APOSTROPHE.sub("'", word) for word in _WORD.findall(plain)]


def is_acknowledgement(text: str, code: str) -> bool:
    """Whether a caller who says this only goes on listening: "okay", "yes, thank you"."""
    rest = f" {' '.join(words(text))} "
    for phrase in _acknowledgements(code):
        rest = rest.replace(f" {phrase} ", "  ")
    return not rest.strip()


def is_question(text: str, code: str) -> bool:
    """Whether a text asks something, by its mark or by a word that questions have."""
    if any(mark in text for mark in "?؟"):
        return True
    said = f" {' '.join(words(text))} "
    return any(f" {phrase} " in said for phrase in _folded(tuple(language(code).question_words)))


def content_words(text: str, code: str) -> frozenset[str]:
    """The words that carry a question: without the stop words, unless that leaves none."""
    said = frozenset(words(text))
    return said - _folded(tuple(language(code).stop_words)) or said


@cache
def _languages() -> dict[str, Language]:
    folder = files("worker") / "languages"
    found = (entry for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return {
        entry.name.removesuffix(".yaml"): Language.model_validate(yaml.safe_load(entry.read_text("utf-8")))
        for entry in found
    }


@cache
def _folded(phrases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(" ".join(words(phrase)) for phrase in phrases)


@cache
def _acknowledgements(code: str) -> tuple[str, ...]:
    """The longest first: "thank you" before "thank"."""
    return tuple(sorted(_folded(tuple(language(code).acknowledgements)), key=len, reverse=True))
