"""From documents to passages that can be searched, in one swap."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector, Vector

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.embeddings.centering import center, centers, language_samples
from retrieval_sidecar.ingest.passages import Passage, split
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text import codes
from retrieval_sidecar.text.normalize import words

_SQL = load_sql("retrieval_sidecar.ingest")
_BATCH = 32

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Entry:
    item_id: UUID | None
    instruction_id: UUID | None
    language: str
    passage: Passage


async def index_organization(
    connection: Connection,
    embedder: Embedder,
    organization_id: UUID,
    *,
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Make every document of an organization searchable; returns how many passages that took.

    Embeds what is new, from the cache otherwise, and only then replaces all passages, vectors and language means in
    one transaction: until it commits, the old ones answer.

    Args:
        progress: called with (passages embedded, passages in all).
    """
    scope: dict[str, Any] = {"organization_id": organization_id}
    entries = await _entries(connection, scope)
    async with connection.transaction():
        space = await connection.execute(
            _SQL["active_space"],
            scope | {"model": embedder.model, "dimensions": embedder.dimensions},
        )
        row = await space.fetchone()
        assert row is not None  # noqa: S101 - an insert that returns
        scope["space_id"] = row[0]
    texts = {entry.passage.text_hash: entry.passage.embedded_text for entry in entries}
    known = await _vectors(connection, scope, texts, embedder.embed_passages, progress)
    raw = np.stack([known[entry.passage.text_hash] for entry in entries]) if entries else np.empty((0, 0), np.float32)
    samples = await _sample_vectors(connection, embedder, scope)
    async with connection.transaction():
        await _replace(connection, scope, entries, raw, samples)
        await count_vectors(connection, organization_id)
    # A bulk change leaves the old rows behind; scans slow down until they are gone (measured: 3.1 to 5.6 ms).
    await connection.execute("vacuum analyze passage, passage_vector, passage_words, passage_code")
    return len(entries)


async def _entries(connection: Connection, scope: dict[str, Any]) -> list[_Entry]:
    cursor = await connection.execute(_SQL["documents"], scope)
    return [
        _Entry(item_id, instruction_id, language, passage)
        async for item_id, instruction_id, language, title, content in cursor
        for passage in split(title, content)
    ]


async def _vectors(
    connection: Connection,
    scope: dict[str, Any],
    texts: Mapping[bytes, str],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    progress: Progress = lambda _done, _total: None,
) -> dict[bytes, Vectors]:
    """The vectors of texts by their keys: kept ones as they are, the others embedded and kept."""
    cursor = await connection.execute(_SQL["cached_embeddings"], scope | {"hashes": list(texts)}, binary=True)
    known = {bytes(key): np.asarray(vector.to_numpy(), np.float32) async for key, vector in cursor}
    missing = [key for key in texts if key not in known]
    progress(len(known), len(texts))
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        rows = await embed([texts[key] for key in batch])
        async with connection.cursor() as writer:
            await writer.executemany(
                _SQL["keep_embedding"],
                [
                    scope | {"text_hash": key, "embedding": HalfVector(row)}
                    for key, row in zip(batch, rows, strict=True)
                ],
            )
        known |= dict(zip(batch, rows, strict=True))
        progress(len(known), len(texts))
    return known


@dataclass(frozen=True, slots=True)
class _Samples:
    """The vectors of the language samples, embedded both ways."""

    as_passages: Mapping[str, Vectors]
    as_queries: Mapping[str, Vectors]


async def _sample_vectors(connection: Connection, embedder: Embedder, scope: dict[str, Any]) -> _Samples:
    async def by_language(kind: str, embed: Callable[[Sequence[str]], Awaitable[Vectors]]) -> dict[str, Vectors]:
        keys = {
            language: {blake2b(f"{kind}\0{text}".encode(), digest_size=16).digest(): text for text in texts}
            for language, texts in language_samples().items()
        }
        texts = {key: text for of_language in keys.values() for key, text in of_language.items()}
        known = await _vectors(connection, scope, texts, embed)
        return {language: np.stack([known[key] for key in of_language]) for language, of_language in keys.items()}

    return _Samples(
        await by_language("sample passage", embedder.embed_passages),
        await by_language("sample query", embedder.embed_queries),
    )


async def _replace(
    connection: Connection, scope: dict[str, Any], entries: list[_Entry], raw: Vectors, samples: _Samples
) -> None:
    await connection.execute(_SQL["forget_passages"], scope)
    await connection.execute(_SQL["forget_centers"], scope)
    if not entries:
        return
    rows_of: defaultdict[str, list[int]] = defaultdict(list)
    for row, entry in enumerate(entries):
        rows_of[entry.language].append(row)
    found = centers(
        {language: raw[rows] for language, rows in rows_of.items()}, samples.as_passages, samples.as_queries
    )
    for language, each in found.items():
        values = {
            "passages": each.passages,
            "of_passages": Vector(each.of_passages),
            "of_queries": Vector(each.of_queries),
        }
        await connection.execute(_SQL["add_center"], scope | {"language": language} | values)
    for row, entry in enumerate(entries):
        await _write(connection, scope, entry, center(raw[row], found[entry.language].of_passages))


async def _write(connection: Connection, scope: dict[str, Any], entry: _Entry, vector: Vectors) -> None:
    passage = entry.passage
    cursor = await connection.execute(
        _SQL["add_passage"],
        scope
        | {
            "item_id": entry.item_id,
            "instruction_id": entry.instruction_id,
            "chunk_index": passage.index,
            "language": entry.language,
            "content": passage.content,
            "text_hash": passage.text_hash,
        },
    )
    found = await cursor.fetchone()
    assert found is not None  # noqa: S101 - an insert that returns
    key = scope | {"passage_id": found[0]}
    text = f"{passage.title} {passage.content}"
    await connection.execute(_SQL["add_words"], key | {"words": sorted(set(words(text)))})
    for code in sorted(codes.in_document(text)):
        await connection.execute(_SQL["add_code"], key | {"code": code})
    await connection.execute(_SQL["add_vector"], key | {"embedding": HalfVector(vector)})
