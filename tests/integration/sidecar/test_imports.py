"""JSONL imports: each line accounted for once, whatever stands in it and however often the import is interrupted."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import NotFound, Unavailable
from retrieval_sidecar.ingest import imports, records
from retrieval_sidecar.ingest.imports import import_lines
from retrieval_sidecar.ingest.indexing import index_organization
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.pieces import pieces
from tests.support.sidecar import connected
from tests.support.small_organization import ORGANIZATION_ID, item
from tests.support.sources import new_run, new_source

COUNTS = "select bytes_read, lines_read, created, updated, unchanged, rejected from ingest_run where run_id = %s"
ITEMS = (
    "select external_id, title, content, source_hash, language, region_code, status, visibility, channels,"
    " (valid_from at time zone 'UTC')::text, (valid_to at time zone 'UTC')::text, open_minutes::text, source_url,"
    " metadata, deleted_at, folder_key, array(select s.key from item_segment"
    " join segment s using (organization_id, segment_id) where item_id = i.item_id order by 1)"
    " from knowledge_item i join folder using (organization_id, folder_id) where source_id = %s order by 1"
)


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with connected(database, "manage") as connection:
        yield connection


@pytest_asyncio.fixture
async def source_id(database: TestDatabase) -> UUID:
    return await new_source(database, "items", kind="jsonl")


@pytest_asyncio.fixture
async def run_id(database: TestDatabase, source_id: UUID) -> UUID:
    return await new_run(database, source_id)


def line(external_id: str, /, **changes: Any) -> bytes:
    return json.dumps(item(external_id, f"Title {external_id}", f"Content of {external_id}.") | changes).encode()


def file(*lines: bytes) -> bytes:
    return b"".join(each + b"\n" for each in lines)


async def read(
    database: TestDatabase,
    connection: Connection,
    source_id: UUID,
    content: bytes,
    run_id: UUID | None = None,
    *,
    end: bool = True,
) -> tuple[int, ...]:
    """Import a file; lines read, created, updated, unchanged and rejected.

    Args:
        end: whether the run is over then, as it is once the items are indexed.
    """
    run_id = run_id or await new_run(database, source_id)
    await import_lines(connection, ORGANIZATION_ID, source_id, run_id, pieces(content, 1000))
    ((bytes_read, *counts),) = await rows(database, COUNTS, [run_id])
    assert bytes_read == len(content)
    if end:
        await rows(database, "update ingest_run set status = 'done', ended_at = now() where run_id = %s", [run_id])
    return tuple(counts)


async def rejections(database: TestDatabase, run_id: UUID) -> list[tuple[Any, ...]]:
    return await rows(
        database, "select line, field, reason from ingest_rejection where run_id = %s order by 1, 2", [run_id]
    )


async def test_a_line_becomes_an_item_with_all_its_fields(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID
) -> None:
    full = line(
        "full",
        folder="upload:Prices",
        visibility="internal",
        channels=["phone", "chat"],
        segments=["staff", "members", "staff"],
        valid_from="2026-01-01",
        valid_until="2026-01-31",
        schedule={"mon": [["09:00", "10:00"]]},
        source_url="https://example.com/full",
        question="What is it?",
        base="elsewhere",
        note={"deep": [1, None, "ü"]},
    )
    assert await read(database, manage, source_id, file(line("plain"), full)) == (2, 2, 0, 0, 0)
    base = await value(database, "select base_id from source where source_id = %s", [source_id])
    found, plain = await rows(database, ITEMS, [source_id])
    content_hash = item("full", "", "Content of full.")["source_hash"]
    assert found == (
        "full", "Title full", "## What is it?\n\nContent of full.", content_hash, "en", "DE", "published", "internal",
        ["phone", "chat"], "2025-12-31 23:00:00", "2026-01-31 23:00:00", "{[540,600)}", "https://example.com/full",
        {"base": "elsewhere", "note": {"deep": [1, None, "ü"]}, "question": "What is it?"}, None, "upload:Prices",
        ["members", "staff"],
    )  # fmt: skip
    assert plain == (
        "plain", "Title plain", "Content of plain.", item("plain", "", "Content of plain.")["source_hash"], "en", "DE",
        "published", "public", ["phone"], "-infinity", "infinity", None, None, {}, None, f"base:{base}", [],
    )  # fmt: skip


async def test_the_same_file_again_touches_no_row(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID
) -> None:
    async def touched() -> Sequence[Any]:
        # xmax too: a row that is only locked is written all the same.
        return [
            await rows(database, "select ctid::text, xmin::text, xmax::text from knowledge_item order by item_key"),
            await rows(database, "select ctid::text, xmin::text from item_segment order by 1"),
            await rows(database, "select ctid::text, xmin::text from folder order by 1"),
        ]

    content = file(*(line(f"n{n}", segments=["staff"], schedule={"mon": [["09:00", "10:00"]]}) for n in range(20)))
    assert await read(database, manage, source_id, content) == (20, 20, 0, 0, 0)
    before = await touched()
    assert await read(database, manage, source_id, content) == (20, 0, 0, 20, 0)
    assert await touched() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"source_hash": "another"},
        {"title": "Another"},
        {"content": "Another."},
        {"language": "de"},
        {"region_code": "FR"},
        {"status": "draft"},
        {"visibility": "internal"},
        {"channels": ["chat"]},
        {"folder": "upload:Another"},
        {"segments": ["staff"]},
        {"segments": ["members", "staff"]},
        {"segments": []},
        {"valid_from": "2026-01-01"},
        {"valid_until": "2036-01-01"},
        {"schedule": {"mon": [["09:00", "10:00"]]}},
        {"source_url": "https://example.com/another"},
        {"keywords": "another"},
        {"note": "another"},
    ],
    ids="-".join,
)
async def test_a_field_that_changes_replaces_that_item_alone(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID, changes: dict[str, Any]
) -> None:
    where = "select external_id, item_id, item_key, ctid::text from knowledge_item where source_id = %s order by 1"
    old = [line(name, segments=["members"]) for name in "abc"]
    await read(database, manage, source_id, file(*old))
    before = await rows(database, where, [source_id])
    new = line("b", **({"segments": ["members"]} | changes))
    assert await read(database, manage, source_id, file(old[0], new, old[2])) == (3, 0, 1, 2, 0)
    after = await rows(database, where, [source_id])
    assert [row[:3] for row in after] == [row[:3] for row in before]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]
    stored = [row for row in await rows(database, ITEMS, [source_id]) if row[0] == "b"]
    await read(database, manage, await new_source(database, "fresh", kind="jsonl"), file(new))
    fresh = await value(database, "select source_id from source where name = 'fresh'")
    assert stored == await rows(database, ITEMS, [fresh])


async def test_a_deleted_item_that_the_file_has_comes_back(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID
) -> None:
    await read(database, manage, source_id, file(line("a"), line("b")))
    await rows(database, "update knowledge_item set deleted_at = now() where external_id = 'a'")
    assert await read(database, manage, source_id, file(line("a"), line("b"))) == (2, 0, 1, 1, 0)
    assert await value(database, "select count(*) from knowledge_item where deleted_at is not null") == 0


async def test_what_an_import_closes_is_closed_before_it_is_indexed(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID
) -> None:
    await rows(database, "update source set status = 'ready' where source_id = %s", [source_id])
    await read(database, manage, source_id, file(line("a"), line("b"), line("c")))
    await index_organization(manage, FakeEmbedder(), ORGANIZATION_ID, source_id=source_id)
    closed = file(line("a", status="draft"), line("b", segments=["staff"]), line("c"))
    await read(database, manage, source_id, closed)
    staff = await value(database, "select segment_id from segment where key = 'staff'")
    assert await rows(
        database,
        "select i.external_id, v.servable, v.segment_ids from passage_vector v join passage p using"
        " (organization_id, passage_id) join knowledge_item i using (organization_id, item_id)"
        " where i.source_id = %s order by 1",
        [source_id],
    ) == [("a", False, None), ("b", True, [staff]), ("c", True, None)]


BAD: list[tuple[bytes, str, str]] = [
    (b"{", "line", "is not JSON: Expecting property name enclosed in double quotes at column 2"),
    (line("latin")[:-1] + b', "note": "\xe9"}', "line", "is not UTF-8"),
    (b'{"external_id": "a\x00b"}', "line", "is not JSON: Invalid control character at column 19"),
    (b"[]", "document", "Input should be a valid dictionary or instance of Item"),
    (b'{"n": ' + b"9" * 5000 + b"}", "line", "holds a number that is too long, or is nested too deep"),
    (line("nul", title="a\x00b"), "title", "must not hold the character NUL or half of a surrogate pair"),
    (line("language", language="english"), "language", "String should match pattern '^[a-z]{2,3}$'"),
    (line("window", valid_from="2026-02-02", valid_until="2026-02-01"), "valid_until", "must come after valid_from"),
    (
        line("nobody", segments=["staff", "martians"]),
        "segments.1",
        "is no segment of this organization: add it first, or leave it out",
    ),
    (line("first"), "external_id", "stands in an earlier line of this file: give each item its own"),
    (line("x" * 201), "external_id", "String should have at most 200 characters"),
    (
        line("odd")[:-1] + b', "no\\u0000te": "\\ud83d"}',
        "no�te",
        "must not hold the character NUL or half of a surrogate pair",
    ),
]


async def test_no_line_stops_the_others_and_each_is_told_by_number_field_and_reason(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID, run_id: UUID
) -> None:
    content = b"\xef\xbb\xbf" + file(line("first"), *(bad for bad, _, _ in BAD), b" ") + line("last") + b"\r\n\r\n"
    counts = await read(database, manage, source_id, content, run_id)
    assert counts == (2 + len(BAD), 2, 0, 0, len(BAD))
    assert await rejections(database, run_id) == [
        (number, field, reason) for number, (_, field, reason) in enumerate(BAD, start=2)
    ]


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        pytest.param(b"", (0, 0, 0, 0, 0), id="empty"),
        pytest.param(b"\xef\xbb\xbf\n\r\n \n", (0, 0, 0, 0, 0), id="blank lines"),
        pytest.param(line("a"), (1, 1, 0, 0, 0), id="no line end at the end"),
        pytest.param(line("a") + b"\r\n" + line("b") + b"\r\n", (2, 2, 0, 0, 0), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + line("a"), (1, 1, 0, 0, 0), id="byte order mark"),
        pytest.param(b"\x00" * 3000, (1, 0, 0, 0, 1), id="NUL bytes"),
        pytest.param(line("a", content="x" * 500_001), (1, 0, 0, 0, 1), id="a content that is too long"),
        pytest.param(b"[" * 5_000_000, (1, 0, 0, 0, 1), id="one line without end"),
        pytest.param(b"[" * 5_000_000 + b"\n" + line("a"), (2, 1, 0, 0, 1), id="a line without end, and another"),
        pytest.param(line("a").decode().encode("utf-16"), (1, 0, 0, 0, 1), id="UTF-16"),
    ],
)
async def test_any_file_comes_to_an_end(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    source_id: UUID,
    content: bytes,
    counts: tuple[int, ...],
) -> None:
    assert await read(database, manage, source_id, content) == counts


async def test_the_first_thousand_rejections_are_told_and_all_are_counted(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    source_id: UUID,
    run_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(imports, "_MOST_REJECTIONS", 25)
    monkeypatch.setattr(records, "BATCH_LINES", 10)
    counts = await read(database, manage, source_id, file(*[b"{}"] * 40, line("a")), run_id)
    assert counts == (41, 1, 0, 0, 40)
    told = await rejections(database, run_id)
    assert sorted({number for number, _, _ in told}) == list(range(1, 26))
    assert len(told) == 25 * 7


class Interrupted(Exception):
    pass


def interrupting(after: int) -> Callable[..., Awaitable[None]]:
    """Ends an import within the transaction of its nth batch, when all of that is written."""
    account, count = imports._account, 0

    async def once(*args: Any) -> None:
        nonlocal count
        await account(*args)
        count += 1
        if count == after:
            raise Interrupted

    return once


MIXED = [
    *(line(f"n{n % 23}", note=n) for n in range(60)),
    b"",
    b"{",
    line("n1", language="english"),
    *(line(f"m{n}") for n in range(20)),
    line("m3"),
    b"[" * 3000,
]


@pytest.mark.parametrize("after", range(1, 10))
async def test_interrupted_anywhere_and_gone_on_with_it_comes_to_the_same(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    source_id: UUID,
    after: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "BATCH_LINES", 9)
    content = file(*MIXED)
    other = await new_source(database, "undisturbed", kind="jsonl", base="Other")
    for each in (source_id, other):
        await read(database, manage, each, file(line("n3", note=3), line("n4", note=-1), line("gone")))
    undisturbed, disturbed = await new_run(database, other), await new_run(database, source_id)
    counts = await read(database, manage, other, content, undisturbed)
    with monkeypatch.context() as patch:
        patch.setattr(imports, "_account", interrupting(after))
        with pytest.raises(Interrupted):
            await import_lines(manage, ORGANIZATION_ID, source_id, disturbed, pieces(content, 1000))
    ((bytes_read, lines_read, *_),) = await rows(database, COUNTS, [disturbed])
    assert (bytes_read == 0) == (after == 1)
    assert lines_read < counts[0]
    assert await read(database, manage, source_id, content, disturbed, end=False) == counts
    assert counts == (84, 41, 1, 1, 41)
    assert await rejections(database, disturbed) == await rejections(database, undisturbed)
    mine, theirs = await rows(database, ITEMS, [source_id]), await rows(database, ITEMS, [other])
    assert [row[:-2] for row in mine] == [row[:-2] for row in theirs]
    assert await value(database, "select count(*) from ingest_taken") == 0
    # Once it is at the end, there is nothing left to do.
    await import_lines(manage, ORGANIZATION_ID, source_id, disturbed, pieces(content, 1000))
    assert (await rows(database, COUNTS, [disturbed]))[0][1:] == counts


async def test_a_run_that_is_over_is_not_gone_on_with(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID, run_id: UUID
) -> None:
    counts = await read(database, manage, source_id, file(line("one")), run_id)
    with pytest.raises(NotFound):
        await import_lines(manage, ORGANIZATION_ID, source_id, run_id, pieces(file(line("one"), line("two")), 1000))
    assert (await rows(database, COUNTS, [run_id]))[0][1:] == counts


async def test_two_who_read_one_import_count_nothing_twice(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    source_id: UUID,
    run_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "BATCH_LINES", 10)
    content = file(*(line(f"n{n}") for n in range(40)))
    held, go_on = asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        held.set()
        await go_on.wait()
        yield content[len(content) // 2 :]

    async with connected(database, "manage") as other:
        stalled = asyncio.create_task(import_lines(other, ORGANIZATION_ID, source_id, run_id, slowly()))
        await held.wait()
        counts = await read(database, manage, source_id, content, run_id, end=False)
        go_on.set()
        with pytest.raises(Unavailable, match="Another process"):
            await stalled
    assert counts == (40, 40, 0, 0, 0)
    assert (await rows(database, COUNTS, [run_id]))[0][1:] == counts


@pytest.mark.parametrize("gone", ["source", "ingest_run"])
async def test_a_source_that_is_deleted_meanwhile_leaves_nothing(
    database: TestDatabase,
    manage: psycopg.AsyncConnection[Any],
    source_id: UUID,
    run_id: UUID,
    gone: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "BATCH_LINES", 2)
    content = file(*(line(f"n{n}") for n in range(10)))

    async def deleting() -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        await rows(database, "delete from source where source_id = %s", [source_id])
        yield content[len(content) // 2 :]

    with pytest.raises(NotFound):
        await import_lines(manage, ORGANIZATION_ID, source_id, run_id, deleting())
    assert await value(database, "select count(*) from knowledge_item where external_id ~ '^n[0-9]'") == 0
    with pytest.raises(NotFound):
        await import_lines(manage, ORGANIZATION_ID, source_id, run_id, pieces(content))


async def test_a_long_file_is_read_in_bounded_memory(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID, run_id: UUID
) -> None:
    lines, peaks = 12_000, []

    async def generated() -> AsyncIterator[bytes]:
        for start in range(0, lines, 100):
            yield file(*(line(f"n{n}", note="x" * 1000) for n in range(start, start + 100)))
            if start % 2_000 == 0:
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.reset_peak()

    tracemalloc.start()
    try:
        await import_lines(manage, ORGANIZATION_ID, source_id, run_id, generated())
    finally:
        tracemalloc.stop()
    ((bytes_read, lines_read, *_),) = await rows(database, COUNTS, [run_id])
    assert lines_read == lines
    assert bytes_read > 14_000_000
    # It holds a batch, whether two thousand lines are read or twelve.
    assert max(peaks[1:]) < 12_000_000
    assert peaks[-1] < 1.3 * peaks[1]


async def test_no_name_of_the_import_or_content_is_in_an_error(
    database: TestDatabase, manage: psycopg.AsyncConnection[Any], source_id: UUID, run_id: UUID, tmp_path: Path
) -> None:
    secret = "xylophone"
    lines = [
        line("a", language=secret),
        line("b", segments=[secret]),
        line(secret),
        line(secret),
        line("c", valid_from=secret),
        line("d", folder=secret),
        f'{{"title": "{secret}'.encode(),
    ]
    assert (await read(database, manage, source_id, file(*lines), run_id))[-1] == len(lines) - 1
    assert secret not in str(await rejections(database, run_id))
