"""Sources over the management API, from a request to passages that a call is given."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from retrieval_sidecar.jobs import worker
from retrieval_sidecar.jobs.queue import JobQueue
from tests.support.database import TestDatabase
from tests.support.inspection import rows, until, value
from tests.support.jobs import workshop
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item
from tests.support.sources import new_run


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as client:
        yield client


@pytest_asyncio.fixture
async def base(manage: ManagementClient) -> str:
    return await manage.new_base("Handbooks")


async def settled(manage: ManagementClient, path: str) -> Any:
    """The source once it is not processed any more."""

    async def done() -> Any:
        source = (await manage.get(path)).body
        return None if source["status"] == "processing" else source

    return await until(done, seconds=30)


@asynccontextmanager
async def working(database: TestDatabase) -> AsyncIterator[None]:
    """A worker for the block."""
    stop = asyncio.Event()
    async with JobQueue(database.url("manage"), connections=4) as queue:
        work = asyncio.create_task(worker.work(queue, workshop(database), stop))
        try:
            yield
        finally:
            stop.set()
            await work


async def test_what_is_added_is_read_found_read_again_and_removed(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with (
        running_management(database, key, with_queue=True) as manage,
        working(database),
        running_sidecar(database, await token_for(database, ORGANIZATION_ID)) as voice,
    ):
        base = await manage.new_base("Handbooks")
        text = "# Boats\n\nThe ferry to the island leaves from pier twelve."
        added = [
            await manage.post(f"{base}/sources/text", {"name": "Ferry", "text": text}),
            await manage.upload(f"{base}/sources/file", b"The lighthouse is open on Fridays.", "lighthouse.txt"),
            await manage.upload(f"{base}/sources/jsonl", _lines(), "items.jsonl"),
        ]
        assert [(each.status, each.body["status"]) for each in added] == [(201, "processing")] * 3
        paths = [f"{base}/sources/{each.body['id']}" for each in added]
        ferry, lighthouse, items = [await settled(manage, path) for path in paths]
        assert [(each["status"], each["is_searchable"]) for each in (ferry, lighthouse, items)] == [("ready", True)] * 3
        assert (ferry["item_count"], ferry["chunk_count"], ferry["characters"]) == (1, 1, len(text))
        assert lighthouse["content_type"].startswith("text/plain")
        reading = items["reading"]
        assert (reading["status"], reading["lines_read"], reading["created"], reading["rejected"]) == ("done", 3, 2, 1)
        assert [each["line"] for each in reading["rejections"]] == [2]
        assert items["item_count"] == 2
        call = await voice.open(OPEN_NUMBER)
        assert "pier twelve" in str(await call.search("when does the ferry leave"))
        found = await manage.post(f"{base}/search", {"query": "ferry to the island"})
        assert found.body["results"][0]["source_id"] == ferry["id"]
        (passage,) = (await manage.get(f"{paths[0]}/passages")).body["items"]
        assert passage["text"].endswith("pier twelve.")
        again = await manage.post(f"{paths[1]}/reprocess")
        assert (again.status, again.body["status"], again.body["is_searchable"]) == (202, "processing", True)
        assert (await settled(manage, paths[1]))["status"] == "ready"
        assert (await manage.delete(paths[0])).status == 204
        assert "pier twelve" not in str(await call.search("when does the ferry leave"))
        assert (await manage.delete(base)).status == 204
        assert await value(database, "select count(*) from source_part") == 0


def _lines() -> bytes:
    good = [item(name, name, f"The {name} is closed.") for name in ("pool", "sauna")]
    return "\n".join([json.dumps(good[0]), "{", json.dumps(good[1])]).encode()


async def test_an_import_says_how_far_it_is_and_which_lines_were_not_taken(
    manage: ManagementClient, database: TestDatabase, base: str
) -> None:
    added = await manage.upload(f"{base}/sources/jsonl", b"{}", "items.jsonl")
    path, source_id = f"{base}/sources/{added.body['id']}", UUID(added.body["id"])
    run_id = await new_run(database, source_id)
    await rows(
        database,
        "update ingest_run set lines_read = 40, created = 8, updated = 4, unchanged = 3, rejected = 25"
        " where run_id = %s",
        [run_id],
    )
    await rows(
        database,
        "insert into ingest_rejection select organization_id, run_id, n, 'language', 'must be one that there is'"
        " from ingest_run, generate_series(1, 25) n where run_id = %s",
        [run_id],
    )
    reading = (await manage.get(path)).body["reading"]
    counts = {"lines_read": 40, "created": 8, "updated": 4, "unchanged": 3, "rejected": 25}
    assert counts.items() <= reading.items()
    assert (reading["status"], "ended_at" in reading) == ("running", False)
    assert [each["line"] for each in reading["rejections"]] == list(range(1, 21))
    assert reading["rejections"][0] == {"line": 1, "field": "language", "reason": "must be one that there is"}
    (listed,) = (await manage.get(f"{base}/sources")).body["items"]
    assert "rejections" not in listed["reading"]


async def test_a_file_that_cannot_be_used_says_why(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, with_queue=True) as manage, working(database):
        base = await manage.new_base("Handbooks")
        added = await manage.upload(f"{base}/sources/file", bytes(range(256)) * 8, "prices.pdf")
        source = await settled(manage, f"{base}/sources/{added.body['id']}")
        assert (source["status"], source["is_searchable"]) == ("failed", False)
        assert source["error"].endswith(".")
        assert source["error_code"]


async def test_a_queue_that_cannot_be_reached_does_not_lose_the_source(
    database: TestDatabase,
) -> None:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), with_queue=True) as manage:
        base = await manage.new_base("Handbooks")
        await rows(database, "revoke insert on jobs.procrastinate_jobs from answerline_manage")
        added = await manage.post(f"{base}/sources/text", {"name": "Ferry", "text": "Pier twelve."})
        assert (added.status, added.body["status"]) == (201, "processing")
        assert (await manage.post(f"{base}/sources/{added.body['id']}/reprocess")).status == 202


async def test_without_a_database_it_is_alive_and_not_ready(database: TestDatabase) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    async with running_management(
        database, "", until_ready=False, with_queue=True, manage_database_url=nowhere
    ) as manage:
        assert (await manage.get("/livez")).status == 200
        answer = await manage.get("/readyz")
        assert (answer.status, answer.body["checks"]["database"]) == (503, "failing")


async def test_it_serves_its_contract_byte_for_byte(manage: ManagementClient) -> None:
    readiness = (await manage.get("/readyz")).body
    async with manage.http.get(f"{manage.url}/api/v1/openapi.yaml") as response:
        assert (response.status, response.content_type) == (200, "application/yaml")
        assert sha256(await response.read()).hexdigest() == readiness["contract_sha256"]


async def test_a_page_is_called_by_its_address_until_it_is_read(manage: ManagementClient, base: str) -> None:
    added = await manage.post(
        f"{base}/sources/url", {"url": "https://Help.example.com/opening hours".replace(" ", "-")}
    )
    assert (added.status, added.body["kind"], added.body["size"]) == (201, "url", 0)
    assert added.body["url"] == added.body["name"] == "https://help.example.com/opening-hours"


async def test_sources_are_listed_by_name_in_pages(manage: ManagementClient, base: str) -> None:
    names = [f"Text {number}" for number in range(5)]
    for name in reversed(names):
        await manage.new_text(base, name)
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await manage.get(f"{base}/sources", **query)).body
        seen += [each["name"] for each in page["items"]]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == names
    assert (await manage.get(f"{await manage.new_base('Empty')}/sources")).body == {"items": []}


async def test_passages_are_listed_in_their_order_in_pages(manage: ManagementClient) -> None:
    (main, _) = (await manage.get(BASES)).body["items"]
    (source,) = (await manage.get(f"{BASES}/{main['id']}/sources")).body["items"]
    path = f"{BASES}/{main['id']}/sources/{source['id']}/passages"
    whole = (await manage.get(path)).body["items"]
    # Those too that no caller may hear: they are the operator's own.
    assert {"Parking garage", "Salary table", "Unicorn sale"} < {each["title"] for each in whole}
    assert len(whole) == source["chunk_count"] == 10
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 3}
    while True:
        page = (await manage.get(path, **query)).body
        seen += page["items"]
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == whole
    for cursor in ("Ik1haW4i", "WzEsMiwzXQ", "WzEsLTFd", "WzEsMjE0NzQ4MzY0OF0", "W3RydWUsMV0", "[[["):
        refused = await manage.get(path, cursor=cursor)
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "cursor"), cursor


TEXT: dict[str, Any] = {"name": "Parking", "text": "Three euros."}
PAGE: dict[str, Any] = {"name": "Hours", "url": "https://help.example.com/"}


@pytest.mark.parametrize(
    ("below", "body", "field"),
    [
        ("", {}, "name"),
        ("", {"name": ""}, "name"),
        ("", {"name": " \t"}, "name"),
        ("", {"name": "\u200b"}, "name"),
        ("", {"name": "x" * 201}, "name"),
        ("", {"name": "a\x00b"}, "name"),
        ("", {"name": 5}, "name"),
        ("", {"name": None}, "name"),
        ("", {"name": "New", "owner_type": "user"}, "owner_type"),
        ("", [], "body"),
        ("", b"{", "body"),
        ("", b'{"name": "\xff"}', "body"),
        ("/sources/text", {"name": "Parking"}, "text"),
        ("/sources/text", TEXT | {"text": ""}, "text"),
        ("/sources/text", TEXT | {"text": " \n"}, "text"),
        ("/sources/text", TEXT | {"text": "\u200b"}, "text"),
        ("/sources/text", TEXT | {"text": "a\x00b"}, "text"),
        ("/sources/text", TEXT | {"text": "x" * 500_001}, "text"),
        ("/sources/text", TEXT | {"name": ""}, "name"),
        ("/sources/text", TEXT | {"created_by": "me"}, "created_by"),
        ("/sources/url", {"name": "Hours"}, "url"),
        ("/sources/url", PAGE | {"url": "ftp://help.example.com/"}, "url"),
        ("/sources/url", PAGE | {"url": "help.example.com"}, "url"),
        ("/sources/url", PAGE | {"url": "https://"}, "url"),
        ("/sources/url", PAGE | {"url": "https://ada:secret@help.example.com/"}, "url"),
        ("/sources/url", PAGE | {"url": "https://help.example.com:8443/"}, "url"),
        ("/sources/url", PAGE | {"url": "https://help.example.com/" + "x" * 2048}, "url"),
        ("/sources/url", PAGE | {"name": "x" * 201}, "name"),
        ("/sources/url", PAGE | {"depth": 3}, "depth"),
    ],
)
async def test_a_body_that_does_not_fit_is_named(
    manage: ManagementClient, base: str, below: str, body: Any, field: str
) -> None:
    answer = await manage.post((base if below else BASES) + below, body)
    assert (answer.status, answer.body["code"]) == (400, "invalid_request"), answer
    assert answer.body["errors"][0]["field"] == field
    assert (await manage.get(f"{base}/sources")).body == {"items": []}
    assert manage.queue.requested == []


@pytest.mark.parametrize("below", ["", "/sources/url", "/sources/text", "/search"])
@pytest.mark.parametrize("content_type", ["text/plain", "application/json; charset=utf-16", "multipart/form-data"])
async def test_another_content_type_is_refused(
    manage: ManagementClient, base: str, below: str, content_type: str
) -> None:
    path = (base if below else BASES) + below
    answer = await manage.send("POST", path, data=b"{}", headers={"Content-Type": content_type})
    assert (answer.status, answer.body["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("wrong", ["1", "nobody", "x" * 500, "5d1b7a520c5b4a199f6e2b7c4d8e9f10"])
async def test_an_id_that_is_none_is_named(manage: ManagementClient, base: str, method: str, wrong: str) -> None:
    for path, field in ((f"{BASES}/{wrong}", "kb_id"), (f"{base}/sources/{wrong}", "source_id")):
        answer = await manage.send(method, path)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


async def test_a_source_is_found_in_its_own_base_alone(manage: ManagementClient, base: str) -> None:
    source = (await manage.new_text(base)).rpartition("/")[2]
    other = await manage.new_base("Other texts")
    for method, below in (("GET", ""), ("GET", "/passages"), ("POST", "/reprocess"), ("DELETE", "")):
        assert (await manage.send(method, f"{other}/sources/{source}{below}")).status == 404
    assert (await manage.get(f"{base}/sources/{source}")).status == 200


async def test_a_parameter_that_there_is_not_is_refused(manage: ManagementClient, base: str) -> None:
    source = await manage.new_text(base)
    for method, path in (
        ("GET", base),
        ("DELETE", base),
        ("GET", source),
        ("DELETE", source),
        ("POST", f"{source}/reprocess"),
    ):
        answer = await manage.send(method, path, query={"force": "true"})
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "force")
    twice = await manage.send("GET", BASES, query=[("limit", "1"), ("limit", "2")])
    assert (twice.status, twice.body["errors"][0]["field"]) == (400, "limit")
    assert (await manage.get(source)).status == 200


async def test_a_text_longer_than_the_setting_allows_is_refused(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, max_pasted_characters=10) as manage:
        base = await manage.new_base("Handbooks")
        refused = await manage.post(f"{base}/sources/text", {"name": "a", "text": "x" * 11})
        assert (refused.status, refused.body["code"]) == (413, "too_large")
        assert "10 characters" in refused.body["detail"]
        assert "ANSWERLINE_MAX_PASTED_CHARACTERS" in refused.body["detail"]
        assert (await manage.post(f"{base}/sources/text", {"name": "a", "text": "é" * 10})).status == 201


async def test_a_body_over_the_limit_is_refused(manage: ManagementClient, base: str) -> None:
    answer = await manage.send("POST", f"{base}/sources/text", b'{"name": "a", "text": "' + b"x" * 8_400_000 + b'"}')
    assert (answer.status, answer.body["code"]) == (413, "too_large")
