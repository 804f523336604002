"""Content as it comes: in pieces."""

from collections.abc import AsyncIterator


async def pieces(content: bytes, size: int = 7) -> AsyncIterator[bytes]:
    """Some bytes in pieces of one size."""
    for start in range(0, len(content), size):
        yield content[start : start + size]
