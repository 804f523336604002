"""Files over the management API: what is taken, under which name, and what is left of what is not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.inspection import rows, until, value
from tests.support.management import ManagementClient, form, key_for, running_management
from tests.support.small_organization import ORGANIZATION_ID

MOST = 1_500_000  # so that some of it is on the disk
BOUNDARY = "Frontier7"
END = f"\r\n--{BOUNDARY}--\r\n"


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[ManagementClient]:
    limits: dict[str, Any] = {f"max_{kind}_bytes": MOST for kind in ("pdf", "text", "office")}
    limits["max_import_bytes"] = MOST + 1
    async with running_management(database, await key_for(database, ORGANIZATION_ID), **limits) as client:
        yield client


@pytest_asyncio.fixture
async def base(manage: ManagementClient) -> str:
    return await manage.new_base("Uploads")


def open_temporary_files() -> list[str]:
    """Files of this process that have no name any more, or one of an upload's."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:
            continue
        if "(deleted)" in target or "answerline-upload" in target:
            found.append(target)
    return found


async def sources(database: TestDatabase) -> list[Any]:
    statement = "select s.name from source s join knowledge_base b using (base_id) where b.name = 'Uploads' order by 1"
    return [name for (name,) in await rows(database, statement)]


@pytest.mark.parametrize("kind", ["file", "jsonl"])
@pytest.mark.parametrize("size", [1, 8192, 65_537, MOST])
async def test_a_file_is_stored_byte_for_byte_and_its_job_requested(
    manage: ManagementClient, database: TestDatabase, base: str, kind: str, size: int
) -> None:
    content = (bytes(range(256)) + f"\r\n--{BOUNDARY}\r".encode()) * (size // 256 + 1)
    answer = await manage.upload(f"{base}/sources/{kind}", content[:size], "prices.bin")
    assert answer.status == 201, answer
    source = answer.body
    assert source == {
        "id": source["id"],
        "kb_id": base.rpartition("/")[2],
        "kind": kind,
        "name": "prices.bin",
        "size": size,
        "status": "processing",
        "is_searchable": False,
        "item_count": 0,
        "chunk_count": 0,
        "characters": 0,
        "created_at": source["created_at"],
        "created_by": f"key:{_key_id(manage)}",
    }
    stored = await rows(database, "select content from source_part where source_id = %s order by part", [source["id"]])
    assert b"".join(bytes(part) for (part,) in stored) == content[:size]
    assert [str(source_id) for _, source_id in manage.queue.requested] == [source["id"]]
    assert (await manage.get(f"{base}/sources/{source['id']}")).body == source


def _key_id(manage: ManagementClient) -> str:
    hexadecimal = manage.key.split("_")[2]
    return "-".join(hexadecimal[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))


async def test_what_a_file_claims_to_be_is_not_believed(manage: ManagementClient, base: str) -> None:
    writer = aiohttp.MultipartWriter("form-data")
    part = writer.append(b"text", {"Content-Type": "application/pdf"})
    part.set_content_disposition("form-data", name="file", filename="a.pdf")
    answer = await manage.send("POST", f"{base}/sources/file", data=writer)
    assert (answer.status, "content_type" in answer.body) == (201, False)


@pytest.mark.parametrize(
    ("kind", "most", "setting"),
    [("file", MOST, "ANSWERLINE_MAX_TEXT_BYTES"), ("jsonl", MOST + 1, "ANSWERLINE_MAX_IMPORT_BYTES")],
)
@pytest.mark.parametrize("chunked", [True, False])
async def test_one_byte_too_many_is_refused_and_nothing_is_left(
    manage: ManagementClient, database: TestDatabase, base: str, kind: str, most: int, setting: str, *, chunked: bool
) -> None:
    before = open_temporary_files()
    answer = await manage.upload(f"{base}/sources/{kind}", b"x" * (most + 1), chunked=chunked or None)
    assert (answer.status, answer.body["code"]) == (413, "too_large")
    assert f"{most:,} bytes" in answer.body["detail"]
    assert setting in answer.body["detail"]
    assert await sources(database) == []
    assert open_temporary_files() == before
    assert manage.queue.requested == []


async def test_a_file_far_too_large_is_refused_before_it_is_read(
    manage: ManagementClient, database: TestDatabase, base: str
) -> None:
    async with _connection(manage) as (reader, writer):
        writer.write(_head(manage, f"{base}/sources/file", 10**10))
        assert (await reader.readline()).split()[1] == b"413"
    assert await sources(database) == []


async def test_a_client_that_goes_away_leaves_nothing(
    manage: ManagementClient, database: TestDatabase, base: str
) -> None:
    before = open_temporary_files()

    async def coming_in() -> bool | None:
        await asyncio.sleep(0)  # the API runs in this event loop
        return open_temporary_files() != before or None

    body = _body(b"x" * 1_400_000)
    async with _connection(manage) as (_, writer):
        writer.write(_head(manage, f"{base}/sources/jsonl", len(body)) + body[:-50_000])
        await writer.drain()
        await until(coming_in)

    async def gone() -> bool | None:
        await asyncio.sleep(0)
        return open_temporary_files() == before or None

    await until(gone)
    assert await sources(database) == []
    assert (await manage.upload(f"{base}/sources/file", b"text")).status == 201


async def test_a_client_that_goes_away_once_all_has_come_has_its_file_stored(
    manage: ManagementClient, database: TestDatabase, base: str
) -> None:
    body = _body(b"text")
    async with await _locked(database) as holder:
        async with _connection(manage) as (_, writer):
            writer.write(_head(manage, f"{base}/sources/file", len(body)) + body)
            await until(lambda: _waits_for_lock(database))
        await holder.rollback()

    async def stored() -> list[Any] | None:
        return await sources(database) or None

    assert await until(stored) == ["a.txt"]


async def _locked(database: TestDatabase) -> Any:
    connection = await psycopg.AsyncConnection.connect(database.url("owner"))
    await connection.execute("select from organization for no key update")
    return connection


async def _waits_for_lock(database: TestDatabase) -> bool | None:
    waiting = await rows(database, "select pid from pg_locks where not granted", role="superuser")
    return bool(waiting) or None


def _body(content: bytes, *, end: str = END, part: str = 'name="file"; filename="a.txt"') -> bytes:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {part}\r\n\r\n"
    return head.encode() + content + end.encode()


def _head(manage: ManagementClient, path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: sidecar.example\r\nX-API-Key: {manage.key}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@asynccontextmanager
async def _connection(manage: ManagementClient) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(manage.url.rpartition(":")[2]))
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


SECOND = (
    f'\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\nb\r\n--{BOUNDARY}--\r\n'
)
FORMS = {
    "no part": f"--{BOUNDARY}--\r\n".encode(),
    "nothing": b"",
    "an empty file": _body(b""),
    "another name": _body(b"text", part='name="upload"; filename="a.txt"'),
    "no name of a part": _body(b"text", part='filename="a.txt"'),
    "a field, no file": _body(b"text", part='name="file"'),
    "two files": _body(b"text", end=SECOND),
    "a second field": _body(b"text", end=SECOND.replace('; filename="b.txt"', "").replace('"file"', '"name"')),
    "cut off in the file": _body(b"text", end=""),
    "cut off in the boundary": _body(b"text", end=f"\r\n--{BOUNDARY[:4]}"),
    "cut off before the end": _body(b"text", end=f"\r\n--{BOUNDARY}\r\n"),
    "another boundary": _body(b"text").replace(BOUNDARY.encode(), b"Elsewhere"),
    "no headers of a part": f"--{BOUNDARY}\r\n\r\ntext\r\n--{BOUNDARY}--\r\n".encode(),
    "headers without end": f"--{BOUNDARY}\r\nContent-Disposition: {'x' * 20_000}\r\n\r\n".encode(),
    "encoded as base64": _body(b"dGV4dA==").replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1),
    "a form within": _body(b"").replace(
        b"\r\n\r\n", b"\r\nContent-Type: multipart/mixed; boundary=Inner\r\n\r\n--Inner\r\n\r\n\r\n--Inner--\r\n", 1
    ),
}


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS.keys())
async def test_a_form_that_is_not_one_file_is_refused_and_nothing_is_left(
    manage: ManagementClient, database: TestDatabase, base: str, body: bytes
) -> None:
    before = open_temporary_files()
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = await manage.send("POST", f"{base}/sources/file", data=body, headers=headers)
    assert (answer.status, answer.body["code"]) == (400, "invalid_request"), answer
    assert answer.body["errors"][0]["field"] in ("file", "body")
    assert await sources(database) == []
    assert open_temporary_files() == before


@pytest.mark.parametrize("content_type", ["application/pdf", "multipart/mixed; boundary=x", "application/json", ""])
async def test_a_body_that_is_no_form_is_refused(manage: ManagementClient, base: str, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = await manage.send("POST", f"{base}/sources/jsonl", data=b"{}", headers=headers)
    assert (answer.status, answer.body["code"]) == (415, "unsupported_media_type")
    assert "multipart/form-data" in answer.body["detail"]


async def test_a_form_without_a_boundary_is_refused(manage: ManagementClient, base: str) -> None:
    answer = await manage.send(
        "POST", f"{base}/sources/file", data=b"x", headers={"Content-Type": "multipart/form-data"}
    )
    assert answer.status == 400


async def test_one_name_is_given_once_in_a_base(manage: ManagementClient, database: TestDatabase, base: str) -> None:
    answers = await asyncio.gather(*(manage.upload(f"{base}/sources/file", b"text", "a.txt") for _ in range(5)))
    assert sorted(each.status for each in answers) == [201] + [409] * 4
    assert await sources(database) == ["a.txt"]
    assert len(manage.queue.requested) == 1
    assert await value(database, "select count(*) from audit_log where object_type = 'source'") == 1


async def test_a_full_base_takes_no_file_and_reads_none(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, max_sources=1) as manage:
        base = await manage.new_base("Uploads")
        await manage.upload(f"{base}/sources/file", b"text", "a.txt")
        async with _connection(manage) as (reader, writer):
            writer.write(_head(manage, f"{base}/sources/file", 1000))
            assert (await reader.readline()).split()[1] == b"409"
        refused = await manage.upload(f"{base}/sources/file", b"text", "b.txt")
    assert refused.body["code"] == "limit_reached"
    assert "ANSWERLINE_MAX_SOURCES" in refused.body["detail"]


async def test_an_upload_that_takes_too_long_is_given_up(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, upload_timeout_s=0.2) as manage:
        base = await manage.new_base("Uploads")
        async with _connection(manage) as (reader, writer):
            writer.write(_head(manage, f"{base}/sources/file", 1000) + _body(b"beginning", end=""))
            assert (await reader.readline()).split()[1] == b"504"
    assert await sources(database) == []


async def test_more_uploads_at_once_than_there_may_be_are_told_to_come_again(database: TestDatabase) -> None:
    before = open_temporary_files()

    async def coming_in() -> bool | None:
        await asyncio.sleep(0)  # the API runs in this event loop
        return open_temporary_files() != before or None

    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, uploads=1) as manage:
        base = await manage.new_base("Uploads")
        body = _body(b"x" * MOST)
        async with _connection(manage) as (reader, writer):
            writer.write(_head(manage, f"{base}/sources/file", len(body)) + body[:-5])
            await until(coming_in)
            refused = await manage.upload(f"{base}/sources/file", b"text", "b.txt")
            assert (refused.status, refused.body["code"]) == (503, "unavailable")
            writer.write(body[-5:])
            assert (await reader.readline()).split()[1] == b"201"
        assert (await manage.upload(f"{base}/sources/file", b"text", "b.txt")).status == 201


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\Ada\\prices.pdf", "prices.pdf"),
        ("Прайс‑лист 2026.pdf", "Прайс‑лист 2026.pdf"),
        ("٤٤ رقم.pdf", "٤٤ رقم.pdf"),
        ("x" * 400 + ".pdf", "x" * 196 + ".pdf"),
        ("..", "upload"),
        ('say "hello".txt', 'say "hello".txt'),
        ("100%.txt", "100%.txt"),
        ("50%ff.txt", "50%ff.txt"),
    ],
)
@pytest.mark.parametrize("quoted", [True, False])
async def test_a_weird_name_is_shown_as_a_name(
    manage: ManagementClient, base: str, sent: str, shown: str, *, quoted: bool
) -> None:
    answer = await manage.send("POST", f"{base}/sources/file", data=form(b"text", sent, quote_fields=quoted))
    assert (answer.status, answer.body["name"]) == (201, shown)
