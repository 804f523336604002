"""What a body is, told from the body; what its server says of it only decides where both can be right."""

import re
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum

from retrieval_sidecar.extraction.charsets import charset_of
from retrieval_sidecar.extraction.kind import is_html
from retrieval_sidecar.fetching.failures import PageFailure, Reason


class MediaType(StrEnum):
    """What a web address may yield."""

    HTML = "text/html"
    PDF = "application/pdf"
    MARKDOWN = "text/markdown"
    TEXT = "text/plain"

    @property
    def suffix(self) -> str:
        """Of a file of this type, with its dot."""
        return {"text/html": ".html", "application/pdf": ".pdf", "text/markdown": ".md", "text/plain": ".txt"}[self]


@dataclass(frozen=True, slots=True)
class Content:
    """What a body is.

    Attributes:
        media_type: of the body.
        charset: the Python codec that decodes all of it; None for a PDF.
    """

    media_type: MediaType
    charset: str | None


_HTML = {"text/html", "application/xhtml+xml"}
_MARKDOWN = {"text/markdown", "text/x-markdown"}
# A claim that says nothing, or may be right beside the ones above; any other one has to be contradicted by the body.
_OPEN = {"", "text/plain", "application/pdf", "application/octet-stream", "binary/octet-stream"}

_SNIFFED = 1445  # bytes or characters that the WHATWG's MIME sniffing looks at
# The same standard's binary data bytes.
_BINARY = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def identify(body: bytes, content_type: str = "", path: str = "") -> Content:
    """Tell what was received.

    Args:
        body: unpacked.
        content_type: the header's value; may be missing and may be wrong.
        path: of the address; tells Markdown from plain text, which nothing in the body can.

    Raises:
        PageFailure: empty, type_refused, text_unreadable.
    """
    if not body.strip():
        raise PageFailure(Reason.EMPTY)
    if b"%PDF-" in body[:1024]:
        return Content(MediaType.PDF, None)
    claimed, claimed_charset = _claims(content_type)
    charset = charset_of(body, claimed_charset)
    text = body.decode(charset or "latin-1")
    if _BINARY.search(text[:_SNIFFED]) or claimed == MediaType.PDF:
        raise PageFailure(Reason.TYPE_REFUSED)
    if charset is None:
        raise PageFailure(Reason.TEXT_UNREADABLE)
    if claimed in _HTML or is_html(text):
        return Content(MediaType.HTML, charset)
    if claimed not in _OPEN | _MARKDOWN:
        raise PageFailure(Reason.TYPE_REFUSED)
    named_markdown = path.lower().endswith((".md", ".markdown"))
    return Content(MediaType.MARKDOWN if claimed in _MARKDOWN or named_markdown else MediaType.TEXT, charset)


def _claims(content_type: str) -> tuple[str, str | None]:
    """Type and charset of a header's value; `("", None)` of an empty one."""
    if not content_type.strip():
        return "", None
    header = Message()
    header["Content-Type"] = content_type
    return header.get_content_type(), header.get_content_charset()
