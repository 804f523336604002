"""CSV, told from prose by its regularity."""

import csv
import io
from collections.abc import Iterator
from itertools import islice

from retrieval_sidecar.extraction.document import Budget, Document
from retrieval_sidecar.extraction.grid import Cells, tables
from retrieval_sidecar.extraction.limits import Limits

_SAMPLE_ROWS = 200
_DELIMITERS = ",;\t"


def read(text: str, limits: Limits) -> Document:
    """The rows as one table."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text) or ",")
    csv.field_size_limit(limits.text_bytes)
    return Document(tables(Cells(limits).counted(rows), Budget(limits)))


def delimiter(text: str) -> str | None:
    """What divides the columns; None where the text is no table.

    It is one if all its first rows have as many cells, two or more, and the first one names each column differently.
    Prose has spaces after its commas.
    """
    for candidate in _DELIMITERS:
        try:
            rows = [row for row in islice(_rows(text, candidate), _SAMPLE_ROWS) if row]
        except csv.Error:
            continue
        names = [name.strip() for name in rows[0]] if rows else []
        if (
            len(rows) > 1
            and len(names) > 1
            and len(set(names)) == len(names)
            and all(names)
            and all(len(row) == len(names) for row in rows)
            and not any(cell.startswith(" ") for row in rows for cell in row[1:])
        ):
            return candidate
    return None


def _rows(text: str, candidate: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=candidate, strict=True)
