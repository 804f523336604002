"""The audit log over the management API."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import ORGANIZATION_ID

LOG = "/api/v1/audit-log"


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    key = await key_for(database, ORGANIZATION_ID)
    await rows(database, "delete from audit_log")
    async with running_management(database, key, clock=clock) as client:
        yield client


async def test_changes_are_told_the_latest_first(manage: ManagementClient, clock: TestClock) -> None:
    base = await manage.new_base("Patients")
    clock.advance(hours=1)
    await manage.send("PATCH", base, {"name": "Visitors"})
    await manage.delete(base)
    deleted, renamed, made = (await manage.get(LOG)).body["items"]
    assert renamed == {
        "id": renamed["id"],
        "at": "2026-12-01T13:00:00Z",
        "actor": f"key:{UUID(manage.key.split('_')[2])}",
        "action": "update",
        "object_type": "knowledge_base",
        "object_id": base.rpartition("/")[2],
        "before": {"name": "Patients"},
        "after": {"name": "Visitors"},
    }
    assert (made["action"], made["after"], "before" in made) == ("create", {"name": "Patients"}, False)
    assert (deleted["action"], "after" in deleted) == ("delete", False)


async def test_pages_go_back_through_all_of_it_once(manage: ManagementClient) -> None:
    for number in range(5):
        await manage.new_base(f"Base {number}")
    names: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await manage.get(LOG, limit=2, **cursor)).body
        names += [each["after"]["name"] for each in page["items"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
        await manage.new_base(f"Later {len(names)}")  # what comes meanwhile moves nothing
    assert names == [f"Base {number}" for number in (4, 3, 2, 1, 0)]


async def test_one_things_history_is_its_own(manage: ManagementClient) -> None:
    base, other = await manage.new_base("Patients"), await manage.new_base("Staff")
    await manage.send("PATCH", base, {"name": "Visitors"})
    await manage.send("PATCH", other, {"name": "Team"})
    found = (await manage.get(LOG, object_id=base.rpartition("/")[2])).body["items"]
    assert [each["after"]["name"] for each in found] == ["Visitors", "Patients"]
    assert (await manage.get(LOG, object_id=str(uuid4()))).body == {"items": []}


async def test_another_organizations_changes_are_not_told(
    manage: ManagementClient, database: TestDatabase, tmp_path: Path
) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    foreign = manage.with_key(await key_for(database, FOREIGN_ID))
    base = await foreign.new_base("Theirs")
    assert (await manage.get(LOG)).body == {"items": []}
    assert (await manage.get(LOG, object_id=base.rpartition("/")[2])).body == {"items": []}
    assert "Theirs" in str((await foreign.get(LOG)).body)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"object_id": "base"}, "object_id"),
        ({"object_id": ""}, "object_id"),
        ({"object_type": "source"}, "object_type"),
        ({"cursor": "Ilx1MDAwMCI"}, "cursor"),
        ({"limit": "101"}, "limit"),
    ],
)
async def test_what_it_cannot_be_asked_is_refused(manage: ManagementClient, query: dict[str, str], field: str) -> None:
    refused = await manage.get(LOG, **query)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)
