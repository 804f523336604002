"""Vectors as the models gave them, kept by the text they are of: unchanged text is never embedded twice."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from pgvector import HalfVector

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.embeddings.centering import language_samples
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")
_BATCH = 32

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


@dataclass(frozen=True, slots=True)
class Samples:
    """The language samples as one model embeds them, both ways; and the keys under which they are kept."""

    as_passages: Mapping[str, Vectors]
    as_queries: Mapping[str, Vectors]
    hashes: Sequence[bytes]


async def missing(connection: Connection, scope: Mapping[str, Any], texts: Mapping[bytes, str]) -> dict[bytes, str]:
    """Those of the texts that have no kept vector in the scope's space."""
    cursor = await connection.execute(_SQL["kept_embeddings"], {**scope, "hashes": list(texts)}, binary=True)
    kept = {bytes(row[0]) async for row in cursor}
    return {key: text for key, text in texts.items() if key not in kept}


async def keep(
    connection: Connection,
    scope: Mapping[str, Any],
    texts: Mapping[bytes, str],
    embed: Embed,
    progress: Callable[[int], None] = lambda _count: None,
) -> None:
    """Embed texts and keep their vectors, batch by batch: whoever is interrupted goes on from there.

    Args:
        progress: called with the size of each batch that is kept.
    """
    keys = sorted(texts)  # one order for all, so that two who keep the same texts never wait for each other in turns
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        rows = await embed([texts[key] for key in batch])
        async with connection.cursor() as writer:
            await writer.executemany(
                _SQL["keep_embedding"],
                [
                    {**scope, "text_hash": key, "embedding": HalfVector(row)}
                    for key, row in zip(batch, rows, strict=True)
                ],
            )
        progress(len(batch))


async def sample_vectors(connection: Connection, scope: Mapping[str, Any], embedder: Embedder) -> Samples:
    """The vectors of the language samples in the scope's space."""
    hashes: list[bytes] = []

    async def by_language(kind: str, embed: Embed) -> dict[str, Vectors]:
        keys = {
            language: {blake2b(f"{kind}\0{text}".encode(), digest_size=16).digest(): text for text in texts}
            for language, texts in language_samples().items()
        }
        texts = {key: text for of_language in keys.values() for key, text in of_language.items()}
        hashes.extend(texts)
        await keep(connection, scope, await missing(connection, scope, texts), embed)
        cursor = await connection.execute(_SQL["embeddings"], {**scope, "hashes": list(texts)}, binary=True)
        known = {bytes(key): np.asarray(vector.to_numpy(), np.float32) async for key, vector in cursor}
        return {language: np.stack([known[key] for key in of_language]) for language, of_language in keys.items()}

    as_passages = await by_language("sample passage", embedder.embed_passages)
    as_queries = await by_language("sample query", embedder.embed_queries)
    return Samples(as_passages, as_queries, hashes)


async def forget_unused(connection: Connection, scope: Mapping[str, Any], samples: Samples, recipe: str) -> None:
    """Let go of kept vectors that no passage uses, unless a document waits for its passages: they may be its.

    What is unused is looked for outside of the change that removes it, for that reads all that an organization has.
    """
    async with connection.transaction():
        await connection.execute(_SQL["plan_in_bulk"])
        cursor = await connection.execute(
            _SQL["unused_embeddings"], {**scope, "kept_hashes": samples.hashes}, binary=True
        )
        unused = [bytes(row[0]) async for row in cursor]
        if not unused:
            return
        cursor = await connection.execute(_SQL["has_outdated_documents"], {**scope, "recipe": recipe})
        if await cursor.fetchone() == (True,):
            return
    async with change(connection, scope["organization_id"]):
        await connection.execute(_SQL["plan_in_bulk"])
        await connection.execute(_SQL["forget_embeddings"], {**scope, "hashes": unused})
