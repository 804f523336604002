"""Knowledge items over the management API, as operators write and set them, and as calls then find them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.support.content import ITEMS, STALE, Operator, operating, told, vectors
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.management import BASES, key_for
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID, SELECTED_NUMBER

SAUNA = "when does the sauna open"


@pytest_asyncio.fixture
async def operator(database: TestDatabase, clock: TestClock) -> AsyncIterator[Operator]:
    async with operating(database, clock, max_written_items=4) as found:
        yield found


async def test_an_item_is_a_draft_until_it_is_published_and_known_once_it_is_indexed(operator: Operator) -> None:
    base = await operator.base()
    call = await operator.voice.open(OPEN_NUMBER)
    path = await operator.write(ITEMS, kb_id=base, title="  Sauna \n hours ", content="The sauna opens at ten.")
    item = await operator.read(path)
    assert item == {
        "id": path.rpartition("/")[2],
        "kb_id": base,
        "source_id": item["source_id"],
        "source_kind": "text",
        "written": True,
        "external_id": path.rpartition("/")[2],
        "title": "Sauna hours",
        "content": "The sauna opens at ten.",
        "language": "en",
        "region_code": "DE",
        "status": "draft",
        "visibility": "public",
        "channels": ["phone"],
        "segments": [],
        "folder_key": f"base:{base}",
        "set_by_hand": [],
        "indexed": False,
        "updated_at": item["updated_at"],
    }
    assert operator.client.queue.of_documents == [ORGANIZATION_ID]
    assert await operator.index() is None
    assert (await operator.read(path))["indexed"] is True
    assert "Sauna hours" not in await told(call, SAUNA)
    await operator.patch(path, status="published")
    assert (await told(call, SAUNA))[0] == "Sauna hours"
    assert operator.client.queue.of_documents == [ORGANIZATION_ID]  # to publish takes no job


async def test_what_is_written_by_hand_stands_in_one_source_of_its_base(operator: Operator) -> None:
    base = await operator.base()
    await operator.client.new_text(f"{BASES}/{base}", "Written by hand")
    first, second = await operator.item("Sauna"), await operator.item("Pool", "The pool is heated.")
    other = await operator.item("Bath", "The bath is hot.", kb_id=await operator.base("Other"))
    sources = [(await operator.read(path))["source_id"] for path in (first, second, other)]
    assert sources[0] == sources[1] != sources[2]
    path = f"{BASES}/{base}/sources/{sources[0]}"
    source = await operator.read(path)
    assert (source["name"], source["kind"], source["status"]) == ("Written by hand (2)", "text", "ready")
    assert (source["item_count"], source["chunk_count"], source["is_searchable"]) == (2, 2, True)
    assert source["characters"] == len("The sauna opens at ten.") + len("The pool is heated.")
    await operator.patch(second, content="It is.")
    await operator.delete(first)
    assert (await operator.read(path))["characters"] == len("It is.")
    refused = await operator.client.post(f"{path}/reprocess")
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "written by hand" in refused.body["detail"]
    await operator.client.delete(path)
    assert (await operator.client.get(second)).status == 404


# A change that closes an item to a call that is on, and what searches read of it then.
CLOSING: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    ({"status": "draft"}, (False, None, False, False, None, "DE")),
    ({"visibility": "internal"}, (False, None, False, False, None, "DE")),
    ({"channels": ["chat", "email"]}, (False, None, False, False, None, "DE")),
    ({"segments": ["staff"]}, (True, [2], False, False, None, "DE")),
    ({"valid_from": "2026-12-02"}, (True, None, True, False, None, "DE")),
    ({"valid_until": "2026-11-30"}, (True, None, False, True, None, "DE")),
    ({"valid_until": "2026-12-01T12:00:00Z"}, (True, None, False, True, None, "DE")),
    ({"schedule": {"tue": [{"opens": "09:00", "closes": "13:00"}]}}, (True, None, False, False, "{[1980,2220)}", "DE")),
    ({"schedule": {"mon": []}}, (True, None, False, False, "{}", "DE")),
]


@pytest.mark.parametrize(("closing", "read"), CLOSING)
async def test_what_is_closed_is_closed_from_the_next_search_of_a_call_on_and_opens_again(
    operator: Operator, closing: dict[str, Any], read: tuple[Any, ...]
) -> None:
    path = await operator.item()
    before = await operator.read(path)
    call = await operator.voice.open(OPEN_NUMBER, MEMBER)
    assert "Sauna" in await told(call, SAUNA)
    opening = {name: before.get(name, {} if name == "schedule" else "") for name in closing}
    await operator.patch(path, **closing)
    staff = await value(operator.database, "select segment_id from segment where key = 'staff'")
    expected = tuple([staff] if each == [2] else each for each in read)
    assert [each[:-1] for each in await vectors(operator.database, path)] == [expected]
    assert "Sauna" not in await told(call, SAUNA)
    await operator.patch(path, **opening)
    assert "Sauna" in await told(call, SAUNA)
    assert {**await operator.read(path), "updated_at": 0} == {**before, "updated_at": 0}
    assert len(operator.client.queue.of_documents) == 1


async def test_members_hear_what_is_for_their_segment(operator: Operator) -> None:
    await operator.item(segments=["members", "staff"])
    assert "Sauna" in await told(await operator.voice.open(OPEN_NUMBER, MEMBER), SAUNA)
    assert "Sauna" not in await told(await operator.voice.open(OPEN_NUMBER), SAUNA)


async def test_an_item_that_moves_goes_by_the_selection_of_its_folder(operator: Operator) -> None:
    path = await operator.item()
    call = await operator.voice.open(SELECTED_NUMBER)
    assert "Sauna" not in await told(call, SAUNA)
    await operator.patch(path, folder_key="upload:Prices")
    assert "Sauna" in await told(call, SAUNA)
    await operator.patch(path, folder_key=f"base:{await operator.base()}")
    assert "Sauna" not in await told(call, SAUNA)


async def test_what_was_said_before_answers_until_the_new_is_indexed(operator: Operator) -> None:
    path = await operator.item()
    call = await operator.voice.open(OPEN_NUMBER)
    changed = await operator.patch(path, title="Steam room", content="The steam room opens at eleven.")
    assert changed["indexed"] is False
    embedder = GatedEmbedder(is_open=False)
    indexing = asyncio.create_task(operator.index(embedder))
    await embedder.asked.wait()
    # The passage is the old one; its title is the item's own.
    found = (await call.search(SAUNA))["results"][0]
    assert (found["title"], found["content"]) == ("Steam room", "The sauna opens at ten.")
    embedder.gate.set()
    assert await indexing is None
    assert (await call.search("steam room"))["results"][0]["content"] == "The steam room opens at eleven."
    assert (await operator.read(path))["indexed"] is True
    kept = "select count(*) from embedding_cache where text_hash not in (select text_hash from passage)"
    assert await value(operator.database, kept) == 448  # the language samples


async def test_what_changes_while_it_is_indexed_is_indexed_again(operator: Operator) -> None:
    path = await operator.item()
    await operator.patch(path, content="The sauna opens at eleven.")
    embedder = GatedEmbedder(is_open=False)
    indexing = asyncio.create_task(operator.index(embedder))
    await embedder.asked.wait()
    await operator.patch(path, content="The sauna opens at noon.")
    embedder.gate.set()
    again = await indexing
    assert again is not None
    assert again.in_s == 0
    assert (await operator.read(path))["indexed"] is False
    assert await operator.index() is None
    found = await (await operator.voice.open(OPEN_NUMBER)).search(SAUNA)
    assert found["results"][0]["content"] == "The sauna opens at noon."


async def test_an_embedder_that_is_down_is_told_and_saving_again_tries_again(operator: Operator) -> None:
    path = await operator.item()
    await operator.patch(path, content="The sauna opens at eleven.")
    embedder = GatedEmbedder()
    embedder.fails_after = 0
    again = await operator.index(embedder)
    assert again is not None
    assert again.failures == 1
    item = await operator.read(path)
    assert (item["indexed"], item["error_code"]) == (False, "embedder_unavailable")
    assert "save this again" in item["error"]
    assert await operator.index(embedder, failures=11) is None
    asked = len(operator.client.queue.of_documents)
    assert await operator.index() is None  # it was given up
    assert (await operator.read(path))["indexed"] is False
    assert await told(await operator.voice.open(OPEN_NUMBER), SAUNA) == ["Sauna"]
    changed = await operator.patch(path, content="The sauna opens at eleven.")
    assert "error" not in changed
    assert len(operator.client.queue.of_documents) == asked + 1
    assert await operator.index() is None
    assert (await operator.read(path))["indexed"] is True


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_of_editors_of_one_state_one_succeeds(operator: Operator, method: str) -> None:
    path = await operator.item()
    etag = await operator.etag(path)
    answers = await asyncio.gather(
        *(
            operator.send(method, path, {"title": f"Title {n}"} if method == "PATCH" else None, etag=etag)
            for n in range(4)
        )
    )
    statuses = sorted(each.status for each in answers)
    assert statuses == ([200, 412, 412, 412] if method == "PATCH" else [204, 404, 404, 404])
    for refused in answers:
        if refused.status == 412:
            assert refused.body["code"] == "precondition_failed"


async def test_a_change_names_what_it_changes(operator: Operator) -> None:
    path = await operator.item()
    etag = await operator.etag(path)
    for method, body in (("PATCH", {"status": "draft"}), ("DELETE", None)):
        refused = await operator.client.send(method, path, body)
        assert (refused.status, refused.body["code"]) == (428, "precondition_required")
        assert (await operator.send(method, path, body, etag="*")).status == 400
        assert (await operator.send(method, path, body, etag=STALE)).status == 412
    await operator.patch(path, status="published")  # what it is already
    assert await operator.etag(path) == etag
    await rows(operator.database, "update knowledge_item set visibility = 'internal' where title = 'Sauna'")
    assert await operator.etag(path) != etag


async def test_an_agent_whose_last_selected_item_is_deleted_stays_restricted(operator: Operator) -> None:
    path = await operator.item()
    agent = next(each for each in (await operator.read("/api/v1/phone-agents"))["items"] if each["name"] == "selected")
    sources = f"/api/v1/phone-agents/{agent['id']}/knowledge-sources"
    chosen = {"knowledge_item_ids": [path.rpartition("/")[2]], "knowledge_folder_keys": []}
    assert (await operator.send("PUT", sources, chosen)).status == 200
    call = await operator.voice.open(SELECTED_NUMBER)
    assert await told(call, SAUNA) == ["Sauna"]
    etag = await operator.etag(sources)
    await operator.delete(path)
    found = await call.search("parking garage")
    assert (found["status"], found["results"]) == ("restricted_empty", [])
    assert (await operator.read(sources))["knowledge_scope"] == {"mode": "selected", "item_ids": [], "folder_keys": []}
    assert (await operator.send("PUT", sources, chosen, etag=etag)).status == 412
    assert await vectors(operator.database, path) == []
    assert (await operator.client.get(path)).status == 404


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"title": " "}, "title"),
    ({"title": "\u200b"}, "title"),
    ({"title": "x" * 1001}, "title"),
    ({"content": ""}, "content"),
    ({"content": "\ufeff"}, "content"),
    ({"content": "a\x00b"}, "content"),
    ({"kb_id": str(uuid4())}, "kb_id"),
    ({"kb_id": "main"}, "kb_id"),
    ({"language": "English"}, "language"),
    ({"region_code": "de"}, "region_code"),
    ({"status": "deleted"}, "status"),
    ({"visibility": "secret"}, "visibility"),
    ({"channels": []}, "channels"),
    ({"channels": ["fax"]}, "channels.0"),
    ({"segments": ["members", "nobody"]}, "segments.1"),
    ({"valid_from": "2026-02-30"}, "valid_from"),
    ({"valid_from": "2026-02-01T10:00:00"}, "valid_from"),
    ({"valid_from": "9999-12-31"}, "valid_from"),
    ({"valid_until": "0001-01-01"}, "valid_until"),
    ({"valid_from": "2026-03-01", "valid_until": "2026-02-28"}, "valid_until"),
    ({"schedule": {"tuesday": []}}, "schedule.tuesday"),
    ({"schedule": {"tue": [{"opens": "9:00", "closes": "17:00"}]}}, "schedule.tue.0.opens"),
    ({"source_url": "ftp://help.example.com"}, "source_url"),
    ({"folder_key": "upload:Price list"}, "folder_key"),
    ({"folder_key": f"base:{uuid4()}"}, "folder_key"),
    ({"folder_key": "website:"}, "folder_key"),
    ({"item_id": str(uuid4())}, "item_id"),
    ({"title": None}, "title"),
]


async def test_what_a_field_must_not_hold_is_refused_by_its_name(operator: Operator) -> None:
    path = await operator.item()
    before = await operator.read(path)
    new = {"kb_id": await operator.base(), "title": "Pool", "content": "The pool is heated."}
    for fields, field in REFUSED:
        answers = [await operator.client.post(ITEMS, new | fields)]
        if "kb_id" not in fields:
            answers.append(await operator.send("PATCH", path, fields))
        for refused in answers:
            assert (refused.status, refused.body["errors"][0]["field"]) == (400, field), (fields, refused)
    assert await operator.read(path) == before
    assert await value(operator.database, "select count(*) from knowledge_item where title = 'Pool'") == 0


async def test_a_window_is_held_as_a_whole_and_for_ever_is_open(operator: Operator) -> None:
    path = await operator.item(valid_from="2026-11-01", valid_until="2026-12-31")
    item = await operator.read(path)
    # Days of Berlin, the last one included.
    assert (item["valid_from"], item["valid_until"]) == ("2026-10-31T23:00:00Z", "2026-12-31T23:00:00Z")
    refused = await operator.send("PATCH", path, {"valid_from": "2027-01-01"})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "valid_until")
    assert "valid_until" not in await operator.patch(path, valid_until="9999-12-31")
    assert (await operator.patch(path, valid_from=item["valid_from"]))["valid_from"] == item["valid_from"]
    assert (await operator.send("PATCH", path, {})).body["errors"][0]["field"] == "body"


async def test_hours_come_back_as_they_hold(operator: Operator) -> None:
    night = {"sun": [{"opens": "22:00", "closes": "02:00"}], "mon": [{"opens": "09:00", "closes": "24:00"}]}
    path = await operator.item(schedule=night)
    assert (await operator.read(path))["schedule"] == {
        "mon": [{"opens": "00:00", "closes": "02:00"}, {"opens": "09:00", "closes": "24:00"}],
        "sun": [{"opens": "22:00", "closes": "24:00"}],
    }
    assert "schedule" not in await operator.patch(path, schedule={})


async def test_a_language_is_told_from_the_text_where_it_is_not_given(operator: Operator) -> None:
    text = "Der Parkplatz hinter dem Haus ist am Wochenende für unsere Gäste kostenlos geöffnet."
    path = await operator.write(ITEMS, kb_id=await operator.base(), title="Parkplatz", content=text)
    assert (await operator.read(path))["language"] == "de"
    assert (await operator.patch(path, language="en"))["indexed"] is False


async def test_there_are_limits(operator: Operator, database: TestDatabase, clock: TestClock) -> None:
    base = await operator.base()
    for number in range(4):
        await operator.write(ITEMS, kb_id=base, title=f"Item {number}", content="It is heated.")
    refused = await operator.client.post(ITEMS, {"kb_id": base, "title": "Fifth", "content": "It is heated."})
    assert (refused.status, refused.body["code"]) == (409, "limit_reached")
    assert "ANSWERLINE_MAX_WRITTEN_ITEMS" in refused.body["detail"]
    async with operating(database, clock, max_sources=1, max_pasted_characters=20) as strict:
        full = {"kb_id": await strict.base("Other"), "title": "Pool", "content": "It is heated."}
        refused = await strict.client.post(ITEMS, full)
        assert (refused.status, "ANSWERLINE_MAX_SOURCES" in refused.body["detail"]) == (409, True)
        long = await strict.client.post(ITEMS, full | {"kb_id": base, "content": "x" * 21})
        assert (long.status, "ANSWERLINE_MAX_PASTED_CHARACTERS" in long.body["detail"]) == (413, True)


async def listed(operator: Operator, **filters: Any) -> list[str]:
    """The titles of a whole list, two at a time."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await operator.client.get(ITEMS, limit=2, **filters, **cursor)).body
        assert not any("content" in each for each in page["items"])
        found += [each["title"] for each in page["items"]]
        if "next_cursor" not in page:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def test_a_list_has_all_of_them_once_and_filters_narrow_it(operator: Operator) -> None:
    main, other = await operator.base(), await operator.base("Other")
    await operator.item(language="de", segments=["members", "staff"], folder_key="upload:Prices")
    everything = await listed(operator)
    assert len(everything) == len(set(everything)) == 12
    assert everything[-1] == "Sauna"
    assert await listed(operator, kb_id=other) == ["Card terminal"]
    assert await listed(operator, folder_key="upload:Prices") == ["Gift voucher", "Sauna"]
    assert await listed(operator, folder_key="upload:Prices", kb_id=other) == []
    assert await listed(operator, status="draft") == ["Unicorn sale"]
    assert await listed(operator, visibility="internal") == ["Salary table"]
    assert await listed(operator, language="de") == ["Sauna"]
    assert await listed(operator, segment="members") == ["Member lounge", "Sauna"]
    assert await listed(operator, segment="staff", language="de", kb_id=main, status="published") == ["Sauna"]
    source = await value(operator.database, "select source_id::text from source where is_written")
    assert await listed(operator, source_id=source) == ["Sauna"]
    for nothing in ({"kb_id": str(uuid4())}, {"source_id": str(uuid4())}, {"folder_key": "upload:x"}, {"segment": "x"}):
        assert await listed(operator, **nothing) == []


NOT_ASKED: list[tuple[dict[str, Any], str]] = [
    ({"kb_id": "main"}, "kb_id"),
    ({"source_id": ""}, "source_id"),
    ({"folder_key": "Prices"}, "folder_key"),
    ({"status": "deleted"}, "status"),
    ({"visibility": ""}, "visibility"),
    ({"language": "DE"}, "language"),
    ({"segment": ""}, "segment"),
    ({"segment": "a\x00"}, "segment"),
    ({"title": "x"}, "title"),
    ({"limit": 101}, "limit"),
    ({"cursor": "e30"}, "cursor"),
]


async def test_what_a_list_cannot_be_asked_is_refused(operator: Operator) -> None:
    for query, field in NOT_ASKED:
        refused = await operator.client.get(ITEMS, **query)
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, field), query


async def test_items_of_others_are_not_there(operator: Operator, database: TestDatabase, tmp_path: Path) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    theirs = await value(database, "select item_id::text from knowledge_item where organization_id = %s", [FOREIGN_ID])
    path = await operator.item()
    await rows(
        database,
        "with t as (insert into team (organization_id, name) values (%s, 'T') returning organization_id, team_id)"
        " insert into knowledge_base (organization_id, name, owner_type, owner_id)"
        " select organization_id, 'T', 'team', team_id from t",
        [ORGANIZATION_ID],
    )
    of_team = await value(database, "select base_id::text from knowledge_base where name = 'T'")
    new = {"kb_id": of_team, "title": "Pool", "content": "The pool is heated."}
    assert (await operator.client.post(ITEMS, new)).body["errors"][0]["field"] == "kb_id"
    await rows(
        database,
        "update source set base_id = (select base_id from knowledge_base where name = 'T') where is_written",
    )
    for hidden in (path, f"{ITEMS}/{theirs}"):
        assert (await operator.client.get(hidden)).status == 404
        for method, body in (("PATCH", {"status": "draft"}), ("DELETE", None)):
            assert (await operator.client.send(method, hidden, body, headers={"If-Match": STALE})).status == 404
    assert "Sauna" not in await listed(operator)
    foreign = operator.client.with_key(await key_for(database, FOREIGN_ID))
    assert (await foreign.get(ITEMS, kb_id=await operator.base())).body == {"items": []}


async def test_the_audit_log_tells_how_it_was_set_and_not_what_it_says(operator: Operator) -> None:
    path = await operator.item(content="The sentinel is under the mat.")
    await operator.patch(path, status="draft", valid_until="2026-12-31")
    await operator.patch(path, content="The sentinel is elsewhere.")
    await operator.delete(path)
    log = (await operator.read(f"/api/v1/audit-log?object_id={path.rpartition('/')[2]}"))["items"]
    assert [(each["action"], each["object_type"]) for each in log] == [
        (action, "knowledge_item") for action in ("delete", "update", "update", "create")
    ]
    assert log[2]["before"] == {"title": "Sauna", "status": "published", "valid_until": None}
    assert log[2]["after"] == {"title": "Sauna", "status": "draft", "valid_until": "2026-12-31T23:00:00+00:00"}
    assert log[1]["before"].keys() == {"title", "content_sha256"}
    assert "sentinel" not in str(log)
