"""RTF, made ready for pandoc: it knows one code page only, and loses text after letters that are written as numbers."""

import re
from dataclasses import dataclass, field, replace

# The numbers of \fcharset (RTF 1.9.1, "Font table"), as Python's names.
_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
_SYNTAX = re.compile(r"[\\{}]")
_TOKEN = re.compile(
    r"(?P<escapes>(?:\\'[0-9a-f]{2})+)|(?P<raw>[\x80-\xff]+)|\\(?P<word>[a-z]+)(?P<number>-?\d{1,9})?[ ]?"
    r"|(?P<brace>[{}])|\\[^a-z]|[^\\{}\x80-\xff]+|\\",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Group:
    r"""What a group takes over from the one around it.

    Attributes:
        font: the number of the current one.
        fallback: how many characters after a Unicode one stand in for it (`\ucN`).
        defines_fonts: inside the font table.
    """

    font: int | None = None
    fallback: int = 1
    defines_fonts: bool = False


@dataclass(slots=True)
class _Reading:
    """What is known so far.

    Attributes:
        encoding: of the document, where a font has none of its own.
        to_skip: characters that stand in for the Unicode one before them.
        half: of a surrogate pair that the next Unicode number completes.
    """

    encoding: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    groups: list[_Group] = field(default_factory=lambda: [_Group()])
    to_skip: int = 0
    half: str = ""

    def token(self, found: re.Match[str]) -> str:
        """What stands for this token in the transcoded text."""
        if brace := found["brace"]:
            return self._brace(brace)
        if word := found["word"]:
            return self._control(word.lower(), int(found["number"] or 0), found[0])
        if escapes := found["escapes"]:
            return self._letters(bytes.fromhex(escapes.replace("\\'", "")))
        if raw := found["raw"]:
            return self._letters(raw.encode("latin-1"))
        skipped, self.to_skip = self.to_skip, 0
        return found[0][skipped:] if found[0][0] != "\\" else found[0]

    def _brace(self, brace: str) -> str:
        self.to_skip = 0
        if brace == "{":
            self.groups.append(self.groups[-1])
        elif len(self.groups) > 1:
            self.groups.pop()
        return brace

    def _control(self, word: str, number: int, written: str) -> str:
        group = self.groups[-1]
        self.to_skip = 0
        if word == "u":
            self.to_skip = group.fallback
            return self._unicode(number)
        if word == "ansicpg":
            self.encoding = _known(f"cp{number}") or self.encoding
            return "\\ansicpg1252 "
        if word == "fonttbl":
            self.groups[-1] = replace(group, defines_fonts=True)
        elif word == "f":
            self.groups[-1] = replace(group, font=number)
        elif word == "uc":
            self.groups[-1] = replace(group, fallback=min(max(number, 0), 8))
        elif word == "fcharset" and group.defines_fonts and group.font is not None and number in _CHARSETS:
            self.fonts[group.font] = _CHARSETS[number]
        return written

    def _unicode(self, number: int) -> str:
        """A UTF-16 unit, written as a number of 16 bits with a sign."""
        pair = self.half + chr(number % 0x10000)
        self.half = pair if len(pair) == 1 and "\ud800" <= pair <= "\udbff" else ""
        return "" if self.half else _written(pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    def _letters(self, content: bytes) -> str:
        skipped, self.to_skip = self.to_skip, max(0, self.to_skip - len(content))
        group = self.groups[-1]
        encoding = self.fonts.get(group.font, self.encoding) if group.font is not None else self.encoding
        return _written(content[skipped:].decode(encoding, "replace"))


def _written(letters: str) -> str:
    return _SYNTAX.sub(r"\\\g<0>", letters)


def transcode(content: bytes) -> bytes:
    """The same document in UTF-8, each letter as itself."""
    return _TOKEN.sub(_Reading().token, content.decode("latin-1")).encode()


def _known(encoding: str) -> str | None:
    try:
        "".encode(encoding)
    except LookupError:
        return None
    return encoding
