"""What a file is, by its content."""

import re
from enum import StrEnum

from retrieval_sidecar.extraction import container, csv_file
from retrieval_sidecar.extraction.charsets import has_mark
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason
from retrieval_sidecar.extraction.text import decode


class Kind(StrEnum):
    """The types that are read, by their media type."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    ODT = "application/vnd.oasis.opendocument.text"
    RTF = "application/rtf"
    HTML = "text/html"
    CSV = "text/csv"
    MARKDOWN = "text/markdown"
    PLAIN = "text/plain"


ALLOWED = "PDF, plain text, Markdown, HTML, DOCX, ODT, RTF, PPTX, XLSX and CSV"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# Readers of PDF allow for something before the header; ours then wants the rest of one too.
_PDF_HEADER = re.compile(rb"^%PDF-\d", re.MULTILINE)
_HEAD = 4096
# The tags by which browsers know HTML (WHATWG MIME Sniffing, 7.1): those of a document say so alone, the others, which
# Markdown uses as well, only where the text also ends with a tag.
_SKIPPED = re.compile(r"(?:\s|<!--.*?-->|<\?xml.*?\?>)*", re.DOTALL)
_DOCUMENT_TAG = re.compile(r"<(?:!doctype html|html|head|body|title|style|script)[\s>]", re.IGNORECASE)
_CONTENT_TAG = re.compile(r"<(?:h1|div|font|table|a|b|br|p|iframe)[\s>]", re.IGNORECASE)
_MARKDOWN = re.compile(
    r"^(?:\#{1,6}[ ]\S|```|~~~|\|?[ ]*:?-{3,}:?[ ]*\||[-*+][ ]\S|[^\n]*\[[^\]\n]+\]\([^)\s]+\))",
    re.MULTILINE | re.VERBOSE,
)


def binary_kind(content: bytes, limits: Limits) -> Kind | None:
    """The type of a file that is not text; None where it may be.

    Raises:
        ExtractionFailed: it is locked, over a limit, or an office file that is not read.
    """
    if content.startswith(b"%PDF-"):
        return Kind.PDF
    if content.startswith(b"{\\rtf"):
        return Kind.RTF
    if content.startswith(_ZIP):
        found = container.media_type(content, limits)
        if found not in tuple(Kind):
            raise unsupported(found)
        return Kind(found)
    if content.startswith(_OLE):
        raise _compound(content)
    if _PDF_HEADER.search(content[:1024]) and b"startxref" in content[-2048:]:
        return Kind.PDF
    return None


def text_kind(text: str) -> Kind:
    """The type of a text; what is none of the others is plain text."""
    if is_html(text):
        return Kind.HTML
    if csv_file.delimiter(text):
        return Kind.CSV
    return Kind.MARKDOWN if _MARKDOWN.search(text) else Kind.PLAIN


def unsupported(found: str) -> ExtractionFailed:
    return ExtractionFailed(
        Reason.UNSUPPORTED_TYPE, f"The file is {found}, which is not read. Save it as one of these: {ALLOWED}."
    )


def is_html(text: str) -> bool:
    """Whether a text is HTML by its beginning."""
    start = _SKIPPED.match(text)
    begin = start.end() if start else 0
    return bool(_DOCUMENT_TAG.match(text, begin) or (_CONTENT_TAG.match(text, begin) and text.rstrip().endswith(">")))


def read_text(content: bytes, charset: str | None = None) -> str:
    """The text of a file that is no other type.

    Args:
        charset: what a server's header says of it.

    Raises:
        ExtractionFailed: it is not text; names what it is as far as that can be told.
    """
    text = decode(content, charset)
    if text is not None:
        return text
    import puremagic  # noqa: PLC0415 - slow to load, and seldom asked

    not_text = ExtractionFailed(
        Reason.NOT_TEXT,
        "The file is neither text nor a type that is known here. "
        f"Save the document as one of these: {ALLOWED}; text is best saved as UTF-8.",
    )
    if has_mark(content):
        raise not_text  # a text that is broken, whatever else it begins as
    try:
        match = puremagic.magic_string(content[:_HEAD])[0]
    except (puremagic.PureError, ValueError, IndexError):
        raise not_text from None
    raise unsupported(f"{match.name} ({match.mime_type})" if match.mime_type else match.name)


def _compound(content: bytes) -> ExtractionFailed:
    """Microsoft's older container: locked new files and all old ones. Names in it are UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        return ExtractionFailed(
            Reason.ENCRYPTED, "The file is locked with a password. Save a copy without one, and upload that."
        )
    return unsupported("an Office file of the format before 2007 (DOC, XLS, PPT)")
