"""New passages in the place of old ones, in every space at once: what happens within a change, and nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.ingest.cut import Cut
from retrieval_sidecar.ingest.kept_vectors import Samples
from retrieval_sidecar.ingest.plan import Plan, Target
from retrieval_sidecar.ingest.spaces import read_spaces
from retrieval_sidecar.ingest.stored_centers import require_centers
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")

SamplesOf = Mapping[int, Samples]


class Outdated(Exception):
    """What was read does not hold any more; never leaves `ingest.indexing`."""


async def swap(
    connection: Connection, organization_id: UUID, plan: Plan, cut: Cut, targets: Sequence[Target], samples: SamplesOf
) -> int:
    """Write the passages of some documents with their words, codes and vectors; how many others they replace.

    Args:
        targets: the spaces that are written; each has a kept vector of each text.

    Raises:
        Outdated: another space wants them too by now, a document says something else, or a kept vector is gone.
    """
    scope = {"organization_id": organization_id}
    await _hold_to_spaces(connection, organization_id, plan, targets)
    if not cut.documents:
        return 0
    await connection.execute(_SQL["plan_by_key"])
    documents = {
        "recipe": plan.recipe,
        "document_ids": [document.document_id for document in cut.documents],
        "hashes": [document.hash for document in cut.documents],
    }
    cursor = await connection.execute(_SQL["unchanged_documents"], scope | documents)
    if await cursor.fetchone() != (len(cut.documents),):
        raise Outdated
    replaced = await connection.execute(_SQL["forget_passages"], scope | documents)
    passage_ids = await _add_passages(connection, scope, cut)
    languages = {document.language for document in cut.documents}
    for target in targets:
        await write_vectors(connection, scope_of(organization_id, target), samples, passage_ids, languages)
    return replaced.rowcount


async def write_vectors(
    connection: Connection,
    scope: Mapping[str, Any],
    samples: SamplesOf,
    passage_ids: Sequence[int],
    languages: set[str],
) -> None:
    """Give passages that have none their vectors in a space, within a change. Raises Outdated where one is not kept."""
    if not passage_ids:
        return
    await require_centers(connection, scope, samples[scope["space_id"]], languages)
    await connection.execute(_SQL["plan_by_key"])
    cursor = await connection.execute(_SQL["add_vectors"], {**scope, "passage_ids": passage_ids})
    if cursor.rowcount < len(passage_ids):
        raise Outdated


def scope_of(organization_id: UUID, target: Target) -> dict[str, Any]:
    """How statements name a space."""
    return {"organization_id": organization_id, "space_id": target.space.space_id}


async def _hold_to_spaces(connection: Connection, organization_id: UUID, plan: Plan, targets: Sequence[Target]) -> None:
    """Hold that all are written that must be: what a complete space lacks it would never find."""
    spaces = {space.space_id: space for space in await read_spaces(connection, organization_id)}
    written = {target.space.space_id for target in targets}
    complete = {space.space_id for space in spaces.values() if not space.filling and space.model not in plan.forget}
    if not complete <= written <= spaces.keys():
        raise Outdated


async def _add_passages(connection: Connection, scope: Mapping[str, Any], cut: Cut) -> list[int]:
    """Write passages with their words and codes, a statement a table; the ids of the passages, in their order."""
    found = cut.passages
    passages = {
        "item_ids": [each.document.item_id for each in found],
        "instruction_ids": [each.document.instruction_id for each in found],
        "chunk_indexes": [each.passage.index for each in found],
        "languages": [each.document.language for each in found],
        "headings": [each.passage.heading for each in found],
        "contents": [each.passage.content for each in found],
        "text_hashes": [each.text_hash for each in found],
        "document_hashes": [each.document.hash for each in found],
    }
    cursor = await connection.execute(_SQL["add_passages"], {**scope, **passages})
    ids = sorted([row[0] async for row in cursor])
    words = {"passage_ids": ids, "words": [" ".join(each.words) for each in found]}
    await connection.execute(_SQL["add_words"], {**scope, **words})
    by_code = [(code, passage_id) for passage_id, each in zip(ids, found, strict=True) for code in each.codes]
    if by_code:
        codes = {"codes": [code for code, _ in by_code], "passage_ids": [passage_id for _, passage_id in by_code]}
        await connection.execute(_SQL["add_codes"], {**scope, **codes})
    return ids
