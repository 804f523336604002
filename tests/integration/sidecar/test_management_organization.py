"""Agents, their numbers, contacts, segments and settings over the management API."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import (
    FOREIGN_AGENT,
    FOREIGN_ID,
    FOREIGN_NUMBER,
    foreign_items,
    foreign_organization,
)
from tests.support.inspection import rows, value
from tests.support.logs import logged
from tests.support.management import ManagementClient, key_for, new_number, running_management
from tests.support.sidecar import SESSIONS, Answer, VoiceClient, load
from tests.support.small_organization import (
    MEMBER,
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    STRANGER,
)

API = "/api/v1"
AGENTS, NUMBERS, CONTACTS, SEGMENTS = (f"{API}/{n}" for n in ("phone-agents", "phone-numbers", "contacts", "segments"))
DESK = {"name": "Front desk", "language": "en", "prompt": "You answer the phone.", "greeting": "Hello."}


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as client:
        yield client


@pytest_asyncio.fixture
async def foreign(manage: ManagementClient, database: TestDatabase, tmp_path: Path) -> ManagementClient:
    """A client of another organization."""
    await load(database, tmp_path, foreign_organization(), foreign_items())
    return manage.with_key(await key_for(database, FOREIGN_ID))


async def all_named(manage: ManagementClient, path: str) -> dict[str, Any]:
    return {each["name"]: each for each in (await manage.get(path)).body["items"]}


async def edit(manage: ManagementClient, path: str, **fields: Any) -> Answer:
    etag = (await manage.get(path)).headers["ETag"]
    return await manage.send("PATCH", path, fields, headers={"If-Match": etag})


async def call(voice: VoiceClient, called: str) -> int:
    body = {"calledNumber": called, "roomName": "room", "callId": str(uuid4())}
    return (await voice.post(SESSIONS, body)).status


# Agents


async def test_an_agent_is_made_changed_and_answers(manage: ManagementClient, voice: VoiceClient) -> None:
    more = {"handoff_number": "+1 555-555-0999", "region_code": "DE", "knowledge_mode": "auto"}
    made = await manage.post(AGENTS, DESK | more)
    path = f"{AGENTS}/{made.body['id']}"
    assert (made.status, made.body) == (
        201,
        DESK
        | more
        | {
            "id": made.body["id"],
            "handoff_number": "+15555550999",
            "numbers": [],
            "instruction_scope_mode": "all",
            "knowledge_scope_mode": "all",
        },
    )
    got = await manage.get(path)
    assert (got.body, got.headers["ETag"]) == (made.body, made.headers["ETag"])
    number = await manage.new("phone-numbers", {"phone_number": "+1 (555) 555-0700", "agent_id": made.body["id"]})
    assert (await voice.open("+15555550700")).body["agent"]["greeting"] == "Hello."
    changed = await edit(manage, path, greeting="Good day.", handoff_number="", region_code="")
    assert changed.status == 200
    assert changed.headers["ETag"] != got.headers["ETag"]
    assert {"handoff_number", "region_code"} & changed.body.keys() == set()
    assert changed.body["numbers"] == [number["phone_number"]] == ["+15555550700"]
    assert (await voice.open("+15555550700")).body["agent"]["greeting"] == "Good day."


async def test_of_two_editors_the_second_reads_again(manage: ManagementClient) -> None:
    agent = await manage.new("phone-agents", DESK)
    path = f"{AGENTS}/{agent['id']}"
    etag = (await manage.get(path)).headers["ETag"]
    answers = await asyncio.gather(
        *(manage.send("PATCH", path, {"prompt": f"Prompt {n}."}, headers={"If-Match": etag}) for n in range(4))
    )
    assert sorted(each.status for each in answers) == [200] + [412] * 3
    winner = next(each.body for each in answers if each.status == 200)
    assert (await manage.get(path)).body == winner
    assert (await manage.send("PATCH", path, {"prompt": "x"})).status == 428
    assert (await manage.send("PATCH", path, {"prompt": "x"}, headers={"If-Match": "*"})).status == 400
    # What is not of the profile leaves its ETag as it is.
    etag = (await manage.get(path)).headers["ETag"]
    await manage.new("phone-numbers", {"phone_number": new_number(), "agent_id": agent["id"]})
    assert (await manage.send("PATCH", path, {"prompt": "x"}, headers={"If-Match": etag})).status == 200


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"language": "english"}, "language"),
        ({"region_code": "Germany"}, "region_code"),
        ({"prompt": "x" * 30_001}, "prompt"),
        ({"greeting": ""}, "greeting"),
        ({"greeting": "\u200b"}, "greeting"),
        ({"greeting": "x" * 1001}, "greeting"),
        ({"handoff_number": "the boss"}, "handoff_number"),
        ({"handoff_number": "555 0999"}, "handoff_number"),
        ({"knowledge_mode": "never"}, "knowledge_mode"),
        ({"instruction_scope_mode": "all"}, "instruction_scope_mode"),
        ({"organization_id": str(FOREIGN_ID)}, "organization_id"),
    ],
)
async def test_an_agent_that_cannot_be_is_refused_by_its_field(
    manage: ManagementClient, fields: dict[str, Any], field: str
) -> None:
    agent = (await all_named(manage, AGENTS))["open"]
    for refused in (await manage.post(AGENTS, DESK | fields), await edit(manage, f"{AGENTS}/{agent['id']}", **fields)):
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)
    assert set(await all_named(manage, AGENTS)) == {"open", "selected", "empty"}


async def test_a_name_is_given_once(manage: ManagementClient) -> None:
    agents = await all_named(manage, AGENTS)
    for refused in (
        await manage.post(AGENTS, DESK | {"name": "open"}),
        await edit(manage, f"{AGENTS}/{agents['selected']['id']}", name="open"),
    ):
        assert (refused.status, refused.body["errors"][0]["field"]) == (409, "name")
    assert (await edit(manage, f"{AGENTS}/{agents['open']['id']}", name="open")).status == 200


async def test_an_agent_that_had_calls_goes_and_its_calls_stay(
    manage: ManagementClient, database: TestDatabase, voice: VoiceClient
) -> None:
    agent = (await all_named(manage, AGENTS))["selected"]
    path = f"{AGENTS}/{agent['id']}"
    running = await voice.open(SELECTED_NUMBER)
    assert (await running.search("parking garage"))["status"] == "ok"
    assert (await manage.delete(path)).status == 204
    # It answers no more, by number or by name, and tells nothing more.
    assert await call(voice, SELECTED_NUMBER) == 404
    by_id = {"agentId": agent["id"], "roomName": "room", "callId": str(uuid4())}
    assert (await voice.post(SESSIONS, by_id)).status == 404
    await running.search("parking garage", expect=404)
    assert (await running.end()).status == 200
    for method, below, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("GET", "/knowledge-sources", None),
    ):
        assert (await manage.send(method, path + below, body)).status == 404
    assert "selected" not in await all_named(manage, AGENTS)
    base = (await manage.get(f"{API}/knowledge-bases")).body["items"][0]
    assert base["agents"] == []
    search = {"query": "parking", "agent_id": agent["id"]}
    assert (await manage.post(f"{API}/knowledge-bases/{base['id']}/search", search)).status == 404
    refused = await manage.post(NUMBERS, {"phone_number": new_number(), "agent_id": agent["id"]})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "agent_id")
    # The call is there, with what was searched, and says whom it reached.
    (told,) = (await manage.get(f"{API}/calls", agent_id=agent["id"])).body["items"]
    assert (told["search_count"], told["status"]) == (1, "completed")
    assert told["agent"]["name"].startswith("selected (deleted, ")
    assert (await manage.get(f"{API}/calls/{told['session_id']}")).status == 200
    assert await value(database, "select before -> 'numbers' from audit_log where object_type = 'phone_agent'") == [
        SELECTED_NUMBER
    ]
    # Name and number are free.
    again = await manage.new("phone-agents", DESK | {"name": "selected"})
    await manage.new("phone-numbers", {"phone_number": SELECTED_NUMBER, "agent_id": again["id"]})
    assert await call(voice, SELECTED_NUMBER) == 201


async def test_of_an_agent_that_had_no_call_nothing_stays(manage: ManagementClient, database: TestDatabase) -> None:
    agent = (await all_named(manage, AGENTS))["empty"]
    assert (await manage.delete(f"{AGENTS}/{agent['id']}")).status == 204
    assert await value(database, "select count(*) from phone_agent") == 2


async def test_a_call_that_begins_while_its_agent_is_deleted_is_kept_or_refused(
    manage: ManagementClient, database: TestDatabase, voice: VoiceClient
) -> None:
    agent = (await all_named(manage, AGENTS))["open"]
    opened, deleted = await asyncio.gather(call(voice, OPEN_NUMBER), manage.delete(f"{AGENTS}/{agent['id']}"))
    assert deleted.status == 204
    assert await value(database, "select count(*) from call_session") == (1 if opened == 201 else 0)


# Numbers


async def test_a_number_leads_to_an_agent_and_then_to_another(manage: ManagementClient, voice: VoiceClient) -> None:
    agents = await all_named(manage, AGENTS)
    listed = (await manage.get(NUMBERS)).body["items"]
    assert [each["phone_number"] for each in listed] == sorted(each["phone_number"] for each in listed)
    number = next(each for each in listed if each["phone_number"] == OPEN_NUMBER)
    assert number["agent_id"] == agents["open"]["id"]
    path = f"{NUMBERS}/{number['id']}"
    routed = await manage.send("PATCH", path, {"agent_id": agents["empty"]["id"]})
    assert routed.body == (await manage.get(path)).body == number | {"agent_id": agents["empty"]["id"]}
    assert (await voice.open(OPEN_NUMBER)).body["agent"]["name"] == "empty"
    assert (await manage.delete(path)).status == 204
    assert await call(voice, OPEN_NUMBER) == 404
    assert (await manage.delete(path)).status == 404


async def test_a_number_of_another_organization_is_in_use_and_no_more_is_said(
    manage: ManagementClient, foreign: ManagementClient
) -> None:
    agent = (await all_named(manage, AGENTS))["open"]["id"]
    told = []
    for number in (FOREIGN_NUMBER, OPEN_NUMBER):  # theirs, and one of ours
        refused = await manage.post(NUMBERS, {"phone_number": number, "agent_id": agent})
        assert refused.status == 409
        told.append(refused.body)
    assert told[0] == told[1]
    assert (told[0]["errors"][0]["field"], FOREIGN_NUMBER in str(told)) == ("phone_number", False)
    assert [each["phone_number"] for each in (await foreign.get(NUMBERS)).body["items"]] == [FOREIGN_NUMBER]


async def test_of_two_organizations_that_take_a_number_at_once_one_has_it(
    manage: ManagementClient, foreign: ManagementClient
) -> None:
    agents = ((await all_named(manage, AGENTS))["open"]["id"], FOREIGN_AGENT)
    body = {"phone_number": new_number()}
    answers = await asyncio.gather(
        *(each.post(NUMBERS, body | {"agent_id": agent}) for each, agent in zip((manage, foreign), agents, strict=True))
    )
    assert sorted(each.status for each in answers) == [201, 409]


@pytest.mark.parametrize("number", ["", "555 0100", "anonymous", "+", "+1555", "12345678", "+1555000" + "0" * 30])
async def test_what_is_no_number_is_refused_and_not_repeated(manage: ManagementClient, number: str) -> None:
    agent = (await all_named(manage, AGENTS))["open"]["id"]
    for path, more in ((NUMBERS, {"agent_id": agent}), (CONTACTS, {"name": "Ada"})):
        refused = await manage.post(path, {"phone_number": number} | more)
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "phone_number")
        assert len(number) < 6 or number not in str(refused.body)


async def test_a_number_leads_to_an_agent_of_its_organization_alone(
    manage: ManagementClient, foreign: ManagementClient
) -> None:
    number = (await manage.get(NUMBERS)).body["items"][0]
    for agent in (FOREIGN_AGENT, str(uuid4())):
        for refused in (
            await manage.post(NUMBERS, {"phone_number": new_number(), "agent_id": agent}),
            await manage.send("PATCH", f"{NUMBERS}/{number['id']}", {"agent_id": agent}),
        ):
            assert (refused.status, refused.body["errors"][0]["field"]) == (400, "agent_id")


# Contacts and segments


async def test_a_contact_is_made_and_hears_what_is_for_its_segments(
    manage: ManagementClient, voice: VoiceClient
) -> None:
    made = await manage.new("contacts", {"phone_number": "+1 555 555 0177", "name": "Ada Lund", "segments": ["staff"]})
    assert made == {"id": made["id"], "phone_number": "+15555550177", "name": "Ada Lund", "segments": ["staff"]}
    path = f"{CONTACTS}/{made['id']}"
    session = await voice.open(OPEN_NUMBER, "+15555550177")

    async def heard() -> list[str]:
        titles = [each["title"] for each in (await session.search("kitchen lounge password"))["results"]]
        return [title for title in titles if title in ("Member lounge", "Staff kitchen")]

    assert await heard() == ["Staff kitchen"]
    changed = await manage.send("PATCH", path, {"segments": ["members", "members"], "language": "ar"})
    assert changed.body == made | {"segments": ["members"], "language": "ar"}
    assert await heard() == ["Member lounge"]
    changed = await manage.send("PATCH", path, {"segments": [], "language": "", "name": "Ada"})
    assert changed.body == (await manage.get(path)).body == made | {"segments": [], "name": "Ada"}
    assert await heard() == []


async def test_a_contact_is_forgotten_and_their_calls_stay(
    manage: ManagementClient, database: TestDatabase, voice: VoiceClient
) -> None:
    contact = (await all_named(manage, CONTACTS))["Robin Vale"]
    session = await voice.open(OPEN_NUMBER, MEMBER)
    assert (await manage.delete(f"{CONTACTS}/{contact['id']}")).status == 204
    found = await session.search("member lounge password")
    assert "Member lounge" not in [each["title"] for each in found["results"]]
    (told,) = (await manage.get(f"{API}/calls")).body["items"]
    assert "contact_id" not in told
    assert (await manage.get(f"{CONTACTS}/{contact['id']}")).status == 404
    kept = str(await rows(database, "select * from audit_log where object_type = 'contact'"))
    assert (MEMBER in kept, MEMBER[-2:] in kept) == (False, True)


async def test_a_number_is_one_contacts(manage: ManagementClient, foreign: ManagementClient) -> None:
    contacts = await all_named(manage, CONTACTS)
    for refused in (
        await manage.post(CONTACTS, {"phone_number": MEMBER, "name": "Another"}),
        await manage.send("PATCH", f"{CONTACTS}/{contacts['Kim Osei']['id']}", {"phone_number": MEMBER}),
    ):
        assert (refused.status, refused.body["errors"][0]["field"]) == (409, "phone_number")
        assert MEMBER not in str(refused.body)
    number = new_number()
    for each in (manage, foreign):  # to each organization its own contacts
        assert (await each.post(CONTACTS, {"phone_number": number, "name": "Ada"})).status == 201


async def test_segments_that_are_not_there_are_named_by_their_place(manage: ManagementClient) -> None:
    refused = await manage.post(
        CONTACTS, {"phone_number": new_number(), "name": "Ada", "segments": ["staff", "nobody", "members", ""]}
    )
    assert refused.status == 400
    assert [each["field"] for each in refused.body["errors"]] == ["segments.1", "segments.3"]
    assert "Ada" not in await all_named(manage, CONTACTS)


async def test_a_contact_changed_by_many_at_once_is_what_one_of_them_said(manage: ManagementClient) -> None:
    contact = (await all_named(manage, CONTACTS))["Kim Osei"]
    path = f"{CONTACTS}/{contact['id']}"
    choices = [["staff"], ["members"], ["members", "staff"], []]
    answers = await asyncio.gather(*(manage.send("PATCH", path, {"segments": each}) for each in choices * 2))
    assert {each.status for each in answers} == {200}
    assert (await manage.get(path)).body["segments"] in choices


async def test_a_segment_that_something_is_for_stays_and_says_how_much(
    manage: ManagementClient, voice: VoiceClient
) -> None:
    members = (await all_named(manage, SEGMENTS))["Members"]
    assert (members["key"], members["contact_count"], members["item_count"]) == ("members", 1, 1)
    path = f"{SEGMENTS}/{members['id']}"
    refused = await manage.delete(path)
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "1 knowledge items" in refused.body["detail"]
    renamed = await manage.send("PATCH", path, {"name": "Patrons"})
    assert renamed.body == members | {"name": "Patrons"}
    heard = await (await voice.open(OPEN_NUMBER, STRANGER)).search("member lounge password")
    assert "Member lounge" not in [each["title"] for each in heard["results"]]


async def test_a_segment_that_nothing_is_for_goes_and_contacts_lose_it(manage: ManagementClient) -> None:
    made = await manage.new("segments", {"key": "vip", "name": "Very important"})
    contact = await manage.new("contacts", {"phone_number": new_number(), "name": "Ada", "segments": ["vip"]})
    taken = await manage.post(SEGMENTS, {"key": "vip", "name": "Others"})
    assert (taken.status, taken.body["errors"][0]["field"]) == (409, "key")
    assert (await manage.delete(f"{SEGMENTS}/{made['id']}")).status == 204
    assert (await manage.get(f"{CONTACTS}/{contact['id']}")).body["segments"] == []
    assert [each["key"] for each in (await manage.get(SEGMENTS)).body["items"]] == ["members", "staff"]


@pytest.mark.parametrize("path", [CONTACTS, SEGMENTS, NUMBERS, f"{API}/members", f"{API}/teams"])
async def test_pages_go_through_all_of_a_list_once(manage: ManagementClient, path: str) -> None:
    agent = (await all_named(manage, AGENTS))["open"]["id"]
    for _ in range(3):
        await manage.new_people(agent)
    whole = (await manage.get(path, limit=100)).body["items"]
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await manage.get(path, limit=2, **cursor)).body
        found += page["items"]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == whole
    assert len({each["id"] for each in whole}) == len(whole) >= 3


# The organization


async def test_settings_hold_for_the_next_search(manage: ManagementClient, voice: VoiceClient) -> None:
    before = (await manage.get(f"{API}/organization")).body
    assert before == {
        "id": str(ORGANIZATION_ID),
        "name": "Harbour Shop",
        "time_zone": "Europe/Berlin",
        "default_language": "en",
        "default_region": "DE",
        "language_fallbacks": {},
    }
    session = await voice.open(OPEN_NUMBER)
    # Tuesday at noon in Greenwich; the desk is open until five on Tuesdays.
    assert "Repair desk" in [each["title"] for each in (await session.search("repair desk watches"))["results"]]
    changed = await manage.send(
        "PATCH", f"{API}/organization", {"time_zone": "Asia/Tokyo", "language_fallbacks": {"kk": ["ru"]}}
    )
    assert changed.body == before | {"time_zone": "Asia/Tokyo", "language_fallbacks": {"kk": ["ru"]}}
    assert "Repair desk" not in [each["title"] for each in (await session.search("repair desk watches"))["results"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"name": ""}, "name"),
        ({"time_zone": "Berlin"}, "time_zone"),
        ({"time_zone": "../../etc/passwd"}, "time_zone"),
        ({"default_language": "EN"}, "default_language"),
        ({"default_region": "de"}, "default_region"),
        ({"language_fallbacks": {"Kazakh": ["ru"]}}, "language_fallbacks.Kazakh.[key]"),
        ({"language_fallbacks": {"kk": ["Russian"]}}, "language_fallbacks"),
        ({"language_fallbacks": {"kk": "ru"}}, "language_fallbacks.kk"),
        ({"id": str(uuid4())}, "id"),
    ],
)
async def test_settings_that_cannot_be_are_refused(manage: ManagementClient, body: dict[str, Any], field: str) -> None:
    refused = await manage.send("PATCH", f"{API}/organization", body)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)


async def test_no_log_has_a_number_a_name_a_text_or_a_secret(database: TestDatabase) -> None:
    with logged("sentinelname", "sentinelprompt", "5550187") as lines:
        async with running_management(database, await key_for(database, ORGANIZATION_ID)) as manage:
            agent = await manage.new("phone-agents", DESK | {"name": "sentinelname", "prompt": "sentinelprompt"})
            number = {"phone_number": "+15555550187", "agent_id": agent["id"]}
            assert [(await manage.post(NUMBERS, number)).status for _ in range(2)] == [201, 409]
            contact = {"phone_number": "+15555550187", "name": "sentinelname"}
            assert [(await manage.post(CONTACTS, contact)).status for _ in range(2)] == [201, 409]
            await rows(database, "alter table contact add check (false) not valid")
            assert (await manage.post(CONTACTS, contact | {"phone_number": "+15555550188"})).status == 500
            key = await manage.new("api-keys", {"name": "sentinelname", "permissions": ["admin"]})
            lines.secrets.add(key["key"].split("_", 3)[3].casefold())
            assert (await manage.with_key(key["key"]).get(NUMBERS)).status == 200
    lines.all()
