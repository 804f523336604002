"""Workers that are killed in the middle of it: the next one goes on, and what comes of it is what would have come."""

import json
import random
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.sources.sources import Kind
from tests.support.added import FIRST, a_base, a_source, organizations
from tests.support.database import TestDatabase, clone
from tests.support.doomed_worker import Doomed
from tests.support.inspection import rows, until, value
from tests.support.jobs import process, workshop
from tests.support.sidecar import connected

pytestmark = pytest.mark.timeout(200)

PARTS = 200
DOCUMENT = "\n\n".join(
    f"# Lamp {number}\n\nThe lamp LX-{number} costs {number * 7 % 100} euros. " + f"It is number {number}. " * 70
    for number in range(PARTS)
)
LINES = 2_400


def jsonl() -> bytes:
    """An import of so many lines, some of which are not taken: bad ones, and ids that stand before."""
    lines = []
    for number in range(LINES):
        line: dict[str, Any] = {
            "external_id": f"lamp-{number}",
            "title": f"Lamp {number}",
            "content": f"The lamp LX-{number} costs {number * 7 % 100} euros.",
            "language": "en" if number % 3 else "de",
            "region_code": "GLOBAL",
            "status": "published",
            "source_hash": f"{number}",
            "shelf": number % 10,
        }
        if number % 97 == 5:
            line["external_id"] = f"lamp-{number - 3}"
        if number % 101 == 7:
            del line["title"]
        lines.append(json.dumps(line))
    return "\n".join(lines).encode()


async def added(database: TestDatabase, kind: Kind, content: str | bytes) -> UUID:
    await organizations(database, FIRST)
    async with connected(database, "manage") as connection:
        source = await a_source(connection, await a_base(connection), content, kind=kind, name="lamps")
    return source.source_id


async def outcome(database: TestDatabase) -> dict[str, list[tuple[Any, ...]]]:
    """All that came of a source, without ids and times."""
    return {
        "source": await rows(
            database,
            "select name, status, is_processing, characters, error_code, content_type, size_bytes from source",
        ),
        "items": await rows(
            database,
            "select i.external_id, i.title, i.content, i.source_hash, i.language, i.region_code, i.status,"
            " i.visibility, i.channels, i.valid_from::text, i.valid_to::text, i.open_minutes::text, i.source_url,"
            " i.metadata, f.folder_key like 'base:%%' from knowledge_item i"
            " join folder f using (organization_id, folder_id) order by 1",
        ),
        "passages": await rows(
            database,
            "select i.external_id, p.chunk_index, p.language, p.heading, p.content, p.text_hash, w.words::text,"
            " v.servable, v.valid_from::text, v.valid_to::text, v.segment_ids, v.region_code, c.embedding::text"
            " from passage p join knowledge_item i using (organization_id, item_id)"
            " join passage_words w using (organization_id, passage_id)"
            " join passage_vector v using (organization_id, passage_id)"
            " join embedding_cache c on c.organization_id = p.organization_id and c.text_hash = p.text_hash"
            " order by 1, 2",
        ),
        "codes": await rows(
            database,
            "select i.external_id, p.chunk_index, c.code from passage_code c"
            " join passage p using (organization_id, passage_id)"
            " join knowledge_item i using (organization_id, item_id) order by 1, 2, 3",
        ),
        "accounting": await rows(
            database,
            "select status, bytes_read, lines_read, created, updated, unchanged, rejected, texts_embedded, texts"
            " from ingest_run where status = 'done'",
        ),
        "rejections": await rows(database, "select line, field, reason from ingest_rejection order by 1, 2"),
        "kept": await rows(database, "select text_hash from embedding_cache order by 1"),
        "common": await rows(database, "select word, passages from common_word order by 1"),
    }


async def vectors(database: TestDatabase) -> np.ndarray[Any, np.dtype[np.float32]]:
    found = await rows(
        database,
        "select v.embedding::text from passage_vector v join passage p using (organization_id, passage_id)"
        " join knowledge_item i using (organization_id, item_id) order by i.external_id, p.chunk_index",
    )
    return np.array([[float(each) for each in row[0].strip("[]").split(",")] for row in found], np.float32)


async def counter(database: TestDatabase, column: str) -> int:
    found = await rows(database, "select to_jsonb(r) from ingest_run r where status = 'running'")
    return int(found[0][0][column]) if found else 0


async def embedded(database: TestDatabase, doomed: Doomed, least: int) -> None:
    """Until so many texts are embedded, and the worker waits for leave to go on."""
    while (before := await counter(database, "texts_embedded")) < least:
        doomed.permits.release()

        async def more(before: int = before) -> bool | None:
            return await counter(database, "texts_embedded") > before or None

        await until(more, seconds=60)


async def all_done(database: TestDatabase) -> bool | None:
    return not await value(database, "select is_processing from source") or None


async def lines_read(database: TestDatabase, least: int) -> None:
    async def enough() -> bool | None:
        return await counter(database, "lines_read") >= least or None

    await until(enough, seconds=60)


async def finish(database: TestDatabase, doomed: Doomed) -> None:
    with doomed.working():
        for _ in range(LINES):
            doomed.permits.release()
        await until(lambda: all_done(database), seconds=60)


async def test_a_document_comes_out_as_if_nobody_had_been_killed(postgres: LocalServer, empty_template: str) -> None:
    points = sorted(random.Random(44).sample(range(1, PARTS - 32), 1))
    with clone(postgres, empty_template) as quiet, clone(postgres, empty_template) as database:
        await process(workshop(quiet), await added(quiet, "file", DOCUMENT))
        source_id = await added(database, "file", DOCUMENT)
        doomed = Doomed(database.url("manage"))
        async with JobQueue(database.url("manage")) as queue:
            await queue.request(FIRST, source_id)
        for point in points:
            with doomed.working():
                await embedded(database, doomed, point)
            assert await value(database, "select count(*) from passage") == 0
        await finish(database, doomed)
        assert await value(database, "select count(*) from passage") >= PARTS
        assert await outcome(database) == await outcome(quiet)


async def test_an_import_comes_out_as_if_nobody_had_been_killed(postgres: LocalServer, empty_template: str) -> None:
    chance = random.Random(44)
    of_lines = sorted(chance.sample(range(1, LINES - 700), 4))
    of_texts = sorted(chance.sample(range(1, LINES - 200), 6))
    with clone(postgres, empty_template) as quiet, clone(postgres, empty_template) as database:
        await process(workshop(quiet), await added(quiet, "jsonl", jsonl()))
        source_id = await added(database, "jsonl", jsonl())
        doomed = Doomed(database.url("manage"))
        async with JobQueue(database.url("manage")) as queue:
            await queue.request(FIRST, source_id)
        for point in of_lines:
            with doomed.working():
                await lines_read(database, point)
        assert await value(database, "select count(*) from passage") == 0
        for point in of_texts:
            with doomed.working():
                await embedded(database, doomed, point)
            # Nobody hears of a source that is not ready yet.
            assert await value(database, "select count(*) from passage_vector where servable") == 0
        await finish(database, doomed)
        now, expected = await outcome(database), await outcome(quiet)
        assert now.keys() == expected.keys()
        assert [name for name in now if now[name] != expected[name]] == []
        assert len(now["passages"]) == len(now["items"]) > LINES * 0.95
        assert np.allclose(await vectors(database), await vectors(quiet), atol=0.02)
