"""Bases and sources as operators add, change and remove them: limits, names, and nothing of other tenants."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, InvalidRequest, LimitReached, NotFound, PayloadTooLarge
from retrieval_sidecar.sources import bases, contents, sources
from retrieval_sidecar.sources.limits import SourceLimits
from tests.support.added import FIRST, SECOND, a_base, a_source, organizations, pieces
from tests.support.database import TestDatabase
from tests.support.inspection import row_counts, rows, value
from tests.support.sidecar import connected
from tests.support.small_organization import ORGANIZATION_ID

CONTENT = bytes(range(256)) * 10_000  # of three parts


@pytest_asyncio.fixture
async def connection(empty_database: TestDatabase) -> AsyncIterator[Connection]:
    await organizations(empty_database, FIRST, SECOND)
    async with connected(empty_database, "manage") as connection:
        yield connection


@pytest_asyncio.fixture
async def shop(database: TestDatabase) -> AsyncIterator[Connection]:
    """The small organization, which has agents and items."""
    async with connected(database, "manage") as connection:
        yield connection


async def counts(database: TestDatabase) -> dict[str, int]:
    async with connected(database, "owner") as owner:
        return await row_counts(owner)


async def test_a_base_is_made_found_listed_and_renamed(connection: Connection) -> None:
    made = await bases.create_base(connection, FIRST, " Help  desk ", SourceLimits())
    assert (made.name, made.sources, made.items, made.passages, made.agents) == ("Help desk", 0, 0, 0, ())
    renamed = await bases.rename_base(connection, FIRST, made.base_id, "Support")
    assert renamed.name == "Support"
    assert await bases.find_base_by_name(connection, FIRST, "Support") == made.base_id
    assert await bases.find_base_by_name(connection, FIRST, "Help desk") is None
    for name in ("C", "A", "B"):
        await a_base(connection, name=name)
    assert [base.name for base in await bases.list_bases(connection, FIRST, limit=2)] == ["A", "B"]
    assert [base.name for base in await bases.list_bases(connection, FIRST, after="B", limit=9)] == ["C", "Support"]


async def test_a_name_is_one_base_s(connection: Connection) -> None:
    await a_base(connection, name="A")
    other = await a_base(connection, name="B")
    for attempt in (
        bases.create_base(connection, FIRST, "A", SourceLimits()),
        bases.rename_base(connection, FIRST, other, "A"),
    ):
        with pytest.raises(Conflict) as raised:
            await attempt
        assert raised.value.field == "name"
    assert (await bases.rename_base(connection, FIRST, other, "B")).name == "B"
    await a_base(connection, SECOND, "A")


async def test_an_organization_has_so_many_bases_and_no_more(connection: Connection) -> None:
    limits = SourceLimits(bases=2)
    for name in ("A", "B"):
        await bases.create_base(connection, FIRST, name, limits)
    with pytest.raises(LimitReached, match=r"2 knowledge bases.*ANSWERLINE_MAX_BASES"):
        await bases.create_base(connection, FIRST, "C", limits)
    await bases.create_base(connection, SECOND, "C", limits)
    with pytest.raises(NotFound):
        await bases.create_base(connection, uuid4(), "C", limits)


async def test_two_at_once_do_not_pass_a_limit_together(empty_database: TestDatabase, connection: Connection) -> None:
    limits = SourceLimits(bases=1, sources=1)

    async def attempt(work: Callable[[Connection], Awaitable[Any]]) -> bool:
        async with connected(empty_database, "manage") as own:
            try:
                await work(own)
            except LimitReached:
                return False
            return True

    made = await asyncio.gather(
        *(attempt(lambda own, name=name: bases.create_base(own, FIRST, name, limits)) for name in "ABCD")  # type: ignore[misc]
    )
    assert sorted(made) == [False, False, False, True]
    (base,) = await bases.list_bases(connection, FIRST)
    added = await asyncio.gather(
        *(attempt(lambda own, name=name: a_source(own, base.base_id, name=name, limits=limits)) for name in "ABCD")  # type: ignore[misc]
    )
    assert sorted(added) == [False, False, False, True]


async def test_a_base_that_agents_use_stays_and_they_are_named(shop: Connection) -> None:
    found = {base.name: base for base in await bases.list_bases(shop, ORGANIZATION_ID)}
    assert [agent.name for agent in found["Main"].agents] == ["selected"]  # by an item of it
    assert found["Other"].agents == ()
    assert (found["Main"].items, found["Main"].passages, found["Main"].sources) == (10, 10, 1)
    with pytest.raises(Conflict, match="used by selected"):
        await bases.delete_base(shop, ORGANIZATION_ID, found["Main"].base_id)
    await bases.delete_base(shop, ORGANIZATION_ID, found["Other"].base_id)
    assert [base.name for base in await bases.list_bases(shop, ORGANIZATION_ID)] == ["Main"]


@pytest.mark.parametrize("by", ["base", "folder"])
async def test_a_base_is_used_by_whoever_selects_it_or_its_folder(
    database: TestDatabase, shop: Connection, by: str
) -> None:
    (_, other) = await bases.list_bases(shop, ORGANIZATION_ID)
    agent_id = await value(database, "select agent_id from phone_agent where name = 'empty'")
    if by == "base":
        await rows(
            database,
            "insert into agent_knowledge_base (organization_id, agent_id, base_id) values (%s, %s, %s)",
            [ORGANIZATION_ID, agent_id, other.base_id],
        )
    else:
        await rows(
            database,
            "insert into agent_folder select organization_id, %s, folder_id from folder where folder_key = %s",
            [agent_id, f"base:{other.base_id}"],
        )
    with pytest.raises(Conflict, match="used by empty"):
        await bases.delete_base(shop, ORGANIZATION_ID, other.base_id)


async def test_a_source_that_goes_takes_with_it_all_that_came_of_it(database: TestDatabase, shop: Connection) -> None:
    (main, other) = await bases.list_bases(shop, ORGANIZATION_ID)
    before = await counts(database)
    (of_other,) = await sources.list_sources(shop, ORGANIZATION_ID, other.base_id)
    assert (of_other.items, of_other.passages, of_other.status, of_other.is_searchable) == (1, 1, "ready", True)
    await sources.delete_source(shop, ORGANIZATION_ID, of_other.source_id)
    after = await counts(database)
    gone = {table: before[table] - after[table] for table in before if before[table] != after[table]}
    rows_of_its_own = ("source", "knowledge_item", "passage", "passage_vector", "passage_words", "passage_code")
    assert [gone.pop(table) for table in rows_of_its_own] == [1, 1, 1, 1, 1, 1]
    assert gone == {"embedding_cache": 1, "passage_vector_shared": 1}
    (of_main,) = await sources.list_sources(shop, ORGANIZATION_ID, main.base_id)
    await sources.delete_source(shop, ORGANIZATION_ID, of_main.source_id)
    # What was selected is gone, and the agent is as restricted as it was.
    assert (await counts(database))["agent_item"] == 0
    assert await value(database, "select knowledge_scope_mode from phone_agent where name = 'selected'") == "selected"


async def test_a_file_is_kept_to_the_byte_and_waits(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(
        connection, await a_base(connection), CONTENT, content_type="application/pdf", created_by="ada"
    )
    assert (source.kind, source.name, source.size_bytes, source.content_type) == (
        "file",
        "hours.md",
        len(CONTENT),
        "application/pdf",
    )
    assert (source.status, source.is_searchable, source.error, source.created_by) == ("processing", False, None, "ada")
    assert source.run is None
    assert await value(empty_database, "select count(*) from source_part") == 3
    assert b"".join([part async for part in contents.read(connection, FIRST, source.source_id)]) == CONTENT
    assert [part async for part in contents.read(connection, SECOND, source.source_id)] == []


async def test_a_page_is_its_address_and_is_called_by_it_for_now(connection: Connection) -> None:
    base_id = await a_base(connection)
    page = await a_source(connection, base_id, kind="url", name=None, url="HTTPS://Help.example.com:443/returns#fees")
    assert (page.url, page.name, page.size_bytes) == ("https://help.example.com/returns",) * 2 + (0,)
    named = await a_source(connection, base_id, kind="url", name="Fees", url="https://help.example.com/fees")
    assert named.name == "Fees"
    for url in (None, "", "ftp://help.example.com", "http://127.0.0.1/", "https://u:p@help.example.com"):
        with pytest.raises(InvalidRequest) as raised:
            await a_source(connection, base_id, kind="url", name=None, url=url)
        assert raised.value.problems[0].field == "url"


async def test_a_base_has_so_many_sources_and_no_more(connection: Connection) -> None:
    base_id, limits = await a_base(connection), SourceLimits(sources=1)
    await a_source(connection, base_id, limits=limits)
    with pytest.raises(LimitReached, match=r"1 sources.*ANSWERLINE_MAX_SOURCES"):
        await a_source(connection, base_id, name="b", limits=limits)
    with pytest.raises(Conflict) as raised:
        await a_source(connection, base_id)
    assert raised.value.field == "name"
    await a_source(connection, await a_base(connection, name="Other"))


@pytest.mark.parametrize(
    ("kind", "content", "limits", "setting"),
    [
        ("jsonl", b"x" * 2001, SourceLimits(import_bytes=2000), "ANSWERLINE_MAX_IMPORT_BYTES"),
        ("jsonl", b"{}\n" * 11, SourceLimits(import_lines=10), "ANSWERLINE_MAX_IMPORT_LINES"),
        ("jsonl", b"{}\r" * 11, SourceLimits(import_lines=10), "ANSWERLINE_MAX_IMPORT_LINES"),
        ("text", "ы" * 101, SourceLimits(pasted_characters=100), "ANSWERLINE_MAX_PASTED_CHARACTERS"),
        ("text", b"x" * 10_000, SourceLimits(pasted_characters=100), "ANSWERLINE_MAX_PASTED_CHARACTERS"),
    ],
)
async def test_what_is_too_large_is_not_read_to_its_end_and_nothing_is_left(
    empty_database: TestDatabase,
    connection: Connection,
    kind: sources.Kind,
    content: bytes | str,
    limits: SourceLimits,
    setting: str,
) -> None:
    base_id = await a_base(connection)
    before = await counts(empty_database)
    taken = 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal taken
        async for piece in pieces(content if isinstance(content, bytes) else content.encode(), 400):
            taken += 1
            yield piece

    with pytest.raises(PayloadTooLarge, match=setting):
        await sources.add_source(connection, FIRST, base_id, sources.NewSource(kind, "a"), counted(), limits)
    assert taken <= 6
    assert await counts(empty_database) == before


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"a\0b"])
async def test_a_pasted_text_is_text(connection: Connection, content: bytes) -> None:
    with pytest.raises(InvalidRequest) as raised:
        await a_source(connection, await a_base(connection), content, kind="text")
    assert raised.value.problems[0].field == "text"


async def test_an_upload_that_breaks_off_leaves_nothing(connection: Connection) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    base_id = await a_base(connection)
    with pytest.raises(ConnectionResetError):
        await sources.add_source(connection, FIRST, base_id, sources.NewSource("file", "a"), broken(), SourceLimits())
    assert await sources.list_sources(connection, FIRST, base_id) == []


async def test_another_content_takes_the_place_of_the_old_one_and_the_same_one_changes_nothing(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection), CONTENT)

    async def replace(content: bytes) -> bool:
        return await sources.replace_content(connection, FIRST, source.source_id, pieces(content), SourceLimits())

    assert not await replace(CONTENT)  # it waits already
    await rows(empty_database, "update source set status = 'ready', is_processing = false")
    assert not await replace(CONTENT)
    await rows(
        empty_database,
        "insert into ingest_run (organization_id, source_id) select organization_id, source_id from source",
    )
    assert await replace(b"short")
    assert b"".join([part async for part in contents.read(connection, FIRST, source.source_id)]) == b"short"
    changed = await sources.find_source(connection, FIRST, source.source_id)
    assert (changed.status, changed.is_searchable, changed.size_bytes) == ("processing", True, 5)
    assert changed.run is not None
    assert changed.run.status == "failed"  # of what was there before
    await rows(
        empty_database, "update source set is_processing = false, error_code = 'no_text', error = 'There is none.'"
    )
    failed = await sources.find_source(connection, FIRST, source.source_id)
    assert (failed.status, failed.is_searchable, failed.error) == ("failed", True, "There is none.")
    assert await replace(b"short")  # what failed is tried again
    assert (await sources.find_source(connection, FIRST, source.source_id)).error is None


async def test_a_source_is_asked_for_again(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(connection, await a_base(connection))
    await rows(
        empty_database, "update source set status = 'failed', error_code = 'x', error = 'y', is_processing = false"
    )
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "failed"
    assert (await sources.request_reprocess(connection, FIRST, source.source_id)).status == "processing"


async def test_sources_are_listed_by_name(connection: Connection) -> None:
    base_id = await a_base(connection)
    for name in "CAB":
        await a_source(connection, base_id, name=name)
    assert [each.name for each in await sources.list_sources(connection, FIRST, base_id, limit=2)] == ["A", "B"]
    assert [each.name for each in await sources.list_sources(connection, FIRST, base_id, after="B")] == ["C"]
    found = await sources.find_source_by_name(connection, FIRST, base_id, " B ")
    assert found is not None
    assert found.name == "B"
    assert await sources.find_source_by_name(connection, FIRST, base_id, "D") is None


async def test_passages_are_listed_in_order_and_go_on_where_the_last_ones_ended(shop: Connection) -> None:
    (main, _) = await bases.list_bases(shop, ORGANIZATION_ID)
    (source,) = await sources.list_sources(shop, ORGANIZATION_ID, main.base_id)
    every = await sources.passages_of(shop, ORGANIZATION_ID, source.source_id)
    assert [each.external_id for each in every][:3] == ["parking", "voucher", "lounge"]
    assert "draft" in {each.external_id for each in every}  # its owner sees what is there
    first = await sources.passages_of(shop, ORGANIZATION_ID, source.source_id, limit=4)
    rest = await sources.passages_of(shop, ORGANIZATION_ID, source.source_id, after=first[-1].position)
    assert first + rest == every


async def test_what_is_another_organization_s_is_not_there(
    empty_database: TestDatabase, connection: Connection
) -> None:
    base_id = await a_base(connection)
    source_id = (await a_source(connection, base_id)).source_id
    before = await counts(empty_database)

    def attempts(organization_id: UUID) -> list[Awaitable[object]]:
        limits = SourceLimits()
        return [
            bases.find_base(connection, organization_id, base_id),
            bases.rename_base(connection, organization_id, base_id, "Mine"),
            bases.delete_base(connection, organization_id, base_id),
            a_source(connection, base_id, name="b", organization_id=organization_id),
            a_source(connection, base_id, kind="url", url="https://help.example.com", organization_id=organization_id),
            sources.list_sources(connection, organization_id, base_id),
            sources.find_source(connection, organization_id, source_id),
            sources.replace_content(connection, organization_id, source_id, pieces(b"x"), limits),
            sources.request_reprocess(connection, organization_id, source_id),
            sources.delete_source(connection, organization_id, source_id),
            sources.passages_of(connection, organization_id, source_id),
            sources.rejections_of(connection, organization_id, source_id),
        ]

    for organization_id in (SECOND, uuid4()):
        for attempt in attempts(organization_id):
            with pytest.raises(NotFound):
                await attempt
        assert await bases.list_bases(connection, organization_id) == []
        assert await sources.find_source_by_name(connection, organization_id, base_id, "hours.md") is None
    assert await counts(empty_database) == before
    assert (await bases.find_base(connection, FIRST, base_id)).name == "Help"
