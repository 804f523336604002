"""An organization moves to a partition of its own and back while it is searched and written."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio
from pgvector import HalfVector

from retrieval_sidecar.database import Connection
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import ConfigurationError, NotFound, Unavailable
from retrieval_sidecar.ingest import indexing
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.partitions import move, rule
from retrieval_sidecar.partitions.move import place_organization
from retrieval_sidecar.scope.resolve import Scope, scope_of_agent
from retrieval_sidecar.search.candidates import find_candidates
from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.statement import shape_of
from retrieval_sidecar.sql import load as load_sql
from tests.support.database import TestDatabase
from tests.support.inspection import rows, until, value
from tests.support.sidecar import TestClock, VoiceClient, connected
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID

_INGEST, _PARTITIONS = load_sql("retrieval_sidecar.ingest"), load_sql("retrieval_sidecar.partitions")
STEPS = (
    "copying",
    "indexing",
    "switching",
    "waiting for searches that began before",
    "removing the original",
)
QUESTION = Question.read("xylophone", utterance=None, language="en", default_language="en")


class Interrupted(Exception):
    pass


class Mover:
    """Moves the small organization; a test sees each step and may do something in it."""

    def __init__(self, owner: Connection, watch: Connection) -> None:
        self.owner, self.watch = owner, watch
        self.steps: list[str] = []
        self.at: dict[str, Callable[[], None]] = {}

    async def place(self, *, own: bool) -> bool:
        return await place_organization(
            self.owner, self.watch, ORGANIZATION_ID, own_partition=own, report=self._report, settle=self._settle
        )

    def _report(self, step: str, _done: int, _total: int) -> None:
        if step not in self.steps[-1:]:
            self.steps.append(step)
            self.at.pop(step, lambda: None)()

    async def _settle(self) -> None:
        return


@pytest_asyncio.fixture
async def mover(database: TestDatabase) -> AsyncIterator[Mover]:
    async with connected(database, "owner") as owner, connected(database, "owner") as watch:
        yield Mover(owner, watch)


async def where(database: TestDatabase) -> dict[int, int]:
    """How many of the organization's vectors are in which partition."""
    return dict(
        await rows(
            database,
            "select partition_id, count(*) from passage_vector where organization_id = %s group by 1",
            [ORGANIZATION_ID],
        )
    )


async def space(database: TestDatabase) -> int:
    return int(
        await value(database, "select space_id from embedding_space where organization_id = %s", [ORGANIZATION_ID])
    )


async def resolved(connection: Connection) -> Scope:
    cursor = await connection.execute("select agent_id from number_route where phone_number = %s", [OPEN_NUMBER])
    row = await cursor.fetchone()
    assert row is not None
    return await scope_of_agent(ORGANIZATION_ID, row[0], None, connection, TestClock()())


async def found(connection: Connection, scope: Scope) -> list[int]:
    """All that a scope holds, by meaning."""
    vectors = await FakeEmbedder().embed_queries(["parking garage"])
    deadline = Deadline.after(LONGEST_S)
    (candidates,) = await find_candidates(connection, scope, shape_of(scope), [QUESTION], vectors, deadline)
    return sorted(each.passage_id for each in candidates)


async def search(database: TestDatabase) -> list[int]:
    async with connected(database, "voice") as connection:
        return await found(connection, await resolved(connection))


async def test_there_and_back_again(database: TestDatabase, mover: Mover) -> None:
    before, (shared, everything) = await search(database), (await where(database)).popitem()
    assert shared == 0
    assert len(before) > 3
    assert await mover.place(own=True)
    assert tuple(mover.steps) == STEPS
    own = await space(database)
    assert await where(database) == {own: everything}
    assert await search(database) == before
    index = await rows(
        database,
        "select indisvalid, pg_get_indexdef(indexrelid) from pg_index where indexrelid = to_regclass(%s)",
        [f"passage_vector_{own}_hnsw"],
    )
    assert [valid for valid, _ in index] == [True]
    assert "halfvec(64)" in index[0][1]
    assert not await mover.place(own=True)
    assert await mover.place(own=False)
    assert await where(database) == {0: everything}
    assert await search(database) == before
    assert await value(database, "select to_regclass(%s)", [f"passage_vector_{own}"]) is None
    assert await value(database, "select count(*) from vector_count") == 0
    assert not await mover.place(own=False)


async def test_a_partition_of_its_own_is_like_the_shared_one(database: TestDatabase, mover: Mover) -> None:
    await mover.place(own=True)
    shape = (
        "select count(*) filter (where indisprimary), count(*) filter (where indpred is not null and not indisprimary)"
        " from pg_index where indrelid = %s::regclass"
    )
    own = f"passage_vector_{await space(database)}"
    ((keys, partial),) = await rows(database, shape, ["passage_vector_shared"])
    assert await rows(database, shape, [own]) == [(keys, partial + 1)]
    attributes = (
        "select attname, attstorage, attnotnull, attoptions from pg_attribute"
        " where attrelid = %s::regclass and attnum > 0 order by attnum"
    )
    assert await rows(database, attributes, [own]) == await rows(database, attributes, ["passage_vector_shared"])
    foreign = "select count(*) from pg_constraint where contype = 'f' and conrelid = %s::regclass"
    assert await value(database, foreign, [own]) == 2
    options = "select reloptions from pg_class where oid = %s::regclass"
    assert await value(database, options, [own]) == await value(database, options, ["passage_vector_shared"])


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("step", STEPS)
async def test_interrupted_anywhere_it_answers_and_goes_on_when_run_again(
    database: TestDatabase, mover: Mover, step: str, *, own: bool
) -> None:
    if not own:
        if step == "indexing":
            return  # there is nothing to index on the way back
        await mover.place(own=True)
        mover.steps.clear()
    before, everything = await search(database), sum((await where(database)).values())

    def interrupt() -> None:
        raise Interrupted

    mover.at[step] = interrupt
    with pytest.raises(Interrupted):
        await mover.place(own=own)
    assert await search(database) == before
    await mover.place(own=own)
    assert await search(database) == before
    assert await where(database) == {(await space(database)) if own else 0: everything}


async def test_an_index_that_was_not_finished_is_built_again(database: TestDatabase, mover: Mover) -> None:
    await mover.place(own=True)
    name = f"passage_vector_{await space(database)}_hnsw"
    await rows(
        database, "update pg_index set indisvalid = false where indexrelid = %s::regclass", [name], role="superuser"
    )
    assert not await mover.place(own=True)
    assert await value(database, "select indisvalid from pg_index where indexrelid = %s::regclass", [name]) is True


def one_more(item_id: UUID) -> dict[str, list[Any]]:
    """A passage for an item, as indexing writes them."""
    return {
        "item_ids": [item_id], "instruction_ids": [None], "chunk_indexes": [99], "languages": ["en"], "headings": [""],
        "contents": ["More."], "text_hashes": [b"more"], "document_hashes": [b"more"],
    }  # fmt: skip


def write(url: str, *, open_transaction: bool = False) -> psycopg.Connection[tuple[object, ...]]:
    """What others do meanwhile: one passage more, one less, one closed; committed unless it stays open."""
    connection = psycopg.connect(url, autocommit=not open_transaction)
    key = {"organization_id": ORGANIZATION_ID}
    passages = connection.execute(
        "select p.passage_id, item_id, space_id from passage p"
        " join passage_vector v using (organization_id, passage_id)"
        " where organization_id = %(organization_id)s and item_id is not null and servable"
        " and partition_id = (select partition_id from embedding_space e where e.space_id = v.space_id)"
        " order by passage_id",
        key,
    ).fetchall()
    (_, item_id, space_id), (last, *_) = passages[0], passages[-1]
    connection.execute("delete from passage where passage_id = %s", [last])
    added = connection.execute(
        _INGEST["add_passages"],
        key | one_more(item_id),
    ).fetchone()
    assert added is not None
    of_space = key | {"space_id": space_id}
    vector = HalfVector([1.0] + [0.0] * 63).to_text()
    connection.execute(_INGEST["keep_embedding"], of_space | {"text_hash": b"more", "embedding": vector})
    connection.execute(_INGEST["add_vectors"], of_space | {"passage_ids": [added[0]]})
    connection.execute("update knowledge_item set status = 'draft' where item_id <> %s", [item_id])
    connection.execute(_INGEST["refresh_facts"], key)
    return connection


async def denormalised(database: TestDatabase) -> Sequence[tuple[object, ...]]:
    """What is searched: the rows of the partition that counts."""
    return await rows(
        database,
        "select passage_id, servable, embedding::text from passage_vector v"
        " where partition_id = (select partition_id from embedding_space e where e.space_id = v.space_id) order by 1",
    )


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("step", STEPS)
async def test_what_others_write_meanwhile_is_not_lost(
    database: TestDatabase, mover: Mover, step: str, *, own: bool
) -> None:
    if not own:
        if step == "indexing":
            return
        await mover.place(own=True)
        mover.steps.clear()
    before = await denormalised(database)
    mover.at[step] = lambda: write(database.url("owner")).close()
    await mover.place(own=own)
    after = await denormalised(database)
    assert len(after) == len(before)
    assert len({row[0] for row in after} - {row[0] for row in before}) == 1
    assert sum(bool(row[1]) for row in after) < sum(bool(row[1]) for row in before)
    assert set(await where(database)) == {(await space(database)) if own else 0}
    wrong = (
        "select count(*) from passage_vector v join knowledge_item i on i.item_key = v.owner_key"
        " where not is_instruction and servable and i.status = 'draft'"
    )
    assert await value(database, wrong) == 0


async def test_a_transaction_that_writes_is_waited_for(database: TestDatabase, mover: Mover) -> None:
    writers: list[psycopg.Connection[tuple[object, ...]]] = []
    before = await denormalised(database)

    def finish() -> None:
        with writers.pop() as writer:
            writer.commit()

    mover.at["switching"] = lambda: writers.append(write(database.url("owner"), open_transaction=True))
    mover.at["waiting for others"] = finish
    assert await mover.place(own=True)
    assert "waiting for others" in mover.steps
    after = await denormalised(database)
    assert len({row[0] for row in after} - {row[0] for row in before}) == 1
    assert await where(database) == {await space(database): len(after)}


async def test_it_gives_up_on_tables_that_are_never_free(
    database: TestDatabase, mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move, "_PATIENCE_S", 0.0)
    before = await search(database)
    with write(database.url("owner"), open_transaction=True) as writer:
        with pytest.raises(Unavailable, match="goes on from here"):
            await mover.place(own=True)
        writer.rollback()
    assert await search(database) == before
    assert await mover.place(own=True)


async def test_a_writer_that_was_kept_waiting_by_the_switch_writes_to_where_it_counts(
    database: TestDatabase, mover: Mover
) -> None:
    def stop() -> None:
        raise Interrupted

    mover.at["switching"] = stop
    with pytest.raises(Interrupted):
        await mover.place(own=True)
    own = await space(database)
    item = await value(database, "select item_id from passage where item_id is not null limit 1")
    async with connected(database, "owner") as writer, connected(database, "owner") as other:
        key = {"organization_id": ORGANIZATION_ID}
        cursor = await writer.execute(
            _INGEST["add_passages"],
            key | one_more(item),
        )
        row = await cursor.fetchone()
        assert row is not None
        kept = {"space_id": own, "text_hash": b"more", "embedding": HalfVector([1.0] + [0.0] * 63)}
        await writer.execute(_INGEST["keep_embedding"], key | kept)
        values = key | {"space_id": own, "passage_ids": [row[0]]}
        # Prepared, as the pool's statements are: its plan is there before the lock is.
        async with writer.transaction(force_rollback=True):
            await writer.execute(_INGEST["add_vectors"], values, prepare=True)
        await other.execute("begin")
        await other.execute(_PARTITIONS["lock_writers"])
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(writer.execute(_INGEST["add_vectors"], values, prepare=True))

            async def waits() -> bool | None:
                waiting = "select 1 from pg_locks where not granted and relation = 'passage_vector'::regclass"
                return True if await rows(database, waiting) else None

            await until(waits)
            await other.execute(_PARTITIONS["switch"], key | {"space_id": own, "target": own})
            await other.execute("commit")
    place = "select partition_id from passage_vector where passage_id = %s"
    assert await value(database, place, [row[0]]) == own


async def test_a_search_that_read_its_scope_before_the_switch_finds_everything_after_it(
    database: TestDatabase, mover: Mover
) -> None:
    seen: list[tuple[str, list[int], list[int]]] = []
    async with connected(database, "voice") as caller:
        stale = await resolved(caller)
        before = await found(caller, stale)

        async def settle() -> None:
            fresh = await resolved(caller)
            seen.append((str(fresh.partition_id), await found(caller, stale), await found(caller, fresh)))

        for own in (True, False):
            await place_organization(mover.owner, mover.watch, ORGANIZATION_ID, own_partition=own, settle=settle)
            stale = await resolved(caller)
    own_id = str(await space(database))
    assert seen == [(own_id, before, before), ("0", before, before)]


async def test_approximate_and_exact_search_of_few_rows_are_the_same(
    database: TestDatabase, mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    await mover.place(own=True)
    async with connected(database, "voice") as caller:
        scope = await resolved(caller)
        exact = await found(caller, scope)
        monkeypatch.setattr(rule, "EXACT_ROWS", -1)
        monkeypatch.setattr(rule, "KEPT_SHARE", 0.0)
        assert await found(caller, scope) == exact
        # Its settings went with its transaction.
        cursor = await caller.execute("select current_setting('cpu_operator_cost'), current_setting('hnsw.ef_search')")
        assert await cursor.fetchone() == ("0.0025", "40")
        assert await found(caller, replace(scope, knowledge=None)) == exact


async def test_counts_are_of_what_is_stored_and_follow_it(
    database: TestDatabase, mover: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_VACUUM_FROM", 0)
    await mover.place(own=True)
    counted = "select sum(servable_rows), sum(open_rows) from vector_count where organization_id = %s"
    ((servable, open_rows),) = await rows(database, counted, [ORGANIZATION_ID])
    assert servable > open_rows > 0
    servable_now = "select count(*) from passage_vector where servable and organization_id = %s"
    assert servable == await value(database, servable_now, [ORGANIZATION_ID])
    async with connected(database, "manage") as manager:
        await manager.execute("update knowledge_item set status = 'draft'")
        await manager.execute(_INGEST["refresh_facts"], {"organization_id": ORGANIZATION_ID})
        notices: list[str | None] = []
        manager.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        await index_organization(manager, FakeEmbedder(), ORGANIZATION_ID)
        # It may vacuum the partition that another role made.
        assert notices == []
    ((fewer, _),) = await rows(database, counted, [ORGANIZATION_ID])
    assert 0 < fewer < servable
    assert set(await where(database)) == {await space(database)}


async def test_what_was_a_large_organizations_goes_with_it(database: TestDatabase, mover: Mover) -> None:
    await mover.place(own=True)
    own = await space(database)
    await rows(database, "insert into organization (organization_id, name) values (gen_random_uuid(), 'Other')")
    await rows(database, "insert into embedding_space (organization_id, model, dimensions, active)"
               " select organization_id, 'm', 64, true from organization where name = 'Other'")  # fmt: skip
    other: UUID = await value(database, "select organization_id from organization where name = 'Other'")
    await rows(database, "delete from embedding_space where organization_id = %s", [ORGANIZATION_ID])
    await place_organization(mover.owner, mover.watch, other, own_partition=False)
    assert await value(database, "select to_regclass(%s)", [f"passage_vector_{own}"]) is None


async def test_only_the_owner_moves_and_only_one_at_a_time(database: TestDatabase, mover: Mover) -> None:
    async with connected(database, "manage") as manager:
        with pytest.raises(ConfigurationError, match="ANSWERLINE_OWNER_DATABASE_URL"):
            await place_organization(manager, mover.watch, ORGANIZATION_ID, own_partition=True)
        await manager.execute(_PARTITIONS["begin_moving"])
        with pytest.raises(Unavailable):
            await mover.place(own=True)
        await manager.execute(_PARTITIONS["end_moving"])
    with pytest.raises(NotFound):
        await place_organization(mover.owner, mover.watch, UUID(int=1), own_partition=True)
    assert set(await where(database)) == {0}


async def test_the_voice_api_answers_from_a_partition_of_its_own(
    voice: VoiceClient, database: TestDatabase, mover: Mover
) -> None:
    session = await voice.open(OPEN_NUMBER)
    before = await session.search("parking garage")
    assert before["status"] == "ok"
    await mover.place(own=True)
    after = await session.search("parking garage")
    assert after["results"] == before["results"]
