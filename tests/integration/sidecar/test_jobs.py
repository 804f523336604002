"""What becomes of a source when it is worked on: read, written, embedded, swapped in; or why not."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.ingest import records
from retrieval_sidecar.sources import contents, sources
from retrieval_sidecar.sources.limits import SourceLimits
from tests.support.added import FIRST, SECOND, a_base, a_source, organizations, pieces
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.files import office, pdf
from tests.support.inspection import row_counts, rows, until, value
from tests.support.jobs import fetching_from, passages, process, source_row, workshop
from tests.support.page_server import answer, page_server
from tests.support.sidecar import connected

HELP = (
    "<!doctype html><html><head><title>Returns | Example</title></head><body><nav><a href=/>Home</a></nav><main>"
    "<h1>Returns</h1><p>" + "You may return any lamp within thirty days of delivery. " * 8 + "</p></main></body></html>"
)


class FailingEmbedder(FakeEmbedder):
    """Fails while it is told to.

    Attributes:
        error: raised for passages; None embeds them.
        texts: all that were embedded as passages, samples of languages included.
    """

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.error is not None:
            raise self.error
        self.texts += texts
        return await super().embed_passages(texts)


@pytest_asyncio.fixture
async def connection(empty_database: TestDatabase) -> AsyncIterator[Connection]:
    await organizations(empty_database, FIRST, SECOND)
    async with connected(empty_database, "manage") as connection:
        yield connection


async def counts(database: TestDatabase) -> dict[str, int]:
    async with connected(database, "owner") as owner:
        return await row_counts(owner)


async def test_a_file_becomes_one_item_that_can_be_found(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(connection, await a_base(connection), "# Öffnungszeiten\n\nWir haben ab neun Uhr geöffnet.")
    assert await process(workshop(empty_database), source.source_id) is None
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert (done.status, done.is_searchable, done.error, done.items, done.passages) == ("ready", True, None, 1, 1)
    assert (done.content_type, done.characters) == ("text/markdown", 49)
    assert done.processed_at is not None
    assert done.run is not None
    assert (done.run.status, done.run.texts_embedded, done.run.texts) == ("done", 1, 1)
    assert await rows(
        empty_database,
        "select external_id, title, language, status, visibility, channels, folder_key, source_url"
        " from knowledge_item join folder using (organization_id, folder_id)",
    ) == [("document", "Öffnungszeiten", "de", "published", "public", ["phone"], "upload:hours.md", None)]
    assert await passages(empty_database) == ["# Öffnungszeiten\n\nWir haben ab neun Uhr geöffnet."]


@pytest.mark.parametrize(
    ("content", "content_type", "title"),
    [
        (pdf.pdf([[pdf.Run("Prices of lamps", 50, 700)]]), "application/pdf", "hours.md"),
        (office.docx_file("Lamps", "A lamp costs €4.", [], [["Code", "Price"], ["A", "4"]]), None, "Lamps"),
        (b"<!doctype html><title>Lamps</title><p>A lamp costs 4.", "text/html", "Lamps"),
        (b"Code,Price\nPIN-44-X,4000\n", "text/csv", "hours.md"),
    ],
    ids=["pdf", "docx", "html", "csv"],
)
async def test_what_a_file_is_is_told_from_its_content(
    empty_database: TestDatabase, connection: Connection, content: bytes, content_type: str | None, title: str
) -> None:
    source = await a_source(connection, await a_base(connection), content, content_type="image/png")
    await process(workshop(empty_database), source.source_id)
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert done.status == "ready", done.error
    assert done.content_type == content_type or done.content_type.endswith("wordprocessingml.document")  # type: ignore[union-attr]
    assert await value(empty_database, "select title from knowledge_item") == title


async def test_a_pasted_text_is_called_by_its_name(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(
        connection, await a_base(connection), "Мы открыты с девяти утра.", kind="text", name="Часы работы"
    )
    await process(workshop(empty_database), source.source_id)
    assert await rows(
        empty_database,
        "select title, language, content, folder_key from knowledge_item"
        " join folder using (organization_id, folder_id)",
    ) == [
        (
            "Часы работы",
            "ru",
            "Мы открыты с девяти утра.",
            "upload:%D0%A7%D0%B0%D1%81%D1%8B%20%D1%80%D0%B0%D0%B1%D0%BE%D1%82%D1%8B",
        )
    ]


async def test_a_page_is_read_for_what_it_is_about_and_called_by_its_title(
    empty_database: TestDatabase, connection: Connection
) -> None:
    base_id = await a_base(connection)
    url = "http://help.example.com/returns?lang=en"
    source = await a_source(connection, base_id, kind="url", name=None, url=url)
    named = await a_source(connection, base_id, kind="url", name="Ours", url="http://help.example.com/plain")
    same = await a_source(connection, base_id, kind="url", name="Same", url="http://help.example.com/returns?lang=en")
    async with page_server() as server:
        server.pages |= {
            "/returns?lang=en": answer(HELP.encode(), "Content-Type: text/html"),
            "/plain": answer("Æble øl".encode("latin-1"), "Content-Type: text/plain; charset=iso-8859-1"),
        }
        shop = workshop(empty_database, fetch=fetching_from(server))
        for each in (same, source, named):
            await process(shop, each.source_id)
        done = await sources.find_source(connection, FIRST, source.source_id)
        assert (done.status, done.name, done.content_type) == ("ready", "Returns", "text/html")
        assert done.size_bytes == len(HELP.encode())
        assert (await sources.find_source(connection, FIRST, named.source_id)).name == "Ours"
        assert (await sources.find_source(connection, FIRST, same.source_id)).name == "Same"
    assert await rows(
        empty_database,
        "select title, folder_key, source_url, left(content, 30) from knowledge_item"
        " join folder using (organization_id, folder_id) where source_id <> %s order by title",
        [same.source_id],
    ) == [
        ("Ours", "website:help.example.com", "http://help.example.com/plain", "Æble øl"),
        ("Returns", "website:help.example.com", url, "# Returns\n\nYou may return any "),
    ]


REFUSED = {
    "locked": (
        pdf.pdf(
            [[pdf.Run("x", 50, 700)]],
            trailer=b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<"
            + b"00" * 32
            + b">/U<"
            + b"11" * 32
            + b">>>",
        ),
        "encrypted",
        "password",
    ),
    "scanned": (pdf.pdf([[]]), "no_text", "OCR"),
    "junk": (bytes(index * 7919 % 251 for index in range(5000)), "not_text", "UTF-8"),
    "empty": (b"", "no_text", "empty"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0", "unsupported_type", "image/png"),
    "bomb": (
        office.bare_docx(office.word_document(office.word_paragraph(" " * 120 * 1024 * 1024))),
        "too_large",
        "unpacks to",
    ),
    "pages": (pdf.pdf([[pdf.Run("x", 50, 700)]] * 101), "too_many_pages", "at most 100"),
    "cut": (pdf.pdf([[pdf.Run("Prices", 50, 700)]])[:400], "damaged", "again"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_file_that_cannot_be_used_fails_with_a_reason_and_what_to_do(
    empty_database: TestDatabase, connection: Connection, name: str
) -> None:
    content, code, words = REFUSED[name]
    source = await a_source(connection, await a_base(connection), content)
    before = await counts(empty_database)
    assert await process(workshop(empty_database), source.source_id) is None
    failed = await sources.find_source(connection, FIRST, source.source_id)
    assert (failed.status, failed.is_searchable, failed.error_code) == ("failed", False, code)
    assert failed.error is not None
    assert words in failed.error
    assert failed.run is not None
    assert failed.run.status == "failed"
    assert await counts(empty_database) == before | {"ingest_run": 1}


async def test_more_passages_than_are_allowed_change_nothing(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection), "We are open. " * 800)
    before = await counts(empty_database)
    shop = workshop(empty_database, limits=SourceLimits(passages=5))
    await process(shop, source.source_id)
    failed = await sources.find_source(connection, FIRST, source.source_id)
    assert failed.error_code == "too_many_passages"
    assert failed.error is not None
    assert "at most 5 are allowed" in failed.error
    assert "ANSWERLINE_MAX_PASSAGES" in failed.error
    assert await counts(empty_database) == before | {"ingest_run": 1}


async def test_limits_of_extraction_are_the_settings(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(connection, await a_base(connection), pdf.pdf([[pdf.Run("x", 50, 700)]] * 3))
    await process(workshop(empty_database, limits=SourceLimits(extraction=Limits(pdf_pages=2))), source.source_id)
    assert "3 pages; at most 2" in str((await source_row(empty_database, source.source_id))["error"])


async def test_what_answers_goes_on_while_it_is_read_again_and_where_that_fails(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection), "We open at nine.")
    await process(workshop(empty_database), source.source_id)
    await sources.replace_content(connection, FIRST, source.source_id, pieces(b"We open at ten."), SourceLimits())
    embedder = GatedEmbedder(is_open=False)
    job = asyncio.create_task(process(workshop(empty_database, embedder), source.source_id))
    await embedder.asked.wait()
    assert await passages(empty_database) == ["We open at nine."]
    waiting = await sources.find_source(connection, FIRST, source.source_id)
    assert (waiting.status, waiting.is_searchable) == ("processing", True)
    embedder.gate.set()
    await job
    assert await passages(empty_database) == ["We open at ten."]
    await sources.replace_content(connection, FIRST, source.source_id, pieces(b"\x89PNG\r\n\x1a\n\0"), SourceLimits())
    await process(workshop(empty_database), source.source_id)
    failed = await sources.find_source(connection, FIRST, source.source_id)
    assert (failed.status, failed.is_searchable, failed.passages) == ("failed", True, 1)
    assert await passages(empty_database) == ["We open at ten."]


async def test_the_same_content_again_is_not_embedded_again(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection), "We open at nine. " * 200)
    embedder = FailingEmbedder()
    shop = workshop(empty_database, embedder)
    await process(shop, source.source_id)
    before = await rows(empty_database, "select passage_id from passage order by 1")
    embedder.texts.clear()
    await sources.request_reprocess(connection, FIRST, source.source_id)
    await process(shop, source.source_id)
    assert embedder.texts == []
    assert await rows(empty_database, "select passage_id from passage order by 1") == before
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"
    assert await process(shop, source.source_id) is None  # nothing is asked for
    assert await value(empty_database, "select count(*) from ingest_run") == 2


async def test_an_embedder_that_fails_is_tried_again_and_the_rest_is_not_done_twice(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection))
    embedder = FailingEmbedder(EmbedderUnavailable("away"))
    shop = workshop(empty_database, embedder)
    pauses = []
    failures = 0
    while again := await process(shop, source.source_id, failures=failures):
        assert again.failures == failures + 1
        failures = again.failures
        pauses.append(again.in_s)
        waiting = await sources.find_source(connection, FIRST, source.source_id)
        assert (waiting.status, waiting.error_code) == ("processing", "embedder_unavailable")
    assert len(pauses) == 11
    assert pauses == sorted(pauses)
    failed = await sources.find_source(connection, FIRST, source.source_id)
    assert (failed.status, failed.error_code) == ("failed", "embedder_unavailable")
    await sources.request_reprocess(connection, FIRST, source.source_id)
    embedder.error = None
    assert await process(shop, source.source_id, failures=3) is None
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert (done.status, done.error) == ("ready", None)
    assert done.run is not None


async def test_a_page_is_tried_again_where_that_may_help(empty_database: TestDatabase, connection: Connection) -> None:
    base_id = await a_base(connection)
    async with page_server() as server:
        server.pages |= {"/busy": answer(status="503 Later"), "/gone": answer(status="404 Gone")}
        shop = workshop(empty_database, fetch=fetching_from(server))
        for path, retried, code in (("busy", True, "server_error"), ("gone", False, "page_not_found")):
            source = await a_source(connection, base_id, kind="url", name=path, url=f"http://help.example.com/{path}")
            again = await process(shop, source.source_id)
            assert (again is not None) is retried
            assert (await source_row(empty_database, source.source_id))["error_code"] == code


async def test_what_nobody_expected_is_tried_a_few_times_and_its_text_is_told_to_nobody(
    empty_database: TestDatabase, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    source = await a_source(connection, await a_base(connection))
    shop = workshop(empty_database, FailingEmbedder(RuntimeError("sentinel")))
    assert await process(shop, source.source_id) is not None
    assert await process(shop, source.source_id, failures=2) is None
    failed = await source_row(empty_database, source.source_id)
    assert failed["error_code"] == "internal_error"
    assert "sentinel" not in json.dumps(failed)


async def test_a_worker_that_dies_of_a_source_each_time_does_so_only_so_often(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection))
    assert await process(workshop(empty_database), source.source_id, deaths=21) is None
    assert (await source_row(empty_database, source.source_id))["error_code"] == "worker_died"


@pytest.mark.parametrize("change", ["deleted", "replaced", "asked for again"])
async def test_a_job_whose_source_is_deleted_or_changed_leaves_nothing_behind(
    empty_database: TestDatabase, connection: Connection, change: str
) -> None:
    base_id = await a_base(connection)
    other = await a_source(connection, base_id, "We sell lamps.", name="other")
    await process(workshop(empty_database), other.source_id)
    before = await counts(empty_database)
    source = await a_source(connection, base_id, "We open at nine. " * 300)
    embedder = GatedEmbedder(is_open=False)
    job = asyncio.create_task(process(workshop(empty_database, embedder), source.source_id))
    await embedder.asked.wait()
    if change == "deleted":
        await sources.delete_source(connection, FIRST, source.source_id)
    elif change == "replaced":
        await sources.replace_content(connection, FIRST, source.source_id, pieces(b"New."), SourceLimits())
    else:
        await sources.request_reprocess(connection, FIRST, source.source_id)
    assert await job is None  # noticed while the embedder still holds it
    if change == "deleted":
        after = await counts(empty_database)
        assert after.pop("folder") == before.pop("folder") + 1  # what is selected by folder stays selected
        assert after == before
    else:
        await process(workshop(empty_database), source.source_id)
        assert (await sources.find_source(connection, FIRST, source.source_id)).status == "ready"
        assert (await value(empty_database, "select count(*) from passage")) == (2 if change == "replaced" else 6)


async def test_a_job_whose_source_goes_with_the_swap_itself_leaves_nothing_behind(
    empty_database: TestDatabase, connection: Connection
) -> None:
    """The deletion waits for the lock that the swap has, or the swap for the deletion's: either way nothing stays."""
    base_id = await a_base(connection)
    source = await a_source(connection, base_id)
    embedder = GatedEmbedder(is_open=False)
    async with connected(empty_database, "manage") as second:
        job = asyncio.create_task(process(workshop(empty_database, embedder), source.source_id))
        await embedder.asked.wait()
        deletion = asyncio.create_task(sources.delete_source(second, FIRST, source.source_id))
        embedder.gate.set()
        await asyncio.gather(job, deletion)
    left = await counts(empty_database)
    assert [left[table] for table in ("source", "knowledge_item", "passage", "passage_vector", "ingest_run")] == [0] * 5


async def test_one_at_a_time_works_on_a_source(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(connection, await a_base(connection))
    embedder = GatedEmbedder(is_open=False)
    first = asyncio.create_task(process(workshop(empty_database, embedder), source.source_id))
    await embedder.asked.wait()
    again = await process(workshop(empty_database), source.source_id)
    assert again is not None
    assert again.failures == 0
    embedder.gate.set()
    assert await first is None


async def test_progress_can_be_seen_while_it_is_embedded(empty_database: TestDatabase, connection: Connection) -> None:
    source = await a_source(
        connection, await a_base(connection), "\n\n".join(f"# Part {n}\n\n" + "Words. " * 150 for n in range(40))
    )
    embedder = GatedEmbedder(is_open=False)
    job = asyncio.create_task(process(workshop(empty_database, embedder), source.source_id))

    async def total() -> int | None:
        found = await sources.find_source(connection, FIRST, source.source_id)
        return found.run.texts if found.run and found.run.texts else None

    await embedder.asked.wait()
    embedder.gate.set()
    await job
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert done.run is not None
    assert done.run.texts_embedded == done.run.texts == done.passages == 40
    assert await until(total) == 40


async def test_the_work_of_one_organization_is_not_another_s(
    empty_database: TestDatabase, connection: Connection
) -> None:
    source = await a_source(connection, await a_base(connection))
    assert await process(workshop(empty_database), source.source_id, SECOND) is None
    assert (await sources.find_source(connection, FIRST, source.source_id)).status == "processing"


def lines(*documents: dict[str, Any] | str) -> str:
    """A JSONL file; a dictionary is a good line with these fields."""
    good = {"language": "en", "region_code": "GLOBAL", "status": "published", "title": "Lamps", "source_hash": "1"}
    return "\n".join(each if isinstance(each, str) else json.dumps(good | each) for each in documents)


async def test_an_import_is_an_item_a_line_and_says_what_became_of_each(
    empty_database: TestDatabase, connection: Connection
) -> None:
    first = lines({"external_id": "a", "content": "We sell lamps."}, "{", {"external_id": "b", "content": "At four."})
    source = await a_source(connection, await a_base(connection), first, kind="jsonl")
    embedder = FailingEmbedder()
    shop = workshop(empty_database, embedder)
    await process(shop, source.source_id)
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert (done.status, done.items, done.passages, done.characters) == ("ready", 2, 2, 22)
    run = done.run
    assert run is not None
    assert (run.lines_read, run.created, run.updated, run.unchanged, run.rejected) == (3, 2, 0, 0, 1)
    assert (run.status, run.bytes_read) == ("done", len(first))
    assert [(each.line, each.field) for each in await sources.rejections_of(connection, FIRST, source.source_id)] == [
        (2, "line")
    ]
    second = lines({"external_id": "a", "content": "We sell lamps."}, {"external_id": "b", "content": "At five."})
    embedder.texts.clear()
    await sources.replace_content(connection, FIRST, source.source_id, pieces(second.encode()), SourceLimits())
    await process(shop, source.source_id)
    run = (await sources.find_source(connection, FIRST, source.source_id)).run
    assert run is not None
    assert (run.created, run.updated, run.unchanged, run.rejected) == (0, 1, 1, 0)
    assert [text for text in embedder.texts if "five" in text or "lamps." in text] == ["Lamps. At five."]
    assert sorted(await passages(empty_database)) == ["At five.", "We sell lamps."]


async def test_an_import_that_failed_for_now_goes_on_and_counts_no_line_twice(
    empty_database: TestDatabase, connection: Connection
) -> None:
    content = lines({"external_id": "a", "content": "We sell lamps."}, "{")
    source = await a_source(connection, await a_base(connection), content, kind="jsonl")
    assert await process(workshop(empty_database, FailingEmbedder(EmbedderUnavailable("x"))), source.source_id)
    waiting = await sources.find_source(connection, FIRST, source.source_id)
    assert (waiting.status, waiting.is_searchable, waiting.items) == ("processing", False, 1)
    assert await process(workshop(empty_database), source.source_id, failures=1) is None
    run = (await sources.find_source(connection, FIRST, source.source_id)).run
    assert run is not None
    assert (run.status, run.lines_read, run.created, run.rejected) == ("done", 2, 1, 1)
    assert await value(empty_database, "select count(*) from ingest_run") == 1


async def test_an_import_stops_where_another_content_has_taken_its_place(
    empty_database: TestDatabase, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two batches: nothing more of the old file is written."""
    monkeypatch.setattr(records, "BATCH_LINES", 1)
    old = lines(*({"external_id": f"{number}", "content": f"Old number {number}."} for number in range(5)))
    source = await a_source(connection, await a_base(connection), old, kind="jsonl")
    part = contents.read

    async def replaced_meanwhile(*arguments: Any) -> AsyncIterator[bytes]:
        async for piece in part(*arguments):
            middle = len(piece) // 2
            yield piece[:middle]
            async with connected(empty_database, "manage") as second:
                new = pieces(lines({"external_id": "new", "content": "New."}).encode())
                await sources.replace_content(second, FIRST, source.source_id, new, SourceLimits())
            yield piece[middle:]

    monkeypatch.setattr(contents, "read", replaced_meanwhile)
    assert await process(workshop(empty_database), source.source_id) is None
    assert await value(empty_database, "select count(*) < 5 from knowledge_item")
    monkeypatch.setattr(contents, "read", part)
    await process(workshop(empty_database), source.source_id)
    done = await sources.find_source(connection, FIRST, source.source_id)
    assert done.status == "ready"
    assert done.run is not None
    assert (done.run.lines_read, done.run.created) == (1, 1)
    assert await value(empty_database, "select count(*) from ingest_taken") == 0
