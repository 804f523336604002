"""Lines of a file in pieces: the same wherever it is cut, and no more held than a line may be long."""

import asyncio
import re
import tracemalloc
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.ingest.lines import Line, read_lines
from tests.support.pieces import pieces

_CONTENT = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b" "]), max_size=30).map(
    b"".join
)


def read(content: AsyncIterator[bytes], *, start: int = 0, longest: int = 1000) -> list[Line]:
    async def found() -> list[Line]:
        return [line async for line in read_lines(content, start=start, longest=longest)]

    return asyncio.run(found())


@given(_CONTENT, st.integers(1, 40))
def test_lines_are_what_stands_between_line_ends(content: bytes, size: int) -> None:
    expected = re.split(rb"\r\n|\r|\n", content)
    if not expected[-1]:
        expected.pop()
    if expected:
        expected[0] = expected[0].removeprefix(b"\xef\xbb\xbf")
    found = read(pieces(content, size))
    assert [line.content for line in found] == expected
    assert [line.number for line in found] == list(range(1, len(expected) + 1))
    assert [line.end for line in found][-1:] == ([len(content)] if expected else [])


@given(_CONTENT, st.integers(1, 40), st.data())
def test_after_any_line_the_rest_follows(content: bytes, size: int, data: st.DataObject) -> None:
    whole = read(pieces(content, size))
    read_already = data.draw(st.integers(0, len(whole)))
    start = whole[read_already - 1].end if read_already else 0
    assert read(pieces(content, size + 1), start=start) == whole[read_already:]


@given(_CONTENT, st.integers(1, 40), st.integers(0, 4))
def test_a_line_over_the_limit_has_no_content_and_the_others_have(content: bytes, size: int, longest: int) -> None:
    whole = read(pieces(content, size))
    found = read(pieces(content, size), longest=longest)
    assert [(line.number, line.end) for line in found] == [(line.number, line.end) for line in whole]
    mark = len(b"\xef\xbb\xbf") if content.startswith(b"\xef\xbb\xbf") else 0
    for line, full in zip(found, whole, strict=True):
        assert full.content is not None
        length = len(full.content) + (mark if line.number == 1 else 0)
        assert line.content == (None if length > longest else full.content)


def test_of_a_line_without_end_no_more_is_held_than_a_line_may_be_long() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(2_000):
            yield b"x" * 100_000

    tracemalloc.start()
    try:
        found = read(endless(), longest=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == [Line(1, 200_000_000, None)]
    assert peak < 5_000_000
