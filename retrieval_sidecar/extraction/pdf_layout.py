"""From the places of letters on pages to Markdown.

A PDF knows no headings, lists or tables, only letters and where they stand. What people see is followed here: large
lines head what follows, marks begin items, lines whose parts stand below each other are a table.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from statistics import median

from bidi import get_display

from retrieval_sidecar.extraction.document import table

_HEADING_RATIO = 1.15
_HEADING_CHARACTERS = 150
_HEADING_LEVELS = 4
_CELL_GAP = 1.0  # of the letters' height, without a letter: the next column
_PARAGRAPH_PITCH = 1.7  # of the letters' height, from line to line: a new paragraph
_FULL_LINE = 0.85  # of the widest line beside it: the sentence goes on in the next one
_BULLET = re.compile(r"^[\u2022\u2023\u25aa\u25ab\u25cf\u25cb\u25e6\u2043\u00b7\uf0b7\uf0a7]\s*")
_ITEM = re.compile(r"^(?:[-–*+]|\(?\w{1,3}[.)])(?:\s|$)")
_DIGITS = re.compile(r"\d+")
_MARGIN = 0.1  # of a page's height, at its top and foot: where running titles stand
_REPEATED = 3  # pages that have the same line there


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character and where it stands, in points from the page's lower left corner.

    Attributes:
        is_break: the hyphen of a word that goes on in the next line.
    """

    text: str
    left: float
    right: float
    baseline: float
    height: float
    is_break: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    height: float
    glyphs: Sequence[Glyph]


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, in cells: one, unless wide gaps divide it."""

    cells: tuple[Cell, ...]
    baseline: float
    height: float
    page: int
    in_margin: bool
    is_broken: bool

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def width(self) -> float:
        return self.cells[-1].right - self.cells[0].left

    @property
    def starts_item(self) -> bool:
        return bool(_BULLET.match(self.text) or _ITEM.match(self.text))


def to_markdown(pages: Sequence[Page]) -> str:
    """The text of all pages; what repeats at the head or foot of pages is left out."""
    lines = [line for index, page in enumerate(pages) for line in _lines(page, index)]
    lines = _without_running_titles(lines)
    body = _body_height(lines)
    sizes = sorted({round(line.height) for line in lines if _is_large(line, body)}, reverse=True)
    levels = {size: min(level, _HEADING_LEVELS) for level, size in enumerate(sizes, start=1)}
    text, was_item = "", False
    for block in _blocks(lines, body):
        is_item = block[0].starts_item
        text += ("\n" if is_item and was_item else "\n\n") + _block(block, body, levels)
        was_item = is_item
    return text.strip()


def _lines(page: Page, index: int) -> Iterable[Line]:
    for is_end, glyphs in groupby(page.glyphs, key=lambda glyph: glyph.text in {"\r", "\n"}):
        if is_end:
            continue
        written = list(glyphs)
        drawn = [glyph for glyph in written if not glyph.text.isspace() and glyph.text]
        if not drawn:
            continue
        height = median(glyph.height for glyph in drawn)
        baseline = median(glyph.baseline for glyph in drawn)
        yield Line(
            cells=_cells(written, height),
            baseline=baseline,
            height=height,
            page=index,
            in_margin=not page.height * _MARGIN < baseline < page.height * (1 - _MARGIN),
            is_broken=any(glyph.is_break for glyph in written[-2:]),
        )


def _cells(glyphs: Sequence[Glyph], height: float) -> tuple[Cell, ...]:
    is_rtl = _is_rtl("".join(glyph.text for glyph in glyphs))
    tokens = _tokens(glyphs)
    if is_rtl:
        tokens = sorted(tokens, key=lambda token: token.left)
    parts: list[list[Glyph]] = [[]]
    right = None
    for token in tokens:
        if not token.text.strip():
            parts[-1].append(token)
            continue
        if right is not None and token.left - right > _CELL_GAP * height:
            parts.append([])
        right = max(right, token.right) if is_rtl and right is not None else token.right
        parts[-1].append(token)
    return tuple(_cell(part, is_rtl=is_rtl) for part in parts)


def _tokens(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Letters as drawn: those that one sign shows (a ligature) together, in their order of reading.

    PDFium turns the letters of a right-to-left run around, those of a ligature with them.
    """
    tokens: list[Glyph] = []
    for (left, right, _), group in groupby(glyphs, key=lambda glyph: (glyph.left, glyph.right, glyph.baseline)):
        letters = [glyph for glyph in group if glyph.text]
        if not letters:
            continue
        text = "".join(letter.text for letter in letters)
        if len(text) > 1 and _is_rtl(text):
            text = text[::-1]
        tokens.append(Glyph(text, left, right, letters[0].baseline, letters[0].height))
    return tokens


def _cell(tokens: Sequence[Glyph], *, is_rtl: bool) -> Cell:
    drawn = [token for token in tokens if token.text.strip()]
    text = _logical(tokens) if is_rtl else "".join(token.text for token in tokens)
    return Cell(
        " ".join(text.split(" ")).strip(),
        min(token.left for token in drawn),
        max(token.right for token in drawn),
    )


# Arabic letters that texts do not use: each stands for letters that must stay together while a line is turned around.
_STAND_INS = range(0xFBD3, 0xFD3E)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("«", "»"))


def _logical(tokens: Sequence[Glyph]) -> str:
    """The order of reading of what stands in a line from left to right.

    The algorithm that lays logical text out is its own inverse, for lines such as these: numbers and Latin words keep
    their direction, everything around them is turned.
    """
    stood_for: dict[str, str] = {}
    stand_ins = iter(_STAND_INS)
    visual = ""
    for token in _with_marks(tokens):
        if len(token.text) == 1:
            visual += token.text
        else:
            stand_in = chr(next(stand_ins, ord("?")))
            stood_for[stand_in] = token.text
            visual += stand_in
    logical = _paired(get_display(_paired(visual), base_dir="R"))
    return "".join(stood_for.get(character, character) for character in logical)


def _with_marks(tokens: Sequence[Glyph]) -> list[Glyph]:
    """Vowel signs joined to the letter that they stand over, or else to the one on their right."""
    bases = [token for token in tokens if not unicodedata.combining(token.text[0])]
    letters = [index for index, token in enumerate(bases) if not token.text.isspace()]
    for mark in tokens:
        if unicodedata.combining(mark.text[0]) and letters:
            nearest = min(letters, key=lambda index: (round(_distance(bases[index], mark), 1), -index))
            bases[nearest] = replace(bases[nearest], text=bases[nearest].text + mark.text)
    return bases


def _distance(one: Glyph, other: Glyph) -> float:
    """Between the middles of two letters."""
    return abs(one.left + one.right - other.left - other.right) / 2


def _paired(line: str) -> str:
    """Brackets that open first and close then.

    Which of the two a PDF names where text runs to the left depends on the program that made it.
    """
    for opening, closing in _PAIRS:
        found = [character for character in line if character in {opening, closing}]
        if len(found) % 2 == 0 and not _is_balanced(found, opening):
            in_turn = iter((opening + closing) * (len(found) // 2))
            line = "".join(next(in_turn) if character in {opening, closing} else character for character in line)
    return line


def _is_balanced(brackets: Sequence[str], opening: str) -> bool:
    depths = list(accumulate(1 if bracket == opening else -1 for bracket in brackets))
    return not depths or (min(depths) >= 0 and depths[-1] == 0)


def _is_rtl(text: str) -> bool:
    directions = Counter(unicodedata.bidirectional(character) for character in text)
    return directions["R"] + directions["AL"] > directions["L"]


def _without_running_titles(lines: Sequence[Line]) -> list[Line]:
    """Page numbers differ by digits only, and count as the same line."""
    places = {(_DIGITS.sub("0", line.text), round(line.baseline), line.page) for line in lines if line.in_margin}
    repeated = Counter((text, baseline) for text, baseline, _ in places)
    pages = len({line.page for line in lines})
    return [
        line
        for line in lines
        if not line.in_margin
        or (seen := repeated[_DIGITS.sub("0", line.text), round(line.baseline)]) < _REPEATED
        or seen * 2 <= pages
    ]


def _body_height(lines: Sequence[Line]) -> float:
    """The height that most letters have."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[round(line.height * 2) / 2] += len(line.text)
    return max(letters, key=lambda height: (letters[height], -height), default=0.0)


def _is_large(line: Line, body: float) -> bool:
    return (
        line.height > body * _HEADING_RATIO
        and len(line.text) <= _HEADING_CHARACTERS
        and any(character.isalpha() for character in line.text)
    )


def _blocks(lines: Sequence[Line], body: float) -> Iterable[list[Line]]:
    """Lines that belong together: of a heading, a table, a paragraph or an item of a list."""
    block: list[Line] = []
    for line in lines:
        if block and not _continues(block, line, body):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _continues(block: Sequence[Line], line: Line, body: float) -> bool:
    last = block[-1]
    if line.page != last.page or line.baseline > last.baseline:
        return False
    if _is_row(last, line):
        return len(block) == 1 or _is_row(block[-2], last)
    if len(block) > 1 and _is_row(block[-2], last):
        return False
    near = last.baseline - line.baseline < _PARAGRAPH_PITCH * max(last.height, line.height)
    if _is_large(last, body) or _is_large(line, body):
        return near and _is_large(last, body) and round(last.height) == round(line.height)
    return near and not line.starts_item


def _is_row(above: Line, below: Line) -> bool:
    """Whether two lines are rows of one table: as many cells, each below the other's."""
    if not 1 < len(above.cells) == len(below.cells) or above.starts_item or below.starts_item:
        return False
    return all(a.left < b.right and b.left < a.right for a, b in zip(above.cells, below.cells, strict=True))


def _block(lines: Sequence[Line], body: float, levels: dict[int, int]) -> str:
    if len(lines) > 1 and _is_row(lines[0], lines[1]):
        rows = [[cell.text for cell in line.cells] for line in lines]
        is_rtl = _is_rtl("".join(line.text for line in lines))
        return table([row[::-1] for row in rows] if is_rtl else rows)
    if _is_large(lines[0], body):
        return "#" * levels[round(lines[0].height)] + " " + " ".join(_text(line) for line in lines)
    return _BULLET.sub("- ", _joined(lines))


def _text(line: Line) -> str:
    return " ".join(cell.text for cell in (reversed(line.cells) if _is_rtl(line.text) else line.cells))


def _joined(lines: Sequence[Line]) -> str:
    """A paragraph: its full lines flow on, short ones (an address, hours) stay lines."""
    widest = max(line.width for line in lines)
    text = _text(lines[0])
    for last, line in pairwise(lines):
        if last.is_broken:
            separator = "" if text[-1:].isalpha() and _text(line)[:1].islower() else "-"
        else:
            separator = " " if last.width >= widest * _FULL_LINE else "\n"
        text += separator + _text(line)
    return text
