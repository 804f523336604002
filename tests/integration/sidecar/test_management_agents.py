"""Phone agents over the management API, and what there is to select for them."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, FOREIGN_NUMBER
from tests.support.inspection import rows, value
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.small_organization import ORGANIZATION_ID, SELECTED_NUMBER

API = "/api/v1"
LISTS = ("phone-agents", "knowledge-folders", "instruction-directories", "instructions")


@pytest_asyncio.fixture(scope="module")
async def manage(shop: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID, "agents.view")) as client:
        yield client


async def all_of(client: ManagementClient, path: str, limit: int) -> list[dict[str, Any]]:
    """A whole list, a page at a time."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await client.get(f"{API}/{path}", limit=limit, **cursor)
        assert answer.status == 200, answer
        assert len(answer.body["items"]) <= limit
        found += answer.body["items"]
        if "next_cursor" not in answer.body:
            return found
        cursor = {"cursor": answer.body["next_cursor"]}


def items_path(key: str) -> str:
    return f"knowledge-folders/{quote(key, safe='')}/items"


async def test_an_agent_is_found_with_its_modes_and_numbers(manage: ManagementClient) -> None:
    agents = {each["name"]: each for each in await all_of(manage, "phone-agents", 100)}
    assert list(agents) == ["both", "empty", "guided", "open", "selected", "told"]
    selected = agents["selected"]
    assert selected == {
        "id": selected["id"],
        "name": "selected",
        "language": "en",
        "region_code": "DE",
        "instruction_scope_mode": "selected",
        "knowledge_scope_mode": "selected",
        "numbers": [SELECTED_NUMBER],
    }
    assert "region_code" not in agents["told"]
    assert [agents[name]["instruction_scope_mode"] for name in ("open", "guided", "told")] == ["all", "selected", "all"]
    assert [agents[name]["knowledge_scope_mode"] for name in ("open", "guided", "told")] == ["all", "all", "selected"]
    alone = (await manage.get(f"{API}/phone-agents/{selected['id']}")).body
    assert alone == selected | {
        "prompt": "You answer the phone of a shop.",
        "greeting": "Hello.",
        "handoff_number": "+15555550999",
        "knowledge_mode": "search",
    }


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_pages_go_through_all_of_a_list_once(manage: ManagementClient, name: str, limit: int) -> None:
    found = await all_of(manage, name, limit)
    keys = [each.get("id") or each["key"] for each in found]
    assert len(set(keys)) == len(keys) >= 2
    assert found == await all_of(manage, name, 50)


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_has_nothing_of_another_organization(
    manage: ManagementClient, shop: TestDatabase, name: str
) -> None:
    ours = await all_of(manage, name, 100)
    foreign = await all_of(manage.with_key(await key_for(shop, FOREIGN_ID)), name, 100)
    assert not {each.get("id") or each["key"] for each in ours} & {each.get("id") or each["key"] for each in foreign}
    assert FOREIGN_NUMBER not in str(ours)
    assert "foreign" not in str(ours)


@pytest.mark.parametrize("name", [*LISTS, "knowledge-folders/upload%3APrices/items"])
async def test_a_cursor_of_another_list_is_refused(manage: ManagementClient, name: str) -> None:
    wrong = {"WzEsMl0", "e30", "bnVsbA", "dHJ1ZQ", "LTE", "MS41", "WyJhIiwiYiJd", "Ilx1MDAwMCI", "x" * 3001}
    wrong |= {"OTk5OTk5OTk5OTk5"} if name in ("instructions", "knowledge-folders/upload%3APrices/items") else {"MQ"}
    for cursor in wrong:
        refused = await manage.get(f"{API}/{name}", cursor=cursor)
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "cursor"), cursor


async def test_folders_are_those_with_something_in_them_and_bases_are_whole(
    manage: ManagementClient, shop: TestDatabase
) -> None:
    folders = {each["key"]: each for each in await all_of(manage, "knowledge-folders", 2)}
    bases = dict(
        await rows(
            shop, "select 'base:' || base_id, name from knowledge_base where organization_id = %s", [ORGANIZATION_ID]
        )
    )
    assert list(folders) == [*sorted(bases), "upload:Old%20prices", "upload:Prices"]
    assert {key: folders[key]["name"] for key in bases} == bases
    assert folders["upload:Old%20prices"] == {"key": "upload:Old%20prices", "name": "Old prices", "item_count": 1}
    for key, folder in folders.items():
        items = await all_of(manage, items_path(key), 3)
        assert len(items) == folder["item_count"] == len({each["id"] for each in items})
    # That of its own folder, and that of another.
    main = await all_of(manage, items_path(next(key for key, name in bases.items() if name == "Main")), 100)
    assert {"Parking garage", "Gift voucher"} <= {each["title"] for each in main}


async def test_items_are_public_for_the_phone_and_not_deleted(manage: ManagementClient, shop: TestDatabase) -> None:
    (main,) = [each for each in await all_of(manage, "knowledge-folders", 100) if each["name"] == "Main"]
    found = {each["title"]: each["status"] for each in await all_of(manage, items_path(main["key"]), 100)}
    assert {"Salary table", "Chat gimmick"} & set(found) == set()
    assert found["Unicorn sale"] == "draft"
    assert found["Parking garage"] == "published"
    await rows(shop, "update knowledge_item set deleted_at = now() where title = 'Old voucher'")
    assert await all_of(manage, items_path("upload:Old%20prices"), 100) == []
    await rows(shop, "update knowledge_item set deleted_at = null where title = 'Old voucher'")


KEYS = ["upload:a%2Fb", "integration:crm%2Feu/orders", "workflow:", "website:help.example.com", "upload:%E4%BE%A1%25"]


@pytest.mark.parametrize("key", KEYS)
async def test_the_key_of_any_folder_goes_into_a_path(manage: ManagementClient, shop: TestDatabase, key: str) -> None:
    await rows(
        shop,
        "with f as (insert into folder (organization_id, folder_key) values (%s, %s) returning folder_id)"
        " update knowledge_item i set folder_id = f.folder_id from f"
        " where i.organization_id = %s and i.external_id = 'link'",
        [ORGANIZATION_ID, key, ORGANIZATION_ID],
    )
    assert [each["title"] for each in await all_of(manage, items_path(key), 10)] == ["Opening hours"]


@pytest.mark.parametrize(
    "key", ["upload", "folder:x", "upload:", "upload:Price list", "base:Main", "base:", "upload:a%2fb", "all", "%00"]
)
async def test_a_key_that_is_none_is_refused(manage: ManagementClient, key: str) -> None:
    refused = await manage.get(f"{API}/{items_path(key)}")
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "folder_key")


async def test_a_key_of_another_organization_is_not_there(manage: ManagementClient, shop: TestDatabase) -> None:
    base = await value(
        shop, "select base_id::text from knowledge_base where organization_id = %s and name = 'Main'", [FOREIGN_ID]
    )
    await rows(
        shop,
        "insert into folder (organization_id, folder_key) values (%s, 'upload:Theirs') on conflict do nothing",
        [FOREIGN_ID],
    )
    for key in (f"base:{base}", "upload:Theirs", "upload:Nowhere"):
        refused = await manage.get(f"{API}/{items_path(key)}")
        assert (refused.status, refused.body["code"]) == (404, "not_found"), key


async def test_instructions_and_their_directories(manage: ManagementClient, shop: TestDatabase) -> None:
    directories = {each["name"]: each for each in await all_of(manage, "instruction-directories", 1)}
    rules, returns = directories["Rules"], directories["Returns"]
    assert returns["parent_id"] == rules["id"]
    assert "parent_id" not in rules
    assert (rules["instruction_count"], returns["instruction_count"]) == (4, 1)
    instructions = {each["title"]: each for each in await all_of(manage, "instructions", 2)}
    assert instructions["Secret discount"]["status"] == "draft"
    policy = instructions["Returns policy"]
    assert policy == {
        "id": policy["id"],
        "title": "Returns policy",
        "directory_id": returns["id"],
        "status": "published",
    }
    assert "voucher" not in str(instructions)
    await rows(shop, "update instruction set deleted_at = now() where title = 'Not yet'")
    assert "Not yet" not in str(await all_of(manage, "instructions", 100))
    counts = {each["name"]: each["instruction_count"] for each in await all_of(manage, "instruction-directories", 9)}
    assert counts == {"Rules": 3, "Returns": 1}


async def test_lists_of_names_without_end_have_cursors_with_one(manage: ManagementClient, shop: TestDatabase) -> None:
    for number in range(3):
        await rows(
            shop,
            "insert into instruction_directory (organization_id, name) values (%s, repeat('ж', 3000) || %s)",
            [ORGANIZATION_ID, number],
        )
    assert len(await all_of(manage, "instruction-directories", 1)) == 5
    await rows(shop, "delete from instruction_directory where length(name) > 3000")
