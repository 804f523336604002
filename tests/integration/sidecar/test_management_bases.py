"""Knowledge bases over the management API."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.inspection import value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.small_organization import ORGANIZATION_ID


@pytest_asyncio.fixture
async def manage(database: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as client:
        yield client


async def test_a_base_is_made_found_renamed_and_removed(manage: ManagementClient) -> None:
    made = await manage.post(BASES, {"name": "  Patients "})
    assert made.status == 201
    assert made.body == {
        "id": made.body["id"],
        "name": "Patients",
        "owner_type": "organization",
        "published": True,
        "source_count": 0,
        "item_count": 0,
        "chunk_count": 0,
        "characters": 0,
        "agent_count": 0,
        "agents": [],
    }
    path = f"{BASES}/{made.body['id']}"
    assert (await manage.get(path)).body == made.body
    renamed = await manage.send("PATCH", path, {"name": "Visitors"})
    assert (renamed.status, renamed.body["name"]) == (200, "Visitors")
    assert [each["name"] for each in (await manage.get(BASES)).body["items"]] == ["Main", "Other", "Visitors"]
    assert (await manage.delete(path)).status == 204
    assert (await manage.get(path)).status == 404
    assert (await manage.delete(path)).status == 404


async def test_totals_and_the_agents_that_use_a_base(manage: ManagementClient) -> None:
    main, other = (await manage.get(BASES)).body["items"]
    assert (main["source_count"], main["item_count"], main["chunk_count"]) == (1, 10, 10)
    assert [each["name"] for each in main["agents"]] == ["selected"]
    assert (other["item_count"], other["agent_count"], other["agents"]) == (1, 0, [])
    assert (await manage.get(f"{BASES}/{main['id']}")).body == main


async def test_a_base_that_an_agent_uses_stays_and_the_answer_names_the_agents(manage: ManagementClient) -> None:
    (main, _) = (await manage.get(BASES)).body["items"]
    refused = await manage.delete(f"{BASES}/{main['id']}")
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "used by selected." in refused.body["detail"]
    assert (await manage.get(f"{BASES}/{main['id']}")).body == main


async def test_of_bases_made_at_once_with_one_name_one_is_made(
    manage: ManagementClient, database: TestDatabase
) -> None:
    answers = await asyncio.gather(*(manage.post(BASES, {"name": "Patients"}) for _ in range(6)))
    assert sorted(each.status for each in answers) == [201] + [409] * 5
    taken = next(each.body for each in answers if each.status == 409)
    assert (taken["code"], taken["errors"][0]["field"]) == ("conflict", "name")
    assert await value(database, "select count(*) from audit_log where object_type = 'knowledge_base'") == 1


async def test_a_name_that_another_base_has_is_not_given(manage: ManagementClient) -> None:
    path = await manage.new_base("Patients")
    refused = await manage.send("PATCH", path, {"name": "Main"})
    assert (refused.status, refused.body["errors"][0]["field"]) == (409, "name")
    assert (await manage.get(path)).body["name"] == "Patients"
    assert (await manage.send("PATCH", path, {"name": "Patients"})).status == 200


async def test_a_limit_that_is_reached_is_named_with_its_setting(database: TestDatabase) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    async with running_management(database, key, max_bases=3) as manage:
        await manage.new_base("Patients")
        refused = await manage.post(BASES, {"name": "Visitors"})
    assert (refused.status, refused.body["code"]) == (409, "limit_reached")
    assert "3 knowledge bases" in refused.body["detail"]
    assert "ANSWERLINE_MAX_BASES" in refused.body["detail"]


async def test_pages_go_through_all_of_a_list_once(manage: ManagementClient) -> None:
    for number in range(5):
        await manage.new_base(f"База {number}")
    names: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(4):
        page = (await manage.get(BASES, limit=2, **cursor)).body
        assert len(page["items"]) in (1, 2)
        names += [each["name"] for each in page["items"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert names == ["Main", "Other", *(f"База {number}" for number in range(5))]
    whole = (await manage.get(BASES, limit=7)).body
    assert len(whole["items"]) == 7
    assert "next_cursor" not in whole


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": "1.5"}, "limit"),
        ({"limit": "١٠"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "none"}, "cursor"),
        ({"cursor": "WzEsMl0"}, "cursor"),  # a passage's, not a name
        ({"cursor": "Ilx1MDAwMCI"}, "cursor"),  # NUL
        ({"cursor": "Ilx1ZDgwMCI"}, "cursor"),  # half of a surrogate pair
        ({"cursor": "x" * 2001}, "cursor"),
        ({"cursor": "%00"}, "cursor"),
        ({"page": "2"}, "page"),
    ],
)
async def test_a_page_that_cannot_be_is_refused(manage: ManagementClient, query: dict[str, str], field: str) -> None:
    refused = await manage.get(BASES, **query)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)
