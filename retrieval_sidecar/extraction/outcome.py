"""What becomes of a file: its text, or a reason why not."""

from dataclasses import dataclass
from enum import StrEnum

from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.extraction.limits import Limits


class Reason(StrEnum):
    """Why a file cannot be used. The codes are stable: consoles and scripts go by them."""

    UNSUPPORTED_TYPE = "unsupported_type"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    TOO_MANY_PAGES = "too_many_pages"
    ENCRYPTED = "encrypted"
    NO_TEXT = "no_text"
    DAMAGED = "damaged"
    TOO_SLOW = "too_slow"
    TOO_MUCH_MEMORY = "too_much_memory"


class ExtractionFailed(SidecarError):
    """The file as it is cannot be used, now or later; `str()` says to its owner why, and what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a file.

    Attributes:
        title: what the document calls itself, or its first heading; None where it has neither.
        markdown: headings, lists and tables as Markdown, all else as written: nothing is escaped but `|` in a cell.
        media_type: what the content is, such as `application/pdf`.
        pages: of a PDF; slides of a presentation, sheets of a workbook. None where there is no such thing.
    """

    title: str | None
    markdown: str
    media_type: str
    pages: int | None


def too_slow(limits: Limits) -> ExtractionFailed:
    return ExtractionFailed(
        Reason.TOO_SLOW,
        f"The file was not read within {limits.seconds:g} seconds. Split it, or save it in a simpler format: as text, "
        "or as a PDF.",
    )


def too_much_memory() -> ExtractionFailed:
    return ExtractionFailed(
        Reason.TOO_MUCH_MEMORY,
        "Reading the file takes more memory than is allowed. Split it, or save it in a simpler format: as text, or as "
        "a PDF.",
    )
