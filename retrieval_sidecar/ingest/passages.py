"""From a document to passages: sentence- and structure-aware, deterministic."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from retrieval_sidecar.ingest.headings import Headings
from retrieval_sidecar.ingest.tokens import TokenLimit
from retrieval_sidecar.text.normalize import for_embedding

TARGET_CHARACTERS = 1200
MAX_CHARACTERS = 2000
OVERLAP_CHARACTERS = 150
# Of what is embedded before the content: a long one would be all that the vector stands for.
_MAX_TITLE = 200
_MAX_HEADING = 200
_SMALLER = 0.75
_BETWEEN_HEADINGS = " › "


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is embedded and returned.

    Attributes:
        index: its place in the document, from 0.
        title: the document's; it is embedded with the content.
        content: the text as written.
        heading: the headings that it stands under, outermost first; embedded too, and never returned.
    """

    index: int
    title: str
    content: str
    heading: str = ""

    @property
    def embedded_text(self) -> str:
        """What the embedder reads: title and headings too, unless the content begins with them."""
        content = for_embedding(self.content)
        title = _beginning(for_embedding(self.title), _MAX_TITLE)
        headings = for_embedding(self.heading).removeprefix(title).removeprefix(_BETWEEN_HEADINGS)
        before = [] if content.startswith(title) else [title]
        before += [_beginning(headings, _MAX_HEADING)] if headings else []
        return ". ".join([*before, content])

    @property
    def text_hash(self) -> bytes:
        """Same text, same vector: the key under which the vector is kept (16 bytes)."""
        return blake2b(self.embedded_text.encode(), digest_size=16).digest()


def split(title: str, text: str, limit: TokenLimit | None = None) -> list[Passage]:
    """Cut a text into passages of about 1,200 and never over 2,000 characters, with some overlap.

    Args:
        limit: of the embedder. What is embedded of a passage, title and headings included, is within it; where the
            characters of a text take many tokens, its passages are shorter.
    """
    text = text.strip()
    headings = Headings(text)
    return [
        Passage(index, title, content, heading)
        for index, (content, heading) in enumerate(_pieces(title, text, 0, headings, limit, MAX_CHARACTERS))
    ]


def _pieces(
    title: str, text: str, offset: int, headings: Headings, limit: TokenLimit | None, longest: int
) -> Iterator[tuple[str, str]]:
    """The contents of the passages of a text that begins at an offset, each with the headings above it."""
    pieces = [
        (offset + start, content, _BETWEEN_HEADINGS.join(headings.above(offset + start)))
        for start, content in _splitter(longest).chunk_indices(text)
    ]
    fits = [
        limit is None or len(content) == 1 or limit.fits(Passage(0, title, content, heading).embedded_text)
        for _, content, heading in pieces
    ]
    if 2 * sum(fits) < len(fits):
        # All of it takes many tokens: cut anew, so that its passages are of one size.
        yield from _pieces(title, text, offset, headings, limit, _smaller(longest, text))
        return
    for (start, content, heading), is_fit in zip(pieces, fits, strict=True):
        if is_fit:
            yield content, heading
        else:
            yield from _pieces(title, content, start, headings, limit, _smaller(longest, content))


def _smaller(longest: int, text: str) -> int:
    return max(1, int(min(longest, len(text)) * _SMALLER))


@cache
def _splitter(longest: int) -> MarkdownSplitter:
    target = min(longest, round(longest * TARGET_CHARACTERS / MAX_CHARACTERS))
    overlap = min(OVERLAP_CHARACTERS, target // 4)
    return MarkdownSplitter((max(1, target), longest), overlap=overlap)


@cache
def _cutter(longest: int) -> TextSplitter:
    return TextSplitter(longest)


def _beginning(text: str, longest: int) -> str:
    """A text, ended between words if it is longer."""
    return text if len(text) <= longest else next(iter(_cutter(longest).chunks(text)), "")
