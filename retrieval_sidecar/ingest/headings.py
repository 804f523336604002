"""Which headings a place in a Markdown text stands under."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt

_MAYBE_HEADING = re.compile(r"^ {0,3}(?:#{1,6}\s|=+\s*$|-+\s*$)", re.MULTILINE)
_LINE_END = re.compile("\r\n|\r|\n")
_LONGEST = 200  # characters: what is longer is a paragraph above a line of dashes


@dataclass(frozen=True, slots=True)
class _Heading:
    offset: int
    level: int
    text: str


class Headings:
    """The headings of a text."""

    def __init__(self, text: str) -> None:
        self._headings = _headings(text) if _MAYBE_HEADING.search(text) else []

    def above(self, offset: int) -> tuple[str, ...]:
        """The headings that what begins at an offset stands under, outermost first; one that begins there is not."""
        path: list[_Heading] = []
        for heading in self._headings:
            if heading.offset >= offset:
                break
            while path and path[-1].level >= heading.level:
                path.pop()
            path.append(heading)
        return tuple(heading.text for heading in path)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])  # headings are blocks: what stands within lines is left alone
    return parser


def _headings(text: str) -> list[_Heading]:
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    tokens = _parser().parse(text)
    return [
        _Heading(starts[opened.map[0]], int(opened.tag[1:]), inline.content)
        for opened, inline in pairwise(tokens)
        if opened.type == "heading_open" and opened.map and 0 < len(inline.content) <= _LONGEST
    ]
