"""What a body is, told from the body; what its server says of it only decides where both can be right."""

import codecs
import re
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum

import webencodings
from charset_normalizer import from_bytes

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
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*"
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|style|link|h[1-6]|div|p|table|article|section|main|br|a)\b",
    re.IGNORECASE | re.DOTALL,
)
_META_CHARSET = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META_WITHIN = 1024  # bytes, as browsers do
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_GUESSED_FROM = 64 * 1024  # bytes at either end


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
    start = body.decode(charset or "latin-1")[:_SNIFFED]
    if _BINARY.search(start) or claimed == MediaType.PDF:
        raise PageFailure(Reason.TYPE_REFUSED)
    if charset is None:
        raise PageFailure(Reason.TEXT_UNREADABLE)
    if claimed in _HTML or _HTML_START.match(start):
        return Content(MediaType.HTML, charset)
    if claimed not in _OPEN | _MARKDOWN:
        raise PageFailure(Reason.TYPE_REFUSED)
    named_markdown = path.lower().endswith((".md", ".markdown"))
    return Content(MediaType.MARKDOWN if claimed in _MARKDOWN or named_markdown else MediaType.TEXT, charset)


def charset_of(body: bytes, claimed: str | None = None) -> str | None:
    """The codec that decodes all of a text; None where there is none.

    A byte order mark, then UTF-8 where the bytes are that (no other text is so by chance, whatever a header says), then
    the header's claim, then the page's own, then a guess. A claim only counts by the names that browsers know: a codec
    of Python's own, such as `unicode_escape`, is none of them.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec if _decodes(body, codec) else None
    if not body.isascii() and _decodes(body, "utf-8"):
        return "utf-8"
    meta = _META_CHARSET.search(body[:_META_WITHIN])
    for label in (claimed, meta[1].decode("ascii", "replace") if meta else None):
        encoding = webencodings.lookup(label) if label else None
        if encoding is not None and _decodes(body, codec := encoding.codec_info.name):
            return codec
    if body.isascii():
        return "utf-8"
    guess = from_bytes(body[:_GUESSED_FROM] + body[-_GUESSED_FROM:]).best()
    return guess.encoding if guess is not None and _decodes(body, guess.encoding) else None


def _decodes(body: bytes, codec: str) -> bool:
    try:
        body.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _claims(content_type: str) -> tuple[str, str | None]:
    """Type and charset of a header's value; `("", None)` of an empty one."""
    if not content_type.strip():
        return "", None
    header = Message()
    header["Content-Type"] = content_type
    return header.get_content_type(), header.get_content_charset()
