"""Which reader takes what, and what holds for all of them.

A reader's library is loaded when a file is its own: most of the time that a small file takes is spent on this.
"""

# ruff: noqa: PLC0415 - see above

from retrieval_sidecar.extraction import csv_file, kind
from retrieval_sidecar.extraction.document import Budget, Document, first_heading
from retrieval_sidecar.extraction.kind import Kind
from retrieval_sidecar.extraction.limits import Limits, megabytes
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, Reason
from retrieval_sidecar.extraction.text import storable


def read(content: bytes, limits: Limits, *, charset: str | None = None, page: bool = False) -> Extracted:
    """The text of a file, whatever it is.

    Args:
        charset: what a server's header says of it.
        page: it is HTML, and only what the page is about is wanted.

    Raises:
        ExtractionFailed: it cannot be read or is over a limit.
    """
    found = None if page else kind.binary_kind(content, limits)
    if found is None:
        _check_size(content, "text", limits.text_bytes)
        text = kind.read_text(content, charset)
        found = Kind.HTML if page else kind.text_kind(text)
        document = _read_page(text, limits) if page else _read_text(found, text, limits)
    elif found is Kind.PDF:
        _check_size(content, "PDF", limits.pdf_bytes)
        from retrieval_sidecar.extraction import pdf

        document = pdf.read(content, limits)
    else:
        _check_size(content, "office file", limits.office_bytes)
        document = _read_office(found, content, limits)
    markdown = storable(document.markdown)
    if not markdown.strip():
        raise ExtractionFailed(
            Reason.NO_TEXT,
            "There is no text in the file: it is empty, or what it shows are pictures. Write the text out, or run text "
            "recognition (OCR) over it.",
        )
    title = storable(document.title or "").strip()
    return Extracted(title or None, markdown, found.value, document.pages)


def _read_page(text: str, limits: Limits) -> Document:
    from retrieval_sidecar.extraction import page

    return page.read(text, limits)


def _read_text(found: Kind, text: str, limits: Limits) -> Document:
    if found is Kind.HTML:
        from retrieval_sidecar.extraction import html

        return html.read(text, limits)
    if found is Kind.CSV:
        return csv_file.read(text, limits)
    return Document(Budget(limits).spend(text), first_heading(text) if found is Kind.MARKDOWN else None)


def _read_office(found: Kind, content: bytes, limits: Limits) -> Document:
    if found is Kind.XLSX:
        from retrieval_sidecar.extraction import workbook

        return workbook.read(content, limits)
    if found is Kind.PPTX:
        from retrieval_sidecar.extraction import slides

        return slides.read(content, limits)
    from retrieval_sidecar.extraction import pandoc, rtf

    if found is Kind.RTF:
        return pandoc.read(rtf.transcode(content), "rtf", limits)
    return pandoc.read(content, "docx" if found is Kind.DOCX else "odt", limits)


def _check_size(content: bytes, what: str, limit: int) -> None:
    if len(content) > limit:
        article = "an" if what[0] in "aeiou" else "a"
        raise ExtractionFailed(
            Reason.TOO_LARGE,
            f"The file has {megabytes(len(content))}; at most {megabytes(limit)} are allowed for {article} {what}. "
            "Split it.",
        )
