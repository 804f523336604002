"""What every reader hands back, and the Markdown that several of them write."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason

_HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.MULTILINE)
_LINE = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file as its reader found it; `title` is None where the file does not name one."""

    markdown: str
    title: str | None = None
    pages: int | None = None


def first_heading(markdown: str) -> str | None:
    found = _HEADING.search(markdown)
    return found[1].strip() if found else None


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table, the first one its head; shorter rows are filled up, empty ones and columns left out."""
    width = max((len(row) for row in rows), default=0)
    filled = [[*row, *[""] * (width - len(row))] for row in rows if any(cell.strip() for cell in row)]
    columns = [column for column in range(width) if any(row[column].strip() for row in filled)]
    if not columns:
        return ""
    lines = [_row(row[column] for column in columns) for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_LINE.sub(" ", cell.strip()).replace("|", "\\|") for cell in cells) + " |"


class Budget:
    """Counts what a reader has written, so that an endless document ends where nothing of it would be used."""

    def __init__(self, limits: Limits) -> None:
        self._limit = self._left = limits.markdown_characters

    def spend(self, text: str) -> str:
        """The same text.

        Raises:
            ExtractionFailed: all that was written is more than `markdown_characters`.
        """
        self._left -= len(text)
        if self._left < 0:
            raise ExtractionFailed(
                Reason.TOO_LARGE,
                f"The text of the file is longer than the {self._limit:,} characters that are allowed. Split it.",
            )
        return text
