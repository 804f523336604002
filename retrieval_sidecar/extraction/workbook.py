"""XLSX: every sheet a table."""

import datetime as dt
import io

import openpyxl
import xlfmt

from retrieval_sidecar.extraction.document import Budget, Document
from retrieval_sidecar.extraction.grid import Cells, tables
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason


def read(content: bytes, limits: Limits) -> Document:
    """Visible sheets; numbers as they are shown, dates as ISO 8601, of formulas the last result.

    Raises:
        ExtractionFailed: damaged, or more cells than are allowed.
    """
    budget = Budget(limits)
    cells = Cells(limits)
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        parts = []
        for sheet in sheets:
            sheet.reset_dimensions()  # what the file claims about its size is not believed
            body = tables(
                cells.counted([_shown(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows()),
                budget,
            )
            if body:
                parts.append(f"# {sheet.title}\n\n{body}")
        title = (book.properties.title or "").strip()
    except (MemoryError, ExtractionFailed):
        raise
    # openpyxl checks little: damaged parts surface as whatever they break.
    except Exception as error:
        raise ExtractionFailed(
            Reason.DAMAGED,
            "The workbook is damaged: it cannot be read. Open it in the program that it was made with, save it again "
            "as XLSX, and upload that.",
        ) from error
    return Document("\n\n".join(parts), title or None, len(sheets))


def _shown(value: object, number_format: str | None) -> str:
    """What a reader of the sheet sees."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return str(value.date() if value.time() == dt.time() else value.replace(microsecond=0))
    if isinstance(value, dt.time):
        return value.isoformat("minutes" if not value.second else "seconds")
    if isinstance(value, int | float):
        return str(xlfmt.format_value(value, number_format or "General")).strip()
    return str(value).strip()
