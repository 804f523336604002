"""Codes: the names that must be met exactly, however they are written or said.

A code is a run of letters and digits with at least one digit, joined by hyphens, dots, slashes, underscores or nothing:
PIN-44-X, LF-27-B, A12, 4,000; a number whose thousands stand apart is one too: 4 000. Its normal form drops the joints:
`pin44x`.
"""

import re
from collections.abc import Iterator

from retrieval_sidecar.text.normalize import for_keywords

_MAX_PARTS = 6
_MAX_LENGTH = 32
_MIN_LENGTH = 2
_WRITTEN = re.compile(r"[^\W_]+(?:[-‐‑–−./_,][^\W_]+)*")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[ '’]\d{3})+(?!\w)")
_SPOKEN_PART = re.compile(r"[^\W_]+")


def _is_code(text: str) -> bool:
    return _MIN_LENGTH <= len(text) <= _MAX_LENGTH and any(char.isdigit() for char in text)


def _joined(text: str) -> str:
    return "".join(_SPOKEN_PART.findall(text))


def in_document(text: str) -> frozenset[str]:
    """The normal forms of the codes that a passage holds."""
    text = for_keywords(text)
    found = map(_joined, _WRITTEN.findall(text) + _THOUSANDS.findall(text))
    return frozenset(filter(_is_code, found))


def in_question(text: str) -> frozenset[str]:
    """The codes that a question may mean: every run of its words that reads as one code.

    "pin 44 x" may mean pin44x, 44x, pin44 or 44: whether one exists is for the index to say.
    """
    parts = _SPOKEN_PART.findall(for_keywords(text))
    return frozenset(filter(_is_code, _runs(parts)))


def _runs(parts: list[str]) -> Iterator[str]:
    for start in range(len(parts)):
        run = ""
        for part in parts[start : start + _MAX_PARTS]:
            run += part
            yield run
