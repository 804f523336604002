"""The bench, end to end on tiny data: its rows are those that the product would write, and what it reports adds up."""

import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from psycopg import sql
from rich.console import Console

from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.sql import load as load_sql
from tests.bench.database import bench_data
from tests.bench.plan import TINY
from tests.bench.report import figures, show
from tests.bench.runner import run
from tests.bench.tenant import SELECTIONS, organization_id
from tests.bench.texts import Fillers, words_of
from tests.bench.verdicts import judge
from tests.support.database import TestDatabase
from tests.support.sidecar import connected

PLAN = replace(TINY, databases=(700,), peer_rows=700, searches=6)
INDEXES = "select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname"


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    # Not under pytest's own folder: that is private to root, and PostgreSQL never runs as root.
    folder = Path(tempfile.mkdtemp(prefix="answerline-bench-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def test_the_rows_are_those_that_indexing_would_write(
    cache: Path, postgres: LocalServer, empty_template: str
) -> None:
    refresh = sql.SQL(load_sql("retrieval_sidecar.ingest")["refresh_facts"])
    async with connected(TestDatabase(postgres, empty_template), "owner") as migrated:
        expected = await (await migrated.execute(INDEXES)).fetchall()
    async with bench_data(PLAN, FakeEmbedder(), Console(file=io.StringIO()), cache) as data:
        for database in data.databases:
            async with connected(database.test, "manage") as connection:
                changed = await connection.execute(
                    refresh, {"organization_id": organization_id(database.under_test.number)}
                )
                assert changed.rowcount == 0
                counts = await connection.execute(
                    """
                    select (select count(*) from passage), (select count(*) from passage_vector),
                        (select count(*) from passage_words),
                        (select count(*) from passage p join knowledge_item i using (organization_id, item_id)
                            join source using (organization_id, source_id)
                            join knowledge_base using (organization_id, base_id))
                    """
                )
                assert await counts.fetchone() == (database.passages,) * 4
                item = database.under_test.items[0]
                words = words_of(item.title, item.facts[0], Fillers()[1])
                same = await connection.execute(
                    "select words = array_to_tsvector(%s::text[]) from passage_words where passage_id = 1", [words]
                )
                assert await same.fetchone() == (True,)
                indexes = await (await connection.execute(INDEXES)).fetchall()
                # Partitions that large organizations were given have their own.
                assert [row for row in indexes if not re.match(r"passage_vector_\d+_", row[0])] == expected


async def test_a_whole_run(cache: Path, tmp_path: Path) -> None:
    said = io.StringIO()
    console = Console(file=said, width=160)
    found = await run(PLAN, FakeEmbedder(), "fake", console, tmp_path / "sidecar.log", with_peers=False, cache=cache)
    assert [(row["passages"], row["selection"], row["clients"]) for row in found["search"]] == [
        (passages, selection, clients)
        for passages in PLAN.databases
        for selection in SELECTIONS
        for clients in (1, PLAN.clients)
    ]
    for row in found["search"]:
        assert row["sql"]["n"] == PLAN.searches
        assert 0 < row["sql"]["p50"] <= row["sql"]["p95"] <= row["sql"]["p99"]
        assert row["http"]["n"] == sum(row["statuses"].values()) > 0
        assert row["rows"] > 0
    correctness = {each.what: each.outcome for each in judge(found) if each.is_correctness}
    assert len(correctness) == 3
    assert set(correctness.values()) == {"held"}
    assert {row["passages"] for row in found["large"]} == set(PLAN.large)
    assert all(disk["bytes_a_passage"] > 0 for disk in found["memory"]["disk"])
    show(found, judge(found), console)
    assert all(table.title in said.getvalue() for table in figures(found, judge(found)))
    assert [table.name for table in figures(found, judge(found)) if not table.rows] == ["peers"]
