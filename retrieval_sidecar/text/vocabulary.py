"""How the parts of a code are said, by language: the words of `spoken_words.yaml`, folded."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from retrieval_sidecar.text.normalize import for_keywords

_EVERY_LANGUAGE = "*"
_APOSTROPHES = re.compile("['’ʼ]")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language, each as `folded` has it.

    Attributes:
        letters: what a letter's name may stand for, the likeliest first.
        latin: how a letter of another script may be written in Latin ones.
        zeros: said for a zero beside other digits.
        joints: said for what joins the parts of a code.
        such_as: phrases between a letter and a word that begins with it.
        repeat: how often the part that follows such a word stands.
        repeated: how often the part before such a word stands.
        times: between how often and what.
        digits: nouns that name a digit.
        numbers: the value of a number's word; empty where a library reads them.
        joining: the word, or prefix, that joins a number's words; None where there is none.
    """

    letters: Mapping[str, tuple[str, ...]]
    latin: Mapping[str, tuple[str, ...]]
    zeros: frozenset[str]
    joints: frozenset[str]
    such_as: tuple[tuple[str, ...], ...]
    repeat: Mapping[str, int]
    repeated: Mapping[str, int]
    times: frozenset[str]
    digits: Mapping[str, int]
    numbers: Mapping[str, int]
    joining: str | None


def folded(text: str) -> str:
    """A text as these words are compared: `for_keywords`, and no apostrophe parts a word."""
    return for_keywords(_APOSTROPHES.sub("", text))


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language, and those said in every one."""
    everywhere, own = _words()[_EVERY_LANGUAGE], _words().get(language, {})
    ordinals = {
        value: " ".join(stem + ending for stem in stems.split() for ending in own["endings"].split())
        for value, stems in own.get("ordinals", {}).items()
    }
    return Vocabulary(
        letters=_all_by_name([*everywhere["letters"].items(), *own.get("letters", {}).items()]),
        latin={folded(letter): tuple(to.split()) for letter, to in own.get("latin", {}).items()},
        zeros=_folded(own.get("zeros", "")),
        joints=_folded(own.get("joints", "")),
        such_as=tuple(tuple(folded(phrase).split()) for phrase in own.get("such_as", ())),
        repeat=_by_name({2: own.get("double", ""), 3: own.get("triple", "")}),
        repeated=_by_name({2: own.get("doubled", ""), 3: own.get("tripled", "")}),
        times=_folded(own.get("times", "")),
        digits=_by_name(own.get("digits", {})),
        numbers=_by_name(ordinals) | _by_name(own.get("numbers", {})),
        joining=own.get("and"),
    )


@cache
def _words() -> Mapping[str, Mapping[str, Any]]:
    text = files(__package__).joinpath("spoken_words.yaml").read_text(encoding="utf-8")
    words: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return words


def _folded(words: str) -> frozenset[str]:
    return frozenset(map(folded, words.split()))


def _by_name(entries: Mapping[int, str]) -> dict[str, int]:
    return {name: value for value, names in entries.items() for name in _folded(names)}


def _all_by_name(entries: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for letter, names in entries:
        for name in sorted(_folded(names)):
            found[name] = (*found.get(name, ()), folded(letter))
    return found
