"""What is subtracted from the vectors of a space, as it is stored; vectors and centres change together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pgvector import Vector

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings.centering import Center, Mean, centers, has_drifted
from retrieval_sidecar.ingest.kept_vectors import Samples
from retrieval_sidecar.ingest.spaces import read_centers
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")
_ROUNDS = 20
# A centre's count of passages weighs the words of questions: it need not be exact.
_COUNT_OFF_BY = 0.05


async def require_centers(
    connection: Connection, scope: Mapping[str, Any], samples: Samples, languages: set[str]
) -> None:
    """Within a change: have a centre for each of these languages, of which passages are written already."""
    kept = await _centers(connection, scope)
    if not languages <= kept.keys():
        await connection.execute(_SQL["plan_in_bulk"])
        await _write(connection, scope, kept, await _now(connection, scope, samples))


async def recenter(connection: Connection, scope: Mapping[str, Any], samples: Samples) -> int:
    """Hold the centres of a space to what its passages have in common now; how many vectors were centred anew.

    All of an organization's vectors are read for it, so it is for every now and then. Only where a centre has drifted
    is there a change, and only that is done within it.
    """
    for _ in range(_ROUNDS):
        async with connection.transaction():
            await connection.execute(_SQL["plan_in_bulk"])
            now = await _now(connection, scope, samples)
        kept = await _centers(connection, scope)
        if not _differ(kept, now):
            break
        async with change(connection, scope["organization_id"]):
            if _are_same(kept, await _centers(connection, scope)):
                await connection.execute(_SQL["plan_in_bulk"])
                return await _write(connection, scope, kept, now)
    # Somebody else centres all the time; the last of them does it for everybody.
    return 0


async def _centers(connection: Connection, scope: Mapping[str, Any]) -> dict[str, Center]:
    return await read_centers(connection, scope["organization_id"], scope["space_id"])


async def _now(connection: Connection, scope: Mapping[str, Any], samples: Samples) -> dict[str, Center]:
    cursor = await connection.execute(_SQL["language_means"], scope, binary=True)
    means = {language: Mean(passages, mean.to_numpy()) async for language, passages, mean in cursor}
    return centers(means, samples.as_passages, samples.as_queries) if means else {}


def _differ(kept: Mapping[str, Center], now: Mapping[str, Center]) -> bool:
    return kept.keys() != now.keys() or any(
        has_drifted(kept[language], now[language]) or _has_grown(kept[language], now[language]) for language in now
    )


def _has_grown(kept: Center, now: Center) -> bool:
    return abs(now.passages - kept.passages) > _COUNT_OFF_BY * kept.passages


def _are_same(one: Mapping[str, Center], other: Mapping[str, Center]) -> bool:
    return one.keys() == other.keys() and all(
        one[language].passages == other[language].passages
        and np.array_equal(one[language].of_passages, other[language].of_passages)
        and np.array_equal(one[language].of_queries, other[language].of_queries)
        for language in one
    )


async def _write(
    connection: Connection, scope: Mapping[str, Any], kept: Mapping[str, Center], now: Mapping[str, Center]
) -> int:
    drifted = [language for language in now if language not in kept or has_drifted(kept[language], now[language])]
    await connection.execute(_SQL["forget_centers"], {**scope, "languages": list(now)})
    for language, center in now.items():
        values = {**scope, "language": language, "passages": center.passages}
        if language in drifted:
            vectors = {"of_passages": Vector(center.of_passages), "of_queries": Vector(center.of_queries)}
            await connection.execute(_SQL["set_center"], values | vectors)
        elif _has_grown(kept[language], center):
            await connection.execute(_SQL["count_center"], values)
    if not kept or not drifted:
        return 0
    cursor = await connection.execute(_SQL["center_again"], {**scope, "languages": drifted})
    return cursor.rowcount
