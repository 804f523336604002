"""Codes: the names that must be met exactly, however they are written or said.

A code is a run of letters and digits with at least one digit, joined by hyphens, dots, slashes, underscores or nothing:
PIN-44-X, LF-27-B, A12, 4,000; a number whose thousands stand apart is one too: 4 000. Its normal form drops the joints:
`pin44x`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise, product

from retrieval_sidecar.text.normalize import for_keywords
from retrieval_sidecar.text.spoken import PARTS, Part, said_parts

MAX_CODES = 128  # of one text
_MAX_PARTS = 6
_MAX_SHORT_PARTS = 12  # of one or two signs: a code spelled out
_SHORT = 2
_MAX_RUNS = 300  # looked at in one text
_MAX_READINGS = 8  # of one run of parts
_MAX_LENGTH = 32
_MIN_LENGTH = 2
_WRITTEN = re.compile(r"[^\W_]+(?:[-‐‑–−./_,][^\W_]+)*")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[ '’]\d{3})+(?!\w)")


def _is_code(text: str) -> bool:
    return _MIN_LENGTH <= len(text) <= _MAX_LENGTH and any(char.isdigit() for char in text)


def in_document(text: str) -> frozenset[str]:
    """The normal forms of the codes that a passage holds."""
    text = for_keywords(text)
    found = ("".join(PARTS.findall(written)) for written in _WRITTEN.findall(text) + _THOUSANDS.findall(text))
    return frozenset(filter(_is_code, found))


def in_question(text: str, *languages: str) -> frozenset[str]:
    """The codes that a question may mean: every run of its parts that reads as one, at most MAX_CODES.

    "pin 44 x" may mean pin44x, 44x, pin44 or 44: whether one exists is for the index to say. As it is written first,
    then as it is said in each of the languages; of a text that yields too many, the codes of the fewest parts.
    """
    written: list[Part] = [(part,) for part in PARTS.findall(for_keywords(text))]
    found: dict[str, None] = {}
    for parts in (written, *(said_parts(text, language) for language in languages)):
        for code in _runs(parts):
            if len(found) == MAX_CODES:
                break
            if _is_code(code):
                found[code] = None
    return frozenset(found)


def _runs(parts: Sequence[Part]) -> Iterator[str]:
    """Each run of parts as one text, those of the fewest parts first."""
    if not any(map(_has_digit, parts)):
        return
    # Digits said one by one are one number: 44 is no part of 4 4 7 1.
    is_digit = [len(part[0]) == 1 and part[0].isdigit() for part in parts]
    is_cut = [False, *(one and other for one, other in pairwise(is_digit)), False]
    for start, end in islice(_spans(parts), _MAX_RUNS):
        is_within = is_cut[start] or is_cut[end]
        for run in islice(product(*parts[start:end]), _MAX_READINGS):
            code = "".join(run)
            if not (is_within and code.isdigit()):
                yield code


def _spans(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    """Where runs with a digit in them begin and end."""
    with_digit = list(accumulate(map(_has_digit, parts), initial=0))
    long = list(accumulate((len(part[0]) > _SHORT for part in parts), initial=0))
    for count in range(1, _MAX_SHORT_PARTS + 1):
        for start in range(len(parts) - count + 1):
            end = start + count
            if with_digit[start] < with_digit[end] and (count <= _MAX_PARTS or long[start] == long[end]):
                yield start, end


def _has_digit(part: Part) -> bool:
    return any(char.isdigit() for each in part for char in each)
