"""No log line of the management API at any level holds a key, a name, an address, a text or a question."""

from collections.abc import Iterator
from typing import Any

import pytest

from retrieval_sidecar.management.events import Pace
from tests.support.database import TestDatabase
from tests.support.events import following
from tests.support.inspection import rows
from tests.support.logs import Lines, logged
from tests.support.management import BASES, key_for, running_management
from tests.support.small_organization import ORGANIZATION_ID

NAME, TEXT, QUERY, PATH = "sentinelname", "sentineltext", "sentinelquery", "sentinelpath"
CALLER = "+15555550131"
URL = f"https://help.example.com/{PATH}"


@pytest.fixture
def lines() -> Iterator[Lines]:
    with logged(NAME, TEXT, QUERY, PATH, CALLER) as found:
        yield found


async def test_what_operators_do_is_logged_without_what_they_write(database: TestDatabase, lines: Lines) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    lines.secrets.add(key.split("_", 3)[3].casefold())
    async with running_management(database, key, with_queue=True) as manage:
        base = await manage.new_base(NAME)
        source = await manage.new_text(base, NAME, TEXT)
        added = [
            await manage.upload(f"{base}/sources/file", TEXT.encode(), f"{NAME}.txt"),
            await manage.upload(f"{base}/sources/jsonl", TEXT.encode(), f"{NAME}.jsonl"),
            await manage.post(f"{base}/sources/url", {"url": URL}),
        ]
        assert [each.status for each in added] == [201] * 3
        assert (await manage.post(f"{base}/search", {"query": QUERY})).status == 200
        agent = (await manage.get("/api/v1/phone-agents")).body["items"][0]["id"]
        trial = {"query": QUERY, "caller_number": CALLER}
        assert (await manage.post(f"/api/v1/phone-agents/{agent}/search", trial)).status == 200
        for path in (BASES, base, f"{base}/sources", source, f"{source}/passages", f"{base}/events"):
            assert (await manage.get(path)).status == 200
        assert (await manage.post(f"{source}/reprocess")).status == 202
        assert (await manage.delete(base)).status == 204
    lines.all()


async def test_what_is_refused_leaves_no_trace_of_what_it_held(database: TestDatabase, lines: Lines) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    lines.secrets.add(key.split("_", 3)[3].casefold())
    async with running_management(database, key, max_text_bytes=10, max_pdf_bytes=10, max_office_bytes=10) as manage:
        base = await manage.new_base(NAME)
        refused: list[tuple[str, Any]] = [
            (BASES, {"name": NAME}),
            (BASES, {NAME: TEXT}),
            (BASES, f'{{"name": "{NAME}'.encode()),
            (f"{base}/sources/text", {"name": NAME, "text": TEXT, QUERY: PATH}),
            (f"{base}/sources/url", {"url": f"ftp://help.example.com/{PATH}"}),
            (f"{base}/search", {"query": QUERY * 60}),
            (f"/api/v1/phone-agents/{ORGANIZATION_ID}/search", {"query": QUERY, "caller_number": CALLER}),
            (f"/api/v1/phone-agents/{ORGANIZATION_ID}/search", {"query": QUERY, "caller_number": PATH}),
            (f"/api/v1/{PATH}", {"name": NAME}),
        ]
        for path, body in refused:
            assert (await manage.post(path, body)).status in (400, 404, 409), path
        assert (await manage.upload(f"{base}/sources/file", TEXT.encode(), NAME)).status == 413
        assert (await manage.get(BASES, api_key=key)).status == 400
        assert (await manage.with_key(f"{key}{NAME}").get(BASES)).status == 401
    line = lines.of("key refused")
    assert (line["key_id"], line["address"]) == (_hyphened(key), "127.0.0.1")


async def test_an_error_that_quotes_a_row_is_logged_without_it(database: TestDatabase, lines: Lines) -> None:
    await rows(database, "alter table knowledge_base add check (name not like 'sentinel%')")
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as manage:
        answer = await manage.post(BASES, {"name": NAME})
    assert (answer.status, NAME in str(answer.body)) == (500, False)
    line = lines.of("unexpected error")
    assert (line["instance"], line["type"]) == (answer.body["instance"], "CheckViolation")


async def test_a_stream_that_breaks_is_logged_without_what_was_to_be_told(database: TestDatabase, lines: Lines) -> None:
    pace = Pace(look_s=0.01, heartbeat_s=600, longest_s=600)
    async with running_management(database, await key_for(database, ORGANIZATION_ID), pace=pace) as manage:
        base = await manage.new_base(NAME)
        async with following(manage, base) as stream:
            await rows(database, "alter table ingest_run rename to elsewhere")
            assert await stream.ends()
    assert lines.of("stream broken")["type"] == "UndefinedTable"


def _hyphened(key: str) -> str:
    hexadecimal = key.split("_")[2]
    return "-".join(hexadecimal[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
