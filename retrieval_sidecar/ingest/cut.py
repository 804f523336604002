"""Documents as they were read, and the passages that they are cut into."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.ingest.passages import Passage, split
from retrieval_sidecar.ingest.tokens import TokenLimit
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text import codes
from retrieval_sidecar.text.normalize import words

_SQL = load_sql("retrieval_sidecar.ingest")


@dataclass(frozen=True, slots=True)
class Document:
    """A knowledge item or an instruction as it was read. `hash` is of all that its passages are made from."""

    item_id: UUID | None
    instruction_id: UUID | None
    language: str
    title: str
    content: str
    hash: bytes

    @property
    def document_id(self) -> UUID:
        found = self.item_id or self.instruction_id
        assert found is not None  # noqa: S101 - one of the two it is
        return found


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of a document, with the words and the codes that it is found by."""

    document: Document
    passage: Passage
    text_hash: bytes
    words: Sequence[str]
    codes: Sequence[str]


@dataclass(frozen=True)
class Cut:
    """Documents, and all passages of theirs."""

    documents: Sequence[Document]
    passages: Sequence[Found]

    @cached_property
    def texts(self) -> Mapping[bytes, str]:
        """What is to be embedded, by the key under which its vector is kept."""
        return {found.text_hash: found.passage.embedded_text for found in self.passages}


async def read_and_cut(
    connection: Connection,
    organization_id: UUID,
    document_ids: Sequence[UUID],
    limit: TokenLimit | None,
    *,
    recipe: str,
    again: bool = False,
) -> Cut:
    """Read documents and cut them, in a thread: it is seconds of the processor's work, and others want to be answered.

    Args:
        limit: of the embedders.
        recipe: how passages are made, of which documents' hashes are too.
        again: also those whose passages are as they should be; without it they are left out.
    """
    async with connection.transaction():
        await connection.execute(_SQL["plan_by_key"])
        cursor = await connection.execute(
            _SQL["documents_by_id" if again else "outdated_by_id"],
            {"organization_id": organization_id, "document_ids": list(document_ids), "recipe": recipe},
            binary=True,
        )
        documents = [Document(*row) async for row in cursor]
    return Cut(documents, await asyncio.to_thread(_cut, documents, limit))


def _cut(documents: Sequence[Document], limit: TokenLimit | None) -> list[Found]:
    return [
        _found(document, passage)
        for document in documents
        for passage in split(document.title, document.content, limit)
    ]


def _found(document: Document, passage: Passage) -> Found:
    text = f"{passage.title} {passage.content}"
    return Found(document, passage, passage.text_hash, sorted(set(words(text))), sorted(codes.in_document(text)))
