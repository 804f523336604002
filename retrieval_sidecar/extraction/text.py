"""From bytes to text."""

import re

from retrieval_sidecar.extraction.charsets import charset_of

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_MAX_CONTROL_SHARE = 0.01
_NEWLINES = re.compile("\r\n?|\f")


def decode(content: bytes, claimed: str | None = None) -> str | None:
    """The text in these bytes, each line ended by a line feed, control characters taken out; None where it is none.

    Args:
        claimed: the charset that a server's header names.
    """
    codec = charset_of(content, claimed)
    if codec is None:
        return None
    text = content.decode(codec)
    cleaned, controls = _CONTROL.subn("", text)
    if controls > _MAX_CONTROL_SHARE * len(text):
        return None
    return _NEWLINES.sub("\n", cleaned)


def storable(text: str) -> str:
    """The text without what is no text: control characters and halves of surrogate pairs."""
    return _CONTROL.sub("", text)
