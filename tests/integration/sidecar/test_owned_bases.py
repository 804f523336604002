"""What a team or a person has to themselves: seen by them alone, searched by no agent until they publish it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.load import load_organization
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.jobs import process, workshop
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import VoiceClient, connected, write_files
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, items, organization

SECRET = "The sentinel stands beside the orchard gate."
QUESTION = "where does the sentinel stand"


@dataclass(frozen=True)
class People:
    """Clients with keys of different people.

    Attributes:
        service: the organization's own key, which may do all.
        kim, ada: in the team, who may edit and look.
        robin: not in it, who may do all.
    """

    service: ManagementClient
    kim: ManagementClient
    ada: ManagementClient
    robin: ManagementClient
    kims_id: str
    team_id: str

    @property
    def strangers(self) -> tuple[ManagementClient, ...]:
        return self.service, self.robin


async def member(manage: ManagementClient, name: str, permission: str) -> tuple[str, ManagementClient]:
    """Somebody new with a key."""
    made = await manage.new("members", {"name": name, "permissions": [permission]})
    key = await manage.new("api-keys", {"name": name, "permissions": [permission], "member_id": made["id"]})
    return made["id"], manage.with_key(key["key"])


@pytest_asyncio.fixture
async def people(database: TestDatabase) -> AsyncIterator[People]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as service:
        kims_id, kim = await member(service, "Kim Osei", "agents.edit")
        adas_id, ada = await member(service, "Ada Lund", "agents.view")
        _, robin = await member(service, "Robin Vale", "admin")
        team = (await kim.new("teams", {"name": "Front desk"}))["id"]
        assert (await kim.send("PUT", f"/api/v1/teams/{team}/members/{adas_id}")).status == 204
        yield People(service, kim, ada, robin, kims_id, team)


async def base_of(owner: ManagementClient, owner_type: str, team_id: str | None = None, name: str = "Drafts") -> str:
    of = {"team_id": team_id} if team_id else {}
    made = await owner.new("knowledge-bases", {"name": name, "owner_type": owner_type, **of})
    assert (made["owner_type"], made["published"], made.get("team_id")) == (owner_type, False, team_id)
    return f"{BASES}/{made['id']}"


async def add_secret(owner: ManagementClient, database: TestDatabase, base: str) -> str:
    """A source of the base, read and indexed."""
    source = await owner.new_text(base, "Sentinel", SECRET)
    await process(workshop(database), UUID(source.rpartition("/")[2]), ORGANIZATION_ID)
    assert (await owner.get(source)).body["status"] == "ready"
    return source


async def found(client: ManagementClient, base: str, **fields: Any) -> list[str]:
    answer = await client.post(f"{base}/search", {"query": QUESTION} | fields)
    assert answer.status == 200, answer
    return [each["text"] for each in answer.body["results"]]


async def publish(owner: ManagementClient, base: str, *, published: bool = True) -> None:
    answer = await owner.send("PATCH", base, {"published": published})
    assert (answer.status, answer.body["published"]) == (200, published)


@pytest.mark.parametrize("owner_type", ["team", "user"])
async def test_for_all_others_it_is_not_there(people: People, database: TestDatabase, owner_type: str) -> None:
    base = await base_of(people.kim, owner_type, people.team_id if owner_type == "team" else None)
    source = await add_secret(people.kim, database, base)
    for others in people.strangers if owner_type == "team" else (*people.strangers, people.ada):
        assert "Drafts" not in str((await others.get(BASES)).body)
        may_edit = others is not people.ada
        for method, path, body in (
            ("GET", base, None),
            ("GET", f"{base}/sources", None),
            ("GET", source, None),
            ("GET", f"{source}/passages", None),
            ("POST", f"{base}/search", {"query": QUESTION}),
            *(
                (
                    ("PATCH", base, {"name": "Mine"}),
                    ("PATCH", base, {"published": True}),
                    ("POST", f"{base}/sources/text", {"name": "a", "text": "b"}),
                    ("POST", f"{base}/sources/url", {"url": "https://help.example.com/"}),
                    ("POST", f"{source}/reprocess", None),
                    ("DELETE", source, None),
                    ("DELETE", base, None),
                )
                if may_edit
                else ()
            ),
        ):
            answer = await others.send(method, path, body)
            assert (answer.status, answer.body["code"]) == (404, "not_found"), (method, path)
        if may_edit:
            assert (await others.upload(f"{base}/sources/file", b"text")).status == 404
    assert (await people.kim.get(source)).status == 200


async def test_a_team_sees_its_own_and_who_leaves_it_no_longer(people: People, database: TestDatabase) -> None:
    base = await base_of(people.kim, "team", people.team_id)
    await add_secret(people.kim, database, base)
    for each in (people.kim, people.ada):
        assert "Drafts" in [one["name"] for one in (await each.get(BASES)).body["items"]]
        assert await found(each, base) == [SECRET]
    assert (await people.ada.send("PATCH", base, {"published": True})).status == 403  # who may not edit anything
    await people.service.delete(f"/api/v1/teams/{people.team_id}/members/{people.kims_id}")
    assert (await people.kim.get(base)).status == 404
    assert "Drafts" not in str((await people.kim.get(BASES)).body)
    assert (await people.kim.post(f"{base}/search", {"query": QUESTION})).status == 404
    assert await found(people.ada, base) == [SECRET]


@pytest.mark.parametrize("owner_type", ["team", "user"])
async def test_agents_search_it_while_it_is_published_and_from_the_next_search_on_no_longer(
    people: People, database: TestDatabase, voice: VoiceClient, owner_type: str
) -> None:
    base = await base_of(people.kim, owner_type, people.team_id if owner_type == "team" else None)
    await add_secret(people.kim, database, base)
    call = await voice.open(OPEN_NUMBER)
    agent = call.identity["agentId"]
    given = [each["content"] for each in (await call.search(QUESTION))["results"]]
    assert SECRET not in given
    assert SECRET not in await found(people.kim, base, agent_id=agent, limit=20)

    await publish(people.kim, base)
    assert SECRET in [each["content"] for each in (await call.search(QUESTION))["results"]]
    for each in people.strangers:
        assert "Drafts" in [one["name"] for one in (await each.get(BASES)).body["items"]]
        assert await found(each, base) == [SECRET]

    await publish(people.kim, base, published=False)
    assert SECRET not in [each["content"] for each in (await call.search(QUESTION))["results"]]
    assert (await people.service.post(f"{base}/search", {"query": QUESTION})).status == 404
    assert await found(people.kim, base) == [SECRET]
    told = await rows(
        database,
        "select before, after from audit_log where object_id = %s order by entry_id",
        [base.rpartition("/")[2]],
    )
    assert [after["published"] for _, after in told] == [False, True, False]
    assert ["name" in after for _, after in told] == [False, True, False]


async def test_an_agent_that_selected_it_is_restricted_to_nothing_once_it_is_taken_back(
    people: People, database: TestDatabase, voice: VoiceClient
) -> None:
    base = await base_of(people.kim, "user")
    await add_secret(people.kim, database, base)
    await publish(people.kim, base)
    call = await voice.open(OPEN_NUMBER)
    sources = f"/api/v1/phone-agents/{call.identity['agentId']}/knowledge-sources"
    key = f"base:{base.rpartition('/')[2]}"
    selected = await people.service.send(
        "PUT",
        sources,
        {"knowledge_folder_keys": [key], "instruction_ids": []},
        headers={"If-Match": (await people.service.get(sources)).headers["ETag"]},
    )
    assert selected.status == 200
    assert [each["content"] for each in (await call.search(QUESTION))["results"]] == [SECRET]
    await publish(people.kim, base, published=False)
    assert (await call.search("sentinel orchard gate"))["status"] == "restricted_empty"
    await publish(people.kim, base)
    assert [each["content"] for each in (await call.search(QUESTION))["results"]] == [SECRET]


async def test_it_cannot_be_selected_and_no_call_narrowed_to_it(
    people: People, database: TestDatabase, voice: VoiceClient
) -> None:
    base = await base_of(people.kim, "user")
    await add_secret(people.kim, database, base)
    base_id = base.rpartition("/")[2]
    item = await value(database, "select item_id::text from knowledge_item where content = %s", [SECRET])
    folder = await value(
        database,
        "select folder_key from folder join knowledge_item using (organization_id, folder_id) where content = %s",
        [SECRET],
    )
    agent = (await people.kim.get("/api/v1/phone-agents")).body["items"][0]["id"]
    sources = f"/api/v1/phone-agents/{agent}/knowledge-sources"
    for body in (
        {"knowledge_folder_keys": [f"base:{base_id}"]},
        {"knowledge_folder_keys": [folder]},
        {"knowledge_item_ids": [item]},
    ):
        for client in (people.kim, people.service):  # its owner neither: what a call searches, all who call may hear
            etag = (await client.get(sources)).headers["ETag"]
            refused = await client.send("PUT", sources, body, headers={"If-Match": etag})
            assert (refused.status, refused.body["errors"][0]["field"]) == (400, f"{next(iter(body))}.0")
    narrowed = {"calledNumber": OPEN_NUMBER, "roomName": "r", "callId": str(uuid4())}
    narrowed["narrowToKnowledgeBaseIds"] = [base_id]  # type: ignore[assignment]
    assert (await voice.post("/internal/voice/v1/sessions", narrowed)).status == 400


async def test_what_is_closed_for_other_reasons_its_owner_does_not_find_either(
    people: People, database: TestDatabase
) -> None:
    base = await base_of(people.kim, "user")
    source = await add_secret(people.kim, database, base)
    assert await found(people.kim, base) == [SECRET]
    await rows(database, "update knowledge_item set status = 'draft' where content = %s", [SECRET])
    assert await found(people.kim, base) == []  # by its row, which has the last word
    await rows(database, "update knowledge_item set status = 'published' where content = %s", [SECRET])
    await people.kim.delete(source)
    answer = await people.kim.post(f"{base}/search", {"query": QUESTION})
    assert answer.body["status"] == "restricted_empty"


async def test_others_see_what_is_published_and_cannot_change_it(people: People, database: TestDatabase) -> None:
    base = await base_of(people.kim, "team", people.team_id)
    source = await add_secret(people.kim, database, base)
    await publish(people.kim, base)
    for method, path, body in (
        ("PATCH", base, {"name": "Ours"}),
        ("PATCH", base, {"published": False}),
        ("POST", f"{base}/sources/text", {"name": "a", "text": "b"}),
        ("POST", f"{source}/reprocess", None),
        ("DELETE", source, None),
        ("DELETE", base, None),
    ):
        for each in people.strangers:
            answer = await each.send(method, path, body)
            assert (answer.status, answer.body["code"]) == (403, "forbidden"), (method, path)
    assert (await people.service.upload(f"{base}/sources/file", b"text")).status == 403
    assert (await people.robin.get(f"{source}/passages")).body["items"][0]["text"] == SECRET


async def test_whose_a_base_can_be(people: People) -> None:
    other_team = (await people.service.new("teams", {"name": "Back office"}))["id"]
    for client, body, field in (
        (people.service, {"owner_type": "user"}, "owner_type"),
        (people.service, {"owner_type": "team", "team_id": people.team_id}, "owner_type"),
        (people.kim, {"owner_type": "team"}, "team_id"),
        (people.kim, {"team_id": people.team_id}, "team_id"),
        (people.kim, {"owner_type": "user", "team_id": people.team_id}, "team_id"),
        (people.kim, {"owner_type": "team", "team_id": other_team}, "team_id"),
        (people.kim, {"owner_type": "team", "team_id": str(uuid4())}, "team_id"),
        (people.kim, {"owner_type": "world"}, "owner_type"),
    ):
        refused = await client.post(BASES, {"name": "New"} | body)
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, field), body
    own = await people.service.new_base("Own")
    refused = await people.service.send("PATCH", own, {"published": False})
    assert (refused.status, refused.body["errors"][0]["field"]) == (409, "published")
    assert (await people.service.send("PATCH", own, {"published": True})).status == 200
    assert (await people.service.send("PATCH", own, {})).status == 400


async def test_pages_are_full_whatever_others_have(people: People) -> None:
    for number in range(4):
        await base_of(people.kim, "user", name=f"Kim's {number}")
        await people.service.new_base(f"Line {number}")
    page = (await people.service.get(BASES, limit=4)).body
    names = [each["name"] for each in page["items"]]
    assert names == ["Line 0", "Line 1", "Line 2", "Line 3"]
    rest = (await people.service.get(BASES, limit=4, cursor=page["next_cursor"])).body
    assert [each["name"] for each in rest["items"]] == ["Main", "Other"]
    assert "next_cursor" not in rest


async def test_the_audit_log_which_all_read_does_not_name_what_is_anothers(
    people: People, database: TestDatabase
) -> None:
    base = await base_of(people.kim, "user")
    source = await add_secret(people.kim, database, base)
    await people.kim.send("PATCH", base, {"name": "Drafts again"})
    await people.kim.delete(source)
    await people.kim.delete(base)
    for object_id in (base.rpartition("/")[2], source.rpartition("/")[2]):
        told = (await people.service.get("/api/v1/audit-log", object_id=object_id)).body["items"]
        assert len(told) >= 2
        assert "Drafts" not in str(told)
        assert "Sentinel" not in str(told)


async def test_a_team_stays_while_it_has_bases(people: People) -> None:
    base = await base_of(people.kim, "team", people.team_id)
    team = f"/api/v1/teams/{people.team_id}"
    refused = await people.service.delete(team)
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "1 knowledge base" in refused.body["detail"]
    assert (await people.kim.delete(base)).status == 204
    assert (await people.service.delete(team)).status == 204


async def test_who_is_removed_leaves_what_is_published_and_nothing_else(
    people: People, database: TestDatabase, voice: VoiceClient
) -> None:
    public = await base_of(people.kim, "user", name="Public")
    await add_secret(people.kim, database, public)
    await publish(people.kim, public)
    kept = await base_of(people.kim, "user", name="Kept")
    agent = (await voice.open(OPEN_NUMBER)).identity["agentId"]
    # An agent has selected it since it was published once.
    await rows(
        database,
        "insert into agent_knowledge_base select organization_id, %s, base_id from knowledge_base where name = 'Kept'",
        [agent],
    )
    assert (await people.service.delete(f"/api/v1/members/{people.kims_id}")).status == 204
    assert (await people.kim.get(BASES)).status == 401
    assert (await people.service.get(kept)).status == 404
    assert await rows(database, "select from knowledge_base where name = 'Kept'") == []
    ours = (await people.service.get(public)).body
    assert (ours["owner_type"], ours["published"]) == ("organization", True)
    assert await found(people.service, public) == [SECRET]
    assert (await people.service.delete(public)).status == 204


async def test_a_file_does_not_fill_a_base_of_somebody(people: People, database: TestDatabase, tmp_path: Path) -> None:
    await base_of(people.kim, "user", name="Notes")
    named = organization()
    named["knowledge_bases"].append({"key": "notes", "name": "Notes"})
    files = write_files(tmp_path, named, items())
    async with connected(database, "manage") as connection:
        with pytest.raises(InvalidRequest) as refused:
            await load_organization(connection, *files)
    assert refused.value.problems[0].field == "knowledge_bases.name"
