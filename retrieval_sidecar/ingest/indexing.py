"""From documents to passages that can be searched, in one swap.

What has changed since the last time is cut into passages and embedded, by the model of every space that is kept, while
the old passages answer. Then one transaction replaces them in all spaces at once. Documents that say what they said
keep their passages and vectors.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from pgvector import Vector

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.embeddings.centering import Mean, centers, has_drifted
from retrieval_sidecar.errors import Unavailable
from retrieval_sidecar.ingest.facts import refresh_facts
from retrieval_sidecar.ingest.kept_vectors import Samples, keep, missing, sample_vectors
from retrieval_sidecar.ingest.passages import Passage
from retrieval_sidecar.ingest.plan import Document, Plan, Target, make_plan
from retrieval_sidecar.ingest.spaces import read_centers, read_spaces
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text import codes
from retrieval_sidecar.text.normalize import words

_SQL = load_sql("retrieval_sidecar.ingest")
_ROUNDS = 20
# A word that more passages hold finds none (measured: 3 to 5 µs for each that it would find).
_COMMON = 500
# A bulk change leaves the old rows behind, and statistics of what was there before; scans slow down until they are gone
# (measured: 3.1 to 5.6 ms for 10,000). A few are left to autovacuum: a vacuum reads the index of all organizations'
# passages.
_VACUUM_FROM = 1_000

Progress = Callable[[int, int], None]
_Terms = tuple[list[str], list[str]]


class _Outdated(Exception):
    """What was read does not hold any more; never leaves this module."""


async def index_organization(
    connection: Connection,
    embedders: Embedder | Embedders,
    organization_id: UUID,
    *,
    source_id: UUID | None = None,
    complete: Callable[[Connection], Awaitable[None]] | None = None,
    into: Embedder | None = None,
    forget: Sequence[str] = (),
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Make every document of an organization searchable; returns how many passages it has then.

    Interrupted, it goes on where it was: what is embedded is kept as it goes. A first space is that of the preferred
    embedder, and active.

    Args:
        embedders: one for the model of each complete space.
        source_id: only the documents of this source; those of others may be indexed at the same time.
        complete: awaited in the transaction that makes the last of them searchable, also where nothing was left to do.
            What it changes of the rows (that the source is ready) holds for their passages in that same transaction.
            It may be awaited again, where that transaction could not be kept.
        into: fill this embedder's space too, if it is not complete.
        forget: models whose spaces go in the same transaction.
        progress: called with (texts embedded, texts in all) of what this run needs.

    Raises:
        ConfigurationError: there are changes that a complete space could not follow; nothing is written.
        EmbedderUnavailable: the next run goes on.
        Unavailable: documents were changed faster than they could be embedded.
    """
    embedders = Embedders.of(embedders)
    for _ in range(_ROUNDS):
        plan = await make_plan(connection, embedders, organization_id, source_id=source_id, into=into, forget=forget)
        samples = await _embed(connection, organization_id, plan, progress)
        terms = [_terms(passage) for _, passage in plan.passages]
        try:
            async with change(connection, organization_id):
                replaced = await _swap(connection, organization_id, plan, terms, samples, forget)
                if complete is not None:
                    await complete(connection)
                    await refresh_facts(connection, organization_id, source_id)
        except _Outdated:
            continue
        break
    else:
        raise Unavailable("The documents changed again and again while they were indexed.")
    await _forget_embeddings(connection, organization_id, plan, samples)
    if replaced + len(plan.passages) >= _VACUUM_FROM:
        await connection.execute("vacuum analyze passage, passage_vector, passage_words, passage_code")
    cursor = await connection.execute(_SQL["count_passages"], {"organization_id": organization_id})
    ((count,),) = await cursor.fetchall()
    return int(count)


async def _embed(
    connection: Connection, organization_id: UUID, plan: Plan, progress: Progress
) -> Mapping[int, Samples]:
    """Embed what is missing; the language samples of each target by its space."""
    samples = {}
    wanted = []
    for target, texts in zip(plan.targets, plan.texts, strict=True):
        scope = _scope(organization_id, target)
        samples[target.space.space_id] = await sample_vectors(connection, scope, target.embedder)
        wanted.append((target, scope, await missing(connection, scope, texts)))
    total = sum(map(len, plan.texts))
    done = total - sum(len(texts) for _, _, texts in wanted)
    progress(done, total)

    def kept(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    for target, scope, texts in wanted:
        await keep(connection, scope, texts, target.embedder.embed_passages, kept)
    return samples


def _terms(passage: Passage) -> _Terms:
    """The words and the codes that a passage is found by. Made before the lock is taken: it is the processor's work."""
    text = f"{passage.title} {passage.content}"
    return sorted(set(words(text))), sorted(codes.in_document(text))


async def _swap(
    connection: Connection,
    organization_id: UUID,
    plan: Plan,
    terms: Sequence[_Terms],
    samples: Mapping[int, Samples],
    forget: Sequence[str],
) -> int:
    """Write the plan, in the transaction of a change; how many rows were replaced. Raises _Outdated."""
    scope: dict[str, Any] = {"organization_id": organization_id} | plan.parameters
    if await read_spaces(connection, organization_id) != plan.spaces:
        raise _Outdated
    if plan.documents:
        cursor = await connection.execute(_SQL["unchanged_documents"], scope)
        if await cursor.fetchone() != (len(plan.documents),):
            raise _Outdated
    gone = [await connection.execute(_SQL[name], scope) for name in ("forget_passages", "forget_deleted")]
    replaced = sum(cursor.rowcount for cursor in gone)
    await _add_passages(connection, scope, plan.passages, terms)
    await connection.execute(_SQL["plan_in_bulk"])
    if replaced or plan.passages:
        await connection.execute(_SQL["forget_common_words"], scope)
        await connection.execute(_SQL["add_common_words"], scope | {"common": _COMMON})
    for model in forget:
        await connection.execute(_SQL["drop_space"], scope | {"model": model, "active_too": True})
    for target in plan.targets:
        of_space = _scope(organization_id, target)
        replaced += await _write_vectors(connection, of_space, samples[target.space.space_id])
        await connection.execute(_SQL["complete_space"], of_space)
    if not any(space.active for space in await read_spaces(connection, organization_id)):
        await connection.execute(_SQL["activate_space"], scope | {"model": plan.into})
    await count_vectors(connection, organization_id)
    return replaced


async def _add_passages(
    connection: Connection,
    scope: Mapping[str, Any],
    passages: Sequence[tuple[Document, Passage]],
    terms: Sequence[_Terms],
) -> None:
    """Write passages with their words and codes, in as few round trips as there are tables."""
    if not passages:
        return
    rows = [
        {
            **scope,
            "item_id": document.item_id,
            "instruction_id": document.instruction_id,
            "chunk_index": passage.index,
            "language": document.language,
            "heading": passage.heading,
            "content": passage.content,
            "text_hash": passage.text_hash,
            "document_hash": document.hash,
        }
        for document, passage in passages
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany(_SQL["add_passage"], rows, returning=True)
        ids = [await cursor.fetchone()]
        while cursor.nextset():
            ids.append(await cursor.fetchone())
        found_words, found_codes = [], []
        for row, (its_words, its_codes) in zip(ids, terms, strict=True):
            assert row is not None  # noqa: S101 - an insert that returns
            key = {"organization_id": scope["organization_id"], "passage_id": row[0]}
            found_words.append(key | {"words": its_words})
            found_codes += [key | {"code": code} for code in its_codes]
        await cursor.executemany(_SQL["add_words"], found_words)
        if found_codes:
            await cursor.executemany(_SQL["add_code"], found_codes)


async def _write_vectors(connection: Connection, scope: Mapping[str, Any], samples: Samples) -> int:
    """Give each passage that has none its vector; how many others were centred anew. Raises _Outdated."""
    means = await _means(connection, scope)
    if not means:
        await connection.execute(_SQL["forget_centers"], {**scope, "languages": []})
        return 0
    now = centers(means, samples.as_passages, samples.as_queries)
    kept = await read_centers(connection, scope["organization_id"], scope["space_id"])
    drifted = [language for language in now if language not in kept or has_drifted(kept[language], now[language])]
    again = 0
    await connection.execute(_SQL["forget_centers"], {**scope, "languages": list(now)})
    for language in drifted:
        values = {
            "language": language,
            "passages": now[language].passages,
            "of_passages": Vector(now[language].of_passages),
            "of_queries": Vector(now[language].of_queries),
        }
        await connection.execute(_SQL["set_center"], {**scope, **values})
    if drifted:
        cursor = await connection.execute(_SQL["center_again"], {**scope, "languages": drifted})
        again = cursor.rowcount
    cursor = await connection.execute(_SQL["unwritten_passages"], scope)
    passage_ids = [row[0] async for row in cursor]
    if passage_ids:
        await connection.execute(_SQL["add_vectors"], {**scope, "passage_ids": passage_ids})
    return again


async def _means(connection: Connection, scope: Mapping[str, Any]) -> dict[str, Mean]:
    cursor = await connection.execute(_SQL["language_means"], scope, binary=True)
    means = {}
    async for language, passages, embedded, mean in cursor:
        if embedded < passages:
            # Forgotten meanwhile by somebody for whom no document was waiting, or of a passage that is new to us.
            raise _Outdated
        means[language] = Mean(passages, mean.to_numpy())
    return means


async def _forget_embeddings(
    connection: Connection, organization_id: UUID, plan: Plan, samples: Mapping[int, Samples]
) -> None:
    for target in plan.targets:
        hashes = samples[target.space.space_id].hashes
        async with change(connection, organization_id):
            await connection.execute(_SQL["plan_in_bulk"])
            await connection.execute(
                _SQL["forget_embeddings"],
                _scope(organization_id, target) | plan.parameters | {"kept_hashes": hashes},
            )


def _scope(organization_id: UUID, target: Target) -> dict[str, Any]:
    return {"organization_id": organization_id, "space_id": target.space.space_id}
