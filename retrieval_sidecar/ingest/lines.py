"""The lines of a file that comes in pieces, in memory for one line of bounded length."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

# The longest content that an item may have, 500,000 characters of any script, written in JSON's escapes, and room for
# its other fields.
LONGEST_LINE = 4_000_000  # bytes
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        number: from 1.
        end: the offset in the file at which the next one begins.
        content: without what ends it; None where it is too long.
    """

    number: int
    end: int
    content: bytes | None


async def read_lines(
    content: AsyncIterator[bytes], *, start: int = 0, longest: int = LONGEST_LINE
) -> AsyncIterator[Line]:
    """The lines of a file, ended by LF, CRLF or CR; the last one need not be ended. A byte order mark is passed over.

    Args:
        content: the whole file, in pieces of any size.
        start: the `end` of the last line that was read before. Lines until there are counted and not returned.
        longest: in bytes. Of a longer line no more than this is held, and a piece.
    """
    number, position = 1, 0
    held, is_too_long = bytearray(), False

    def hold(part: bytes) -> None:
        nonlocal is_too_long
        is_too_long = is_too_long or len(held) + len(part) > longest
        if is_too_long:
            held.clear()
        else:
            held.extend(part)

    def line(end: int) -> Line:
        found = bytes(held).removeprefix(_BYTE_ORDER_MARK) if number == 1 else bytes(held)
        return Line(number, end, None if is_too_long else found)

    waiting = b""  # a CR at the end of a piece, of which the next piece may have the LF
    async for piece in content:
        text = waiting + piece
        waiting = b"\r" if text.endswith(b"\r") else b""
        done = 0
        for ended in _LINE_END.finditer(text, 0, len(text) - len(waiting)):
            hold(text[done : ended.start()])
            done = ended.end()
            if position + done > start:
                yield line(position + done)
            number += 1
            held, is_too_long = bytearray(), False
        hold(text[done : len(text) - len(waiting)])
        position += len(text) - len(waiting)
    position += len(waiting)
    if (held or is_too_long or waiting) and position > start:
        yield line(position)
