"""From documents to passages that can be searched, batch by batch, each in one swap.

What has changed since the last time is cut into passages and embedded, by the model of every space that is kept, while
the old passages answer. Then one transaction replaces them in all spaces at once. Documents that say what they said
keep their passages and vectors. What an organization's passages have in common (centres, common words) is worked out
again when it has doubled, and at the end; so the whole takes time in proportion to what there is, and the memory of one
batch.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.embeddings.centering import ANY_LANGUAGE
from retrieval_sidecar.embeddings.collection import StrictestLimit
from retrieval_sidecar.errors import Unavailable
from retrieval_sidecar.ingest.common_words import count_common_words
from retrieval_sidecar.ingest.cut import Cut, read_and_cut
from retrieval_sidecar.ingest.facts import refresh_facts
from retrieval_sidecar.ingest.kept_vectors import forget_unused, keep, missing, sample_vectors
from retrieval_sidecar.ingest.passages import TARGET_CHARACTERS, Passage
from retrieval_sidecar.ingest.plan import Batch, Plan, Target, in_batches, make_plan
from retrieval_sidecar.ingest.spaces import read_centers, read_spaces
from retrieval_sidecar.ingest.stored_centers import recenter
from retrieval_sidecar.ingest.swap import Outdated, SamplesOf, scope_of, swap, write_vectors
from retrieval_sidecar.ingest.tokens import TokenLimit
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.ingest")
# In a row, without anything written in between.
_ROUNDS = 20
# Passages whose vectors are read, embedded or written at once.
_PASSAGES = 1_000
# A bulk change leaves the old rows behind, and statistics of what was there before; scans slow down until they are gone
# (measured: 3.1 to 5.6 ms for 10,000). A few are left to autovacuum: a vacuum reads the index of all organizations'
# passages.
_VACUUM_FROM = 1_000

# Passages from which on what they have in common is not worked out again for each document that somebody edits, but
# only when so large a share of them has come or gone since.
_MANY, _OFF_BY = 20_000, 0.05
_ALL: dict[str, Any] = {"source_id": None, "document_ids": None}

Progress = Callable[[int, int], None]
Complete = Callable[[Connection], Awaitable[None]]


async def index_organization(  # noqa: PLR0913 - what to index, of what, by what, and what comes with it
    connection: Connection,
    embedders: Embedder | Embedders,
    organization_id: UUID,
    *,
    source_id: UUID | None = None,
    document_ids: Sequence[UUID] | None = None,
    complete: Complete | None = None,
    into: Embedder | None = None,
    forget: Sequence[str] = (),
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Make every document of an organization searchable; returns how many passages it has then.

    A document's passages are swapped in one transaction; a few hundred documents share it. Interrupted, it goes on
    where it was: what is swapped stays, and what is embedded is kept as it goes. A first space is that of the preferred
    embedder, and active.

    Args:
        embedders: one for the model of each complete space.
        source_id: only the documents of this source; those of others may be indexed at the same time.
        document_ids: only these documents, a few of what may be many.
        complete: awaited in the transaction that makes the last of them searchable, also where nothing was left to do.
            What it changes of the rows (that the source is ready) holds for their passages in that same transaction.
            It may be awaited again, where that transaction could not be kept.
        into: fill this embedder's space too, if it is not complete.
        forget: models whose spaces go in the transaction that has another answer.
        progress: called with (texts embedded, texts in all) of what this run needs; the second is an estimate until
            the last document is cut.

    Raises:
        ConfigurationError: there are changes that a complete space could not follow; nothing is written.
        EmbedderUnavailable: the next run goes on.
        Unavailable: documents were changed faster than they could be embedded.
    """
    indexing = _Indexing(connection, Embedders.of(embedders), organization_id, source_id, document_ids, progress)
    while indexing.rounds_left:
        plan = await make_plan(
            connection,
            indexing.embedders,
            organization_id,
            source_id=source_id,
            document_ids=document_ids,
            into=into,
            forget=forget,
        )
        try:
            await indexing.carry_out(plan, complete)
        except Outdated:
            indexing.rounds_left -= 1
            continue
        return await indexing.finish(plan)
    raise Unavailable("The documents changed again and again while they were indexed.")


class _Indexing:
    """One run, over as many plans as it takes.

    Attributes:
        rounds_left: how often a plan may still prove outdated before anything of it is written.
    """

    def __init__(
        self,
        connection: Connection,
        embedders: Embedders,
        organization_id: UUID,
        source_id: UUID | None,
        document_ids: Sequence[UUID] | None,
        progress: Progress,
    ) -> None:
        self.embedders = embedders
        self.rounds_left = _ROUNDS
        self._connection = connection
        self._organization_id = organization_id
        self._source_id = source_id
        self._document_ids = None if document_ids is None else list(document_ids)
        self._progress = _Progress(progress)
        self._samples: SamplesOf = {}
        self._limit: TokenLimit | None = None
        self._cut_again: set[UUID] = set()  # once: what is as short as can be may still be too long
        self._changed = 0  # passages that were written or removed
        self._grown = 0  # since what they have in common was worked out
        self._settled_at = 0

    async def carry_out(self, plan: Plan, complete: Complete | None) -> None:
        """Do all that a plan says. Raises Outdated: make another one."""
        await self._prepare(plan)
        if plan.begins_with_spaces:
            await self._change_spaces(plan)
        else:
            await self._index(plan, await self._embed_stored(plan.targets, **self._part), again=True)
            for target in plan.targets:
                await self._write_stored(target, **self._part)
        await self._index(plan, plan.batches[:-1])
        await self._index_last(plan, plan.batches[-1] if plan.batches else Batch([], 0), complete)
        if plan.filling and not plan.begins_with_spaces:
            await self._change_spaces(plan)

    async def finish(self, plan: Plan) -> int:
        """Work out again what is of all passages; how many there are."""
        if self._document_ids is not None and self._is_settled(count := await self._count()):
            return count
        await self._settle(plan)
        for target in plan.written:
            scope = scope_of(self._organization_id, target)
            await forget_unused(self._connection, scope, self._samples[target.space.space_id], plan.recipe)
        if self._changed >= _VACUUM_FROM:
            await self._connection.execute("vacuum analyze passage, passage_vector, passage_words, passage_code")
        return await self._count()

    async def _prepare(self, plan: Plan) -> None:
        self._limit = TokenLimit(StrictestLimit([each.embedder for each in plan.written])) if plan.written else None
        self._samples = {
            target.space.space_id: await sample_vectors(
                self._connection, scope_of(self._organization_id, target), target.embedder
            )
            for target in plan.written
        }
        for target in plan.targets[:1]:
            kept = await read_centers(self._connection, self._organization_id, target.space.space_id)
            self._settled_at = kept[ANY_LANGUAGE].passages if kept else 0
        self._progress.expect_documents(plan.batches, len(plan.targets) or 1)

    async def _index(self, plan: Plan, batches: Sequence[Batch], *, again: bool = False) -> None:
        """Cut, embed and swap documents. What is not outdated any more is passed over, unless it is to be cut again."""
        targets = self._written_with_documents(plan)
        for batch in batches:
            cut = await self._cut_and_embed(plan, batch, targets, again=again)
            async with change(self._connection, self._organization_id):
                replaced = await swap(self._connection, self._organization_id, plan, cut, targets, self._samples)
            self._note(replaced, len(cut.passages))
            if self._grown > self._settled_at:
                await self._settle(plan)

    async def _index_last(self, plan: Plan, batch: Batch, complete: Complete | None) -> None:
        targets = self._written_with_documents(plan)
        cut = await self._cut_and_embed(plan, batch, targets)
        async with change(self._connection, self._organization_id):
            replaced = await swap(self._connection, self._organization_id, plan, cut, targets, self._samples)
            cursor = await self._execute("forget_deleted", **self._part)
            await self._activate(plan)
            if complete is not None:
                await complete(self._connection)
                await refresh_facts(self._connection, self._organization_id, self._source_id)
            else:
                await count_vectors(self._connection, self._organization_id)
        self._note(replaced + cursor.rowcount, len(cut.passages))

    async def _change_spaces(self, plan: Plan) -> None:
        """Complete the space that is filled, and let go of those to forget, in one transaction."""
        while True:
            to_cut = await self._embed_stored(plan.written, **_ALL)
            if not to_cut or plan.begins_with_spaces:
                break
            await self._index(plan, to_cut, again=True)
        # A space that is to go could not follow, so these wait for the transaction in which it goes.
        document_ids = [document_id for batch in to_cut for document_id in batch.document_ids]
        cut = await self._cut_and_embed(plan, Batch(document_ids, 0), plan.written, again=True)
        for target in plan.written:
            await self._write_stored(target, **_ALL)
        async with change(self._connection, self._organization_id):
            replaced = await swap(self._connection, self._organization_id, plan, cut, plan.written, self._samples)
            for model in plan.forget:
                await self._execute("drop_space", model=model, active_too=True)
            for target in plan.written:
                await self._write_the_rest(target)
                await self._execute("complete_space", space_id=target.space.space_id)
            await self._activate(plan)
            await count_vectors(self._connection, self._organization_id)
        self._note(replaced, len(cut.passages))

    def _written_with_documents(self, plan: Plan) -> Sequence[Target]:
        """The spaces that are complete by the time that documents are written."""
        return plan.written if plan.begins_with_spaces else plan.targets

    async def _cut_and_embed(self, plan: Plan, batch: Batch, targets: Sequence[Target], *, again: bool = False) -> Cut:
        cut = await read_and_cut(
            self._connection, self._organization_id, batch.document_ids, self._limit, recipe=plan.recipe, again=again
        )
        wanted = []
        for target in targets:
            scope = scope_of(self._organization_id, target)
            wanted.append((target, scope, await missing(self._connection, scope, cut.texts)))
        self._progress.cut(batch, len(targets) * len(cut.texts), sum(len(texts) for _, _, texts in wanted))
        for target, scope, texts in wanted:
            await keep(self._connection, scope, texts, target.embedder.embed_passages, self._progress.embedded)
        return cut

    async def _embed_stored(self, targets: Sequence[Target], **part: Any) -> list[Batch]:
        """Embed texts of passages that have no kept vector; the documents that are to be cut again instead.

        Those have a passage that is longer than one of the models takes, or whose text is made otherwise now.
        """
        to_cut: set[UUID] = set()
        waiting = []
        for target in targets:
            cursor = await self._execute("unembedded_passages", space_id=target.space.space_id, **part)
            waiting.append((target, [row[0] async for row in cursor]))
        self._progress.expect(sum(len(passage_ids) for _, passage_ids in waiting))
        for target, passage_ids in waiting:
            for start in range(0, len(passage_ids), _PASSAGES):
                some = passage_ids[start : start + _PASSAGES]
                texts, documents = await self._stored_texts(some)
                to_cut |= documents
                self._progress.expect(len(texts) - len(some))
                scope = scope_of(self._organization_id, target)
                await keep(self._connection, scope, texts, target.embedder.embed_passages, self._progress.embedded)
        return list(in_batches([(document_id, 0) for document_id in sorted(to_cut)]))

    async def _stored_texts(self, passage_ids: Sequence[int]) -> tuple[Mapping[bytes, str], set[UUID]]:
        """What is embedded of passages, by the key of its vector; and the documents that are to be cut again."""
        texts: dict[bytes, str] = {}
        to_cut: set[UUID] = set()
        cursor = await self._execute("texts_of_passages", passage_ids=passage_ids)
        async for document_id, text_hash, index, title, content, heading in cursor:
            passage = Passage(index, title, content, heading)
            text = passage.embedded_text
            is_good = passage.text_hash == bytes(text_hash) and (self._limit is None or self._limit.fits(text))
            if is_good or document_id in self._cut_again:
                texts[bytes(text_hash)] = text
            else:
                to_cut.add(document_id)
        self._cut_again |= to_cut
        return texts, to_cut

    async def _write_stored(self, target: Target, **part: Any) -> None:
        """Write the kept vectors that a space lacks, some at a time."""
        scope = scope_of(self._organization_id, target)
        cursor = await self._execute("unwritten_passages", space_id=target.space.space_id, **part)
        passage_ids = [passage_id async for passage_id, _, is_kept in cursor if is_kept]
        if passage_ids:
            await recenter(self._connection, scope, self._samples[target.space.space_id])
        for start in range(0, len(passage_ids), _PASSAGES):
            async with change(self._connection, self._organization_id):
                some = passage_ids[start : start + _PASSAGES]
                cursor = await self._execute("unwritten_among", space_id=target.space.space_id, passage_ids=some)
                await self._write(target, {passage_id: language async for passage_id, language, _ in cursor})

    async def _write_the_rest(self, target: Target) -> None:
        """Within a change: what came in since `_write_stored`. From here on the space lacks none. Raises Outdated."""
        await self._connection.execute(_SQL["plan_in_bulk"])
        cursor = await self._execute("unwritten_passages", space_id=target.space.space_id, **_ALL)
        await self._write(target, {passage_id: language async for passage_id, language, _ in cursor})

    async def _write(self, target: Target, passages: Mapping[int, str]) -> None:
        scope = scope_of(self._organization_id, target)
        await write_vectors(self._connection, scope, self._samples, list(passages), set(passages.values()))

    async def _activate(self, plan: Plan) -> None:
        if not any(space.active for space in await read_spaces(self._connection, self._organization_id)):
            await self._execute("activate_space", model=plan.into)

    @property
    def _part(self) -> dict[str, Any]:
        """How statements name the documents that this run is for."""
        return {"source_id": self._source_id, "document_ids": self._document_ids}

    def _is_settled(self, count: int) -> bool:
        """Whether a few documents of a large organization leave as it is what all passages have in common.

        To work that out reads all of them; whoever reads a source next does.
        """
        return count > _MANY and abs(count - self._settled_at) <= _OFF_BY * self._settled_at

    async def _settle(self, plan: Plan) -> None:
        """Work out anew what passages have in common."""
        for target in plan.written:
            scope = scope_of(self._organization_id, target)
            self._changed += await recenter(self._connection, scope, self._samples[target.space.space_id])
        self._settled_at = await self._count()
        self._grown = 0
        await count_common_words(
            self._connection, self._organization_id, passages=self._settled_at, changed=self._changed
        )

    async def _count(self) -> int:
        cursor = await self._execute("count_passages")
        ((count,),) = await cursor.fetchall()
        return int(count)

    def _note(self, removed: int, written: int) -> None:
        if written:
            self.rounds_left = _ROUNDS
        self._changed += removed + written
        self._grown += written - removed

    async def _execute(self, name: str, **values: Any) -> Any:
        return await self._connection.execute(
            _SQL[name], {"organization_id": self._organization_id} | values, binary=True
        )


class _Progress:
    """How many texts are embedded, of how many; those of documents that are not cut yet are estimated by length."""

    def __init__(self, report: Progress) -> None:
        self._report = report
        self._done = self._total = self._uncut = 0
        self._targets = 1

    def expect_documents(self, batches: Sequence[Batch], targets: int) -> None:
        """Documents that will be cut, for so many spaces."""
        self._targets = targets
        self._uncut = sum(map(self._estimate, batches))

    def cut(self, batch: Batch, texts: int, missing: int) -> None:
        """A batch was cut; so many of its texts, in all spaces, have no vector yet."""
        self._uncut = max(0, self._uncut - self._estimate(batch))
        self._done += texts - missing
        self.expect(texts)

    def expect(self, texts: int) -> None:
        """So many more."""
        if texts:
            self._total += texts
            self._tell()

    def embedded(self, texts: int) -> None:
        self._done += texts
        self._tell()

    def _tell(self) -> None:
        self._report(self._done, self._total + self._uncut)

    def _estimate(self, batch: Batch) -> int:
        return self._targets * max(len(batch.document_ids), batch.characters // TARGET_CHARACTERS)
