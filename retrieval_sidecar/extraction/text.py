"""From bytes to text."""

import codecs
import re
import unicodedata

import charset_normalizer

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# The code pages that office software has saved texts in. All of a library's would be more to mistake for another.
_LEGACY = [
    *("cp1251", "koi8_r", "cp866", "iso8859_5", "kz1048"),
    *("cp1256", "iso8859_6", "cp1252", "cp1253", "cp1254", "cp1255"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]
_SAMPLE = 256 * 1024
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_MAX_CONTROL_SHARE = 0.01
_NEWLINES = re.compile("\r\n?|\f")


def decode(content: bytes) -> str | None:
    """The text in these bytes, each line ended by a line feed, control characters taken out; None where it is none."""
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return _clean(_decoded(content[len(bom) :], encoding))
    text = _decoded(content, "utf-8")
    if text is not None and "\0" not in text:
        return _clean(text)
    if b"\0" in content:
        return _wide(content)
    best = charset_normalizer.from_bytes(content[:_SAMPLE], cp_isolation=_LEGACY).best()
    return _clean(_decoded(content, best.encoding)) if best else None


def storable(text: str) -> str:
    """The text without what is no text: control characters and halves of surrogate pairs."""
    return _CONTROL.sub("", text)


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _wide(content: bytes) -> str | None:
    """UTF-16 without its mark: the byte order that yields characters which exist, spaces among them."""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _decoded(content, encoding)
        if text and any(c in text for c in " \n") and not any(unicodedata.category(c) in {"Cn", "Co"} for c in text):
            return _clean(text)
    return None


def _clean(text: str | None) -> str | None:
    if text is None:
        return None
    cleaned, controls = _CONTROL.subn("", text)
    if controls > _MAX_CONTROL_SHARE * len(text):
        return None
    return _NEWLINES.sub("\n", cleaned)
