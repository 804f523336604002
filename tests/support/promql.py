"""What a PromQL expression refers to: enough of its grammar to hold rules and dashboards against the code."""

import re
from dataclasses import dataclass

_STRING = r'"(?:[^"\\]|\\.)*"'
_GROUPING = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_REFERENCE = re.compile(rf"([a-zA-Z_:][\w:]*)\s*(\()?(\{{(?:[^{{}}\"]|{_STRING})*\}})?")
_MATCHER = re.compile(rf"([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*({_STRING})")
_WORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}


@dataclass(frozen=True)
class Selector:
    """A series that is asked for.

    Attributes:
        matchers: label, operator and value.
    """

    name: str
    matchers: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Expression:
    """What an expression refers to.

    Attributes:
        grouped: the labels that it groups or joins by.
    """

    selectors: tuple[Selector, ...]
    grouped: frozenset[str]


def parse(text: str) -> Expression:
    """Read an expression. Raises ValueError where brackets do not match, or nothing is asked for."""
    depth = 0
    for character in re.sub(_STRING, "", text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            break
    if depth:
        raise ValueError(f"brackets do not match: {text}")
    grouped = {label.strip() for labels in _GROUPING.findall(text) for label in labels.split(",") if label.strip()}
    plain = _RANGE.sub("", _GROUPING.sub("", text))
    selectors = tuple(
        Selector(name, tuple((label, how, value[1:-1]) for label, how, value in _MATCHER.findall(matchers)))
        for name, called, matchers in _REFERENCE.findall(plain)
        if not called and name not in _WORDS
    )
    if not selectors:
        raise ValueError(f"it asks for nothing: {text}")
    return Expression(selectors, frozenset(grouped))
