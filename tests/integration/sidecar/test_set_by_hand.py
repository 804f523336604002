"""What operators set of items that sources gave: no reading of the source undoes it, and the rest goes on following."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from retrieval_sidecar.ingest.load import load_organization
from tests.support.content import ITEMS, Operator, operating, told, vectors
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.jobs import process, workshop
from tests.support.management import BASES
from tests.support.sidecar import TestClock, connected, write_files
from tests.support.small_organization import (
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    item,
    items,
    organization,
)

SAUNA, POOL = "when does the sauna open", "is the pool heated"
# All that can be set, none as the file below has it.
SET: dict[str, Any] = {
    "title": "Steam",
    "language": "de",
    "region_code": "KZ",
    "status": "draft",
    "visibility": "internal",
    "channels": ["chat"],
    "segments": ["staff"],
    "valid_from": "2026-12-02T00:00:00Z",
    "valid_until": "2026-12-24T00:00:00Z",
    "schedule": {"tue": [{"opens": "09:00", "closes": "13:00"}]},
    "source_url": "https://help.example.com/steam",
    "folder_key": "upload:Prices",
}


@pytest_asyncio.fixture
async def operator(database: TestDatabase, clock: TestClock) -> AsyncIterator[Operator]:
    async with operating(database, clock) as found:
        yield found


def lines(**changes: Any) -> bytes:
    sauna = item("sauna", "Sauna", "The sauna opens at ten.", segments=["members"], folder="upload:Wellness") | changes
    return "\n".join(json.dumps(each) for each in (sauna, item("pool", "Pool", "The pool is heated."))).encode()


async def added(operator: Operator, kind: str, content: bytes) -> str:
    """The path of a source that has been read."""
    base = f"{BASES}/{await operator.base('Other')}"
    answer = await operator.client.upload(f"{base}/sources/{kind}", content, "wellness")
    assert answer.status == 201, answer
    await work_on(operator, answer.body["id"])
    return f"{base}/sources/{answer.body['id']}"


async def read_again(operator: Operator, source: str, content: bytes | None = None) -> None:
    """As it is, or, of an import, another file in its place."""
    if content is not None:
        await rows(
            operator.database, "update source_part set content = %s where source_id = %s", [content, _id(source)]
        )
    assert (await operator.client.post(f"{source}/reprocess")).status == 202
    await work_on(operator, _id(source))


async def work_on(operator: Operator, source_id: str) -> None:
    assert await process(workshop(operator.database), UUID(source_id), ORGANIZATION_ID) is None


def _id(path: str) -> str:
    return path.rpartition("/")[2]


async def path_of(operator: Operator, source: str, title: str) -> str:
    (found,) = [
        each["id"]
        for each in (await operator.read(f"{ITEMS}?source_id={_id(source)}"))["items"]
        if each["title"] == title
    ]
    return f"{ITEMS}/{found}"


async def test_what_is_set_of_an_imported_item_stays_when_its_file_is_imported_again(operator: Operator) -> None:
    source = await added(operator, "jsonl", lines())
    path = await path_of(operator, source, "Sauna")
    assert (await operator.read(path))["set_by_hand"] == []
    changed = await operator.patch(path, **SET)
    assert changed["set_by_hand"] == sorted(SET)
    assert {name: changed[name] for name in SET} == SET
    assert await operator.index() is None
    read = await vectors(operator.database, path)
    await read_again(operator, source)
    run = (await operator.read(source))["reading"]
    assert (run["unchanged"], run["updated"]) == (2, 0)
    # Another file: what is not set follows it, and so does what the item says.
    await read_again(
        operator, source, lines(title="Sauna hours", content="The sauna opens at noon.", source_hash="2", segments=[])
    )
    after = await operator.read(path)
    assert {name: after[name] for name in SET} == SET
    assert after["content"] == "The sauna opens at noon."
    assert await vectors(operator.database, path) == read


@pytest.mark.parametrize("field", sorted(SET))
async def test_each_field_stays_by_itself_and_the_others_follow(operator: Operator, field: str) -> None:
    source = await added(operator, "jsonl", lines())
    path = await path_of(operator, source, "Sauna")
    await operator.patch(path, **{field: SET[field]})
    told_by_file = {
        "title": "Bath",
        "language": "ru",
        "region_code": "FR",
        "status": "published",
        "visibility": "public",
        "channels": ["phone", "email"],
        "segments": ["members", "staff"],
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_until": "2027-01-01T00:00:00Z",
        "source_url": "https://help.example.com/bath",
    }
    hours = {"mon": [["10:00", "11:00"]]}
    await read_again(operator, source, lines(**told_by_file, schedule=hours, folder="upload:Bath"))
    after = await operator.read(path)
    followed = told_by_file | {
        "schedule": {"mon": [{"opens": "10:00", "closes": "11:00"}]},
        "folder_key": "upload:Bath",
    }
    assert {name: after[name] for name in followed} == followed | {field: SET[field]}
    assert after["set_by_hand"] == [field]


async def test_a_draft_stays_one_to_callers_whatever_is_imported(operator: Operator) -> None:
    source = await added(operator, "jsonl", lines(segments=[]))
    path = await path_of(operator, source, "Sauna")
    call = await operator.voice.open(OPEN_NUMBER)
    assert "Sauna" in await told(call, SAUNA)
    await operator.patch(path, status="draft")
    await read_again(operator, source, lines(segments=[], content="The sauna opens at noon.", source_hash="2"))
    assert "Sauna" not in await told(call, SAUNA)
    assert "Pool" in await told(call, POOL)
    await operator.patch(path, status="published")
    assert (await call.search(SAUNA))["results"][0]["content"] == "The sauna opens at noon."


async def test_an_imported_item_that_is_deleted_does_not_come_back(operator: Operator, tmp_path: Path) -> None:
    source = await added(operator, "jsonl", lines(segments=[]))
    path = await path_of(operator, source, "Sauna")
    call = await operator.voice.open(OPEN_NUMBER)
    await operator.delete(path)
    assert await vectors(operator.database, path) == []
    for content in (None, lines(segments=[], content="The sauna opens at noon.", source_hash="2")):
        await read_again(operator, source, content)
        assert (await operator.client.get(path)).status == 404
        assert "Sauna" not in await told(call, SAUNA)
        assert await vectors(operator.database, path) == []
    assert (await operator.read(source))["item_count"] == 1
    # That of a file that is loaded by the command line too.
    parking = await value(operator.database, "select item_id::text from knowledge_item where external_id = 'parking'")
    await operator.delete(f"{ITEMS}/{parking}")
    async with connected(operator.database, "manage") as connection:
        await load_organization(connection, *write_files(tmp_path, organization(), items()))
    assert "Parking garage" not in await told(call, "parking garage")
    # Who had selected it is restricted as before.
    selected = await operator.voice.open(SELECTED_NUMBER)
    assert "Gift voucher" in await told(selected, "gift voucher counter")
    assert "Card terminal" not in await told(selected, "card terminal pin 44 x")


async def test_what_is_set_of_a_document_stays_when_it_is_read_again(operator: Operator) -> None:
    source = await added(operator, "file", b"# Sauna\n\nThe sauna opens at ten.")
    path = await path_of(operator, source, "Sauna")
    await operator.patch(path, **SET)
    assert await operator.index() is None
    read = await vectors(operator.database, path)
    await read_again(operator, source)
    after = await operator.read(path)
    assert {name: after[name] for name in SET} == SET
    assert (after["set_by_hand"], after["indexed"]) == (sorted(SET), True)
    assert await vectors(operator.database, path) == read
    await read_again(operator, source, b"# Bath\n\nThe bath opens at noon.")
    after = await operator.read(path)
    assert {name: after[name] for name in SET} == SET
    assert "The bath opens at noon." in after["content"]


async def test_a_document_that_nobody_has_set_follows_its_source(operator: Operator) -> None:
    source = await added(operator, "file", b"# Sauna\n\nThe sauna opens at ten.")
    path = await path_of(operator, source, "Sauna")
    await operator.patch(path, region_code="FR")
    await read_again(operator, source, b"# Bath\n\nThe bath opens at noon.")
    after = await operator.read(path)
    assert (after["title"], after["region_code"], after["set_by_hand"]) == ("Bath", "FR", ["region_code"])


async def test_a_title_that_is_set_is_found_by(operator: Operator) -> None:
    source = await added(operator, "file", b"# Sauna\n\nThe sauna opens at ten.")
    path = await path_of(operator, source, "Sauna")
    assert (await operator.patch(path, title="Steam room"))["indexed"] is False
    assert operator.client.queue.of_documents == [ORGANIZATION_ID]
    assert await operator.index() is None
    assert "Steam room" in await told(await operator.voice.open(OPEN_NUMBER), "steam room")


async def test_what_a_source_says_is_changed_there(operator: Operator) -> None:
    file = await path_of(operator, await added(operator, "file", b"# Sauna\n\nThe sauna opens at ten."), "Sauna")
    before = await operator.read(file)
    refused = await operator.send("PATCH", file, {"content": "The sauna is closed.", "status": "draft"})
    assert (refused.status, refused.body["code"], refused.body["errors"][0]["field"]) == (409, "conflict", "content")
    refused = await operator.send("DELETE", file)
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "draft" in refused.body["detail"]
    assert await operator.read(file) == before
