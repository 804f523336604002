"""Rows of cells as Markdown: what a workbook and a CSV file have in common."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from retrieval_sidecar.extraction.document import Budget, table
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason

_MAX_ROWS = 1_048_576  # Excel's own


class Cells:
    """Lets rows through while the limits hold."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._filled = 0

    def counted(self, rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        for index, row in enumerate(rows):
            filled = [place for place, cell in enumerate(row, start=1) if cell]
            self._filled += len(filled)
            if filled and filled[-1] > self._limits.sheet_columns:
                raise _too_large(f"{filled[-1]:,} columns", f"{self._limits.sheet_columns:,}")
            if self._filled > self._limits.sheet_cells:
                raise _too_large("more cells", f"{self._limits.sheet_cells:,}")
            if index >= _MAX_ROWS:
                raise _too_large("more rows", f"{_MAX_ROWS:,}")
            yield row[: filled[-1]] if filled else ()


def _too_large(found: str, allowed: str) -> ExtractionFailed:
    return ExtractionFailed(
        Reason.TOO_LARGE, f"The table has {found}; at most {allowed} are allowed. Split it, or leave out what is empty."
    )


def tables(rows: Iterable[Sequence[str]], budget: Budget) -> str:
    """Tables, divided by empty rows; what stands in one column only is text."""
    parts = []
    for is_filled, group in groupby(rows, key=bool):
        block = list(group) if is_filled else []
        if all(sum(map(bool, row)) == 1 for row in block):
            part = "\n".join(cell for row in block for cell in row if cell)
        else:
            part = table(block)
        if part:
            parts.append(budget.spend(part))
    return "\n\n".join(parts)
