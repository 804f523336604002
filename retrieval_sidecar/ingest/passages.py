"""From a document to passages: sentence- and structure-aware, deterministic."""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from semantic_text_splitter import MarkdownSplitter

from retrieval_sidecar.text.normalize import for_embedding

TARGET_CHARACTERS = 1200
MAX_CHARACTERS = 2000
OVERLAP_CHARACTERS = 150


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is embedded and returned.

    Attributes:
        index: its place in the document, from 0.
        content: the text as written.
        title: the document's; it is embedded with the content.
    """

    index: int
    title: str
    content: str

    @property
    def embedded_text(self) -> str:
        """What the embedder reads: the title too, unless the content begins with it."""
        title, content = for_embedding(self.title), for_embedding(self.content)
        return content if content.startswith(title) else f"{title}. {content}"

    @property
    def text_hash(self) -> bytes:
        """Same text, same vector: the key under which the vector is kept (16 bytes)."""
        return blake2b(self.embedded_text.encode(), digest_size=16).digest()


@cache
def _splitter() -> MarkdownSplitter:
    return MarkdownSplitter((TARGET_CHARACTERS, MAX_CHARACTERS), overlap=OVERLAP_CHARACTERS)


def split(title: str, text: str) -> list[Passage]:
    """Cut a text into passages of about 1,200 and never over 2,000 characters, with some overlap."""
    return [Passage(index, title, chunk) for index, chunk in enumerate(_splitter().chunks(text.strip()))]
