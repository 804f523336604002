"""PDF, by PDFium: the engine of a browser, made for files that mean harm."""

import ctypes
from collections.abc import Iterator
from contextlib import closing

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval_sidecar.extraction.document import Budget, Document, first_heading
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason
from retrieval_sidecar.extraction.pdf_layout import Glyph, Page, to_markdown

_HYPHENS = "\x02\ufffe"  # what PDFium says for a hyphen at the end of a line
_MAX_UNREADABLE_SHARE = 0.3


def read(content: bytes, limits: Limits) -> Document:
    """Text in reading order; headings by size, lists by their marks, tables by their columns.

    Raises:
        ExtractionFailed: locked, damaged, too long, or pictures of text only.
    """
    with _opened(content) as document:
        count = len(document)
        if count > limits.pdf_pages:
            raise ExtractionFailed(
                Reason.TOO_MANY_PAGES,
                f"The PDF has {count:,} pages; at most {limits.pdf_pages:,} are allowed. Split it.",
            )
        budget = Budget(limits)
        pages = [_page(document, index, budget) for index in range(count)]
        title = document.get_metadata_value("Title").strip()
    if all(page is None for page in pages):
        raise _damaged()
    read_pages = [page for page in pages if page is not None]
    _check_readable(read_pages)
    markdown = to_markdown(read_pages)
    return Document(markdown, first_heading(markdown) or title or None, count)


def _opened(content: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if pdfium_c.FPDF_GetLastError() == pdfium_c.FPDF_ERR_PASSWORD:
            raise ExtractionFailed(
                Reason.ENCRYPTED, "The PDF is locked with a password. Save a copy without one, and upload that."
            ) from error
        raise _damaged() from error


def _damaged() -> ExtractionFailed:
    return ExtractionFailed(
        Reason.DAMAGED, "The PDF is damaged: it cannot be opened. Export or download it again, and upload that."
    )


def _page(document: pdfium.PdfDocument, index: int, budget: Budget) -> Page | None:
    """One page; None where it is broken: the others may still be good."""
    try:
        page = document[index]
        with closing(page.get_textpage()) as text, closing(page):
            return Page(page.get_height(), list(_glyphs(text, budget)))
    except pdfium.PdfiumError:
        return None


def _glyphs(page: pdfium.PdfTextPage, budget: Budget) -> Iterator[Glyph]:
    box = pdfium_c.FS_RECTF()
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(page.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(page, index)
        if 0xD800 <= code <= 0xDFFF:
            continue
        pdfium_c.FPDFText_GetLooseCharBox(page, index, box)
        pdfium_c.FPDFText_GetCharOrigin(page, index, x, y)
        character = budget.spend(chr(code))
        yield Glyph(
            text="" if character in _HYPHENS else character,
            left=box.left,
            right=box.right,
            baseline=y.value,
            height=box.top - box.bottom,
            is_break=character in _HYPHENS,
        )


def _check_readable(pages: list[Page]) -> None:
    letters = [glyph.text for page in pages for glyph in page.glyphs if glyph.text and not glyph.text.isspace()]
    if not letters:
        raise ExtractionFailed(
            Reason.NO_TEXT,
            "The PDF has no text in it: its pages are empty or scanned pictures. Run text recognition (OCR) over it "
            "and save it with the recognised text, or upload the document that it was printed from.",
        )
    # Private use and "no such character": the font's glyphs are drawn, but nothing says which letters they are.
    unreadable = sum(1 for letter in letters if letter == "\ufffd" or "\ue000" <= letter[0] <= "\uf8ff" or letter < " ")
    if unreadable > _MAX_UNREADABLE_SHARE * len(letters):
        raise ExtractionFailed(
            Reason.NO_TEXT,
            "The text of the PDF cannot be read: its fonts do not say which letters they draw. Export it again with "
            "embedded Unicode fonts, run text recognition (OCR) over it, or upload the document that it was made from.",
        )
