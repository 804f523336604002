"""Lists of a large organization read what is on their page, by indexes, and not all that there is."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from retrieval_sidecar.content.items import list_items
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.scope.configuration import parse_key
from retrieval_sidecar.scope.selectable import folders_of_agent, items_of_folder, list_folders
from tests.support.database import TestDatabase, clone
from tests.support.inspection import rows, value
from tests.support.plans import Explained, Node, explained
from tests.support.small_organization import ORGANIZATION_ID

ITEMS, FOLDERS = 30_000, 300


@pytest_asyncio.fixture(scope="module")
async def large(postgres: LocalServer, small_template: str) -> AsyncIterator[TestDatabase]:
    """The small organization with thirty thousand items more in three hundred folders, few in the other base."""
    with clone(postgres, small_template) as database:
        await rows(
            database,
            "insert into folder (organization_id, folder_key)"
            " select organization_id, 'upload:Folder' || n from organization, generate_series(1, 300) n",
        )
        await rows(
            database,
            "insert into source (organization_id, base_id, kind, name, status)"
            " select organization_id, base_id, 'jsonl', 'large ' || name, 'ready' from knowledge_base",
        )
        await rows(
            database,
            "insert into knowledge_item (organization_id, source_id, folder_id, external_id, title, content,"
            " source_hash, language, status, visibility)"
            " select s.organization_id, s.source_id, f.folder_id, n::text, 'Item ' || n, repeat('word ', 40), n::text,"
            " 'en', 'published', case when n %% 7 = 0 then 'internal' else 'public' end"
            " from generate_series(1, %s) n"
            " join folder f on f.folder_key = 'upload:Folder' || (n %% %s + 1)"
            " join source s on s.name = case when n %% 100 = 0 then 'large Other' else 'large Main' end",
            [ITEMS, FOLDERS],
        )
        await rows(database, "vacuum analyze knowledge_item, folder, source, knowledge_base")
        yield database


@pytest_asyncio.fixture
async def looked_at(large: TestDatabase) -> AsyncIterator[Explained]:
    async with explained(large) as found:
        yield found


def plan_of(found: Explained) -> Node:
    """The plan of the last statement that read items; all are forgotten then."""
    plans = [plan for plan in found._plans if "knowledge_item" in plan["Query Text"]]
    found._plans.clear()
    return Node(plans[-1]["Plan"])


def read(plan: Node) -> tuple[set[str], float]:
    """By which indexes items were reached, and how many rows of theirs were looked at in all."""
    scans = [node for node in plan.walk() if node["Relation Name"] == "knowledge_item" and node.was_executed]
    assert scans
    assert not [scan for scan in scans if scan["Node Type"] == "Seq Scan"]
    touched = sum(
        (scan.fields["Actual Rows"] + scan.fields.get("Rows Removed by Filter", 0)) * scan.fields["Actual Loops"]
        for scan in scans
    )
    return {scan.index for scan in scans}, touched


async def test_a_page_of_folders_looks_at_the_items_of_that_page(looked_at: Explained) -> None:
    found = await list_folders(looked_at.connection, ORGANIZATION_ID, after="upload:Folder1", limit=11)
    assert {each.items for each in found} <= {85, 86}
    indexes, touched = read(plan_of(looked_at))
    assert indexes == {"knowledge_item_folder"}
    assert touched <= 11 * 100 + 2 * 12  # those of the page, and one of each folder to see that something is in it
    everything = await list_folders(looked_at.connection, ORGANIZATION_ID, after="", limit=1_000)
    by_key = {each.key: each.items for each in everything}
    assert len(by_key) == FOLDERS + 3  # two bases, and Prices
    assert sum(items for key, items in by_key.items() if key.startswith("upload:Folder")) == ITEMS - ITEMS // 7
    bases = {each.name: each.items for each in everything if each.key.startswith("base:")}
    # Beside the two of the small organization that nobody may select: one is internal, one for the chat.
    other = ITEMS // 100 - ITEMS // 700
    assert bases == {"Main": ITEMS - ITEMS // 7 - other + 8, "Other": other + 1}


async def test_the_folders_of_an_agent_are_counted_by_indexes(large: TestDatabase, looked_at: Explained) -> None:
    agent_id = await value(large, "select agent_id from phone_agent where name = 'selected'")
    found = await folders_of_agent(looked_at.connection, ORGANIZATION_ID, agent_id, limit=10)
    main = next(each for each in found if each.name == "Main")
    assert (found[0].key, found[0].is_selected) == ("upload:Prices", True)
    assert (found[1], main.selected_items) == (main, 1)
    indexes, _ = read(plan_of(looked_at))
    assert {"knowledge_item_folder", "knowledge_item_source"} <= indexes


@pytest.mark.parametrize(
    ("key", "index"), [("upload:Folder7", "knowledge_item_folder"), ("base", "knowledge_item_source")]
)
async def test_a_page_of_items_is_read_in_its_order(
    large: TestDatabase, looked_at: Explained, key: str, index: str
) -> None:
    if key == "base":
        key = await value(large, "select 'base:' || base_id from knowledge_base where name = 'Other'")
    parsed = parse_key(key)
    assert parsed is not None
    found = await items_of_folder(looked_at.connection, ORGANIZATION_ID, parsed, after=0, limit=5)
    assert len(found) == 5
    indexes, touched = read(plan_of(looked_at))
    assert indexes == {index}
    assert touched <= 20


FILTERS: list[tuple[str, str]] = [
    ("in_folder", "knowledge_item_folder"),
    ("of_source", "knowledge_item_source"),
]


@pytest.mark.parametrize(("name", "index"), FILTERS)
async def test_a_filtered_page_is_read_in_its_order(
    large: TestDatabase, looked_at: Explained, name: str, index: str
) -> None:
    source_id = await value(large, "select source_id from source where name = 'large Other'")
    filters = {name: "upload:Folder7" if name == "in_folder" else source_id}
    found = await list_items(looked_at.connection, ORGANIZATION_ID, filters, after=0, limit=5)
    assert len(found) == 5
    indexes, touched = read(plan_of(looked_at))
    assert indexes == {index}
    assert touched <= 10
