"""Which codec decodes a text: the one place that decides, for files and for web pages."""

# ruff: noqa: PLC0415 - its libraries are of the extra `ingest`, and whoever runs without it may import this

import codecs
import re
import unicodedata

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META_CHARSET = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META_WITHIN = 1024  # bytes, as browsers do
# The code pages that office software and web servers have saved texts in. All of a library's would be more to mistake
# for another.
_LEGACY = [
    *("cp1251", "koi8_r", "cp866", "iso8859_5", "kz1048"),
    *("cp1256", "iso8859_6", "cp1252", "cp1253", "cp1254", "cp1255"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
]
_GUESSED_FROM = 128 * 1024  # bytes at either end


def charset_of(content: bytes, claimed: str | None = None) -> str | None:
    """The codec of Python that decodes all of a text, its mark included; None where there is none.

    A byte order mark, then UTF-8 where the bytes are that (no other text is so by chance, whatever a header says), then
    the claim, then the page's own, then a guess. A claim only counts by the names that browsers know: a codec of
    Python's own, such as `unicode_escape`, is none of them.

    Args:
        claimed: what a server's header says.
    """
    import webencodings

    for mark, codec in _BOMS:
        if content.startswith(mark):
            return codec if _decodes(content, codec) else None
    has_nul, is_ascii = b"\0" in content, content.isascii()
    if not has_nul and not is_ascii and _decodes(content, "utf-8"):
        return "utf-8"
    meta = _META_CHARSET.search(content[:_META_WITHIN])
    for label, is_own in ((claimed, False), (meta[1].decode("ascii", "replace") if meta else None, True)):
        encoding = webencodings.lookup(label) if label else None
        if encoding is None:
            continue
        of_label: str = encoding.codec_info.name
        # A page whose own words could be read before its charset was known is not in UTF-16, as browsers know too.
        if not (is_own and of_label.startswith("utf-16")) and _decodes(content, of_label):
            return of_label
    if has_nul:
        return _wide(content)
    if is_ascii:
        return "utf-8"
    import charset_normalizer

    sample = content if len(content) <= 2 * _GUESSED_FROM else content[:_GUESSED_FROM] + content[-_GUESSED_FROM:]
    guess = charset_normalizer.from_bytes(sample, cp_isolation=_LEGACY).best()
    return guess.encoding if guess is not None and _decodes(content, guess.encoding) else None


def has_mark(content: bytes) -> bool:
    """Whether it begins with a byte order mark, as only text does."""
    return content.startswith(tuple(mark for mark, _ in _BOMS))


def _decodes(content: bytes, codec: str) -> bool:
    try:
        content.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _wide(content: bytes) -> str | None:
    """UTF-16 without its mark: the byte order that yields characters which exist, spaces among them."""
    for codec in ("utf-16-le", "utf-16-be"):
        if not _decodes(content, codec):
            continue
        text = content.decode(codec)
        if any(c in text for c in " \n") and not any(unicodedata.category(c) in {"Cn", "Co"} for c in text):
            return codec
    return None
