"""What agents may search, as operators choose it over the management API, and as calls then find it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.errors import InvalidRequest
from retrieval_sidecar.ingest.load import load_organization
from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import Answer, TestClock, VoiceClient, connected, load, write_files
from tests.support.small_organization import (
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    agent,
    items,
    organization,
)

AGENTS = "/api/v1/phone-agents"
NUMBERS = {"open": OPEN_NUMBER, "selected": SELECTED_NUMBER}
PARKING, TERMINAL, VOUCHER = "parking garage", "card terminal pin 44 x", "gift voucher counter"
RETURNS = "returns policy late return voucher"
STALE = '"' + "0" * 64 + '"'


@pytest_asyncio.fixture
async def both(database: TestDatabase, tmp_path: Path) -> TestDatabase:
    """The small organization and another one, which has an instruction too."""
    foreign = foreign_organization() | {
        "instruction_directories": organization()["instruction_directories"],
        "instructions": organization()["instructions"],
    }
    await load(database, tmp_path, foreign, foreign_items())
    return database


@pytest_asyncio.fixture
async def manage(both: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    key = await key_for(both, ORGANIZATION_ID)
    async with running_management(both, key, clock=clock, max_agent_bases=2) as client:
        yield client


@dataclass(frozen=True)
class Ids:
    """What there is to select, by the names that the files use."""

    agents: Mapping[str, str]
    items: Mapping[str, str]
    instructions: Mapping[str, str]
    directories: Mapping[str, str]
    bases: Mapping[str, str]


async def ids_of(database: TestDatabase, organization_id: UUID) -> Ids:
    async def named(statement: LiteralString) -> dict[str, str]:
        return {name: str(identity) for name, identity in await rows(database, statement, [organization_id])}

    return Ids(
        await named("select name, agent_id from phone_agent where organization_id = %s"),
        await named("select external_id, item_id from knowledge_item where organization_id = %s"),
        await named("select title, instruction_id from instruction where organization_id = %s"),
        await named("select name, directory_id from instruction_directory where organization_id = %s"),
        await named("select name, 'base:' || base_id from knowledge_base where organization_id = %s"),
    )


@pytest_asyncio.fixture
async def ids(both: TestDatabase) -> Ids:
    return await ids_of(both, ORGANIZATION_ID)


@dataclass(frozen=True)
class Editor:
    """One who edits what an agent may search, from the state as it was read last."""

    client: ManagementClient
    path: str
    etag: str

    async def send(self, **arrays: Any) -> Answer:
        return await self.client.send("PUT", self.path, arrays, headers={"If-Match": self.etag})

    async def put(self, **arrays: Any) -> "Editor":
        answer = await self.send(**arrays)
        assert answer.status == 200, answer
        return Editor(self.client, self.path, answer.headers["ETag"])

    async def tree(self) -> Any:
        return (await self.client.get(self.path)).body


async def edit(client: ManagementClient, agent_id: str) -> Editor:
    path = f"{AGENTS}/{agent_id}/knowledge-sources"
    answer = await client.get(path)
    assert answer.status == 200, answer
    return Editor(client, path, answer.headers["ETag"])


async def found(voice: VoiceClient, number: str, query: str) -> Any:
    """What a call finds, and what it is told of its scope."""
    answer = await (await voice.open(number)).search(query)
    return answer["instructionMode"], answer["knowledgeMode"], {result["title"] for result in answer["results"]}


def modes(tree: Any) -> tuple[str, str]:
    return tree["instruction_scope"]["mode"], tree["knowledge_scope"]["mode"]


# What is sent, and what a call then may and may not find: the four rows of the design.
MATRIX = [
    ({"instruction": False, "knowledge": False}, ("all", "all"), {"Returns policy", "Parking garage", "Card terminal"}),
    ({"instruction": False, "knowledge": True}, ("all", "selected"), {"Returns policy", "Parking garage"}),
    ({"instruction": True, "knowledge": False}, ("selected", "all"), {"Parking garage", "Card terminal"}),
    ({"instruction": True, "knowledge": True}, ("selected", "selected"), {"Parking garage"}),
]


@pytest.mark.parametrize(("chosen", "expected", "titles"), MATRIX, ids=[" × ".join(row[1]) for row in MATRIX])
@pytest.mark.parametrize("name", NUMBERS)
async def test_the_two_categories_are_restricted_independently(
    manage: ManagementClient,
    voice: VoiceClient,
    ids: Ids,
    name: str,
    chosen: dict[str, bool],
    expected: tuple[str, str],
    titles: set[str],
) -> None:
    editor = await edit(manage, ids.agents[name])
    await editor.put(
        # Another instruction than the one that is asked for.
        instruction_ids=[ids.instructions["Tone of voice"]] if chosen["instruction"] else [],
        instruction_directory_ids=[],
        knowledge_item_ids=[ids.items["parking"]] if chosen["knowledge"] else [],
        knowledge_folder_keys=[],
    )
    assert modes(await editor.tree()) == expected
    told = set[str]()
    for query in (RETURNS, PARKING, TERMINAL):
        *told_modes, results = await found(voice, NUMBERS[name], query)
        assert tuple(told_modes) == expected
        told |= results
    assert told & {"Returns policy", "Parking garage", "Card terminal"} == titles


async def test_each_kind_of_selection_holds_what_it_names(
    manage: ManagementClient, voice: VoiceClient, ids: Ids
) -> None:
    editor = await edit(manage, ids.agents["open"])
    for arrays, query, title, other in (
        ({"knowledge_item_ids": [ids.items["voucher"]]}, VOUCHER, "Gift voucher", PARKING),
        ({"knowledge_item_ids": [], "knowledge_folder_keys": ["upload:Prices"]}, VOUCHER, "Gift voucher", PARKING),
        ({"knowledge_folder_keys": [ids.bases["Other"]]}, TERMINAL, "Card terminal", VOUCHER),
    ):
        editor = await editor.put(**arrays)
        assert title in (await found(voice, OPEN_NUMBER, query))[2]
        assert (await found(voice, OPEN_NUMBER, other))[2] <= {"Returns policy"}
    editor = await editor.put(instruction_directory_ids=[ids.directories["Rules"]])
    assert "Returns policy" in (await found(voice, OPEN_NUMBER, RETURNS))[2]


async def test_the_key_of_a_base_is_all_of_it_in_whichever_folder(
    manage: ManagementClient, voice: VoiceClient, ids: Ids
) -> None:
    await (await edit(manage, ids.agents["open"])).put(knowledge_folder_keys=[ids.bases["Main"]])
    assert "Parking garage" in (await found(voice, OPEN_NUMBER, PARKING))[2]
    # It stands in upload:Prices.
    assert "Gift voucher" in (await found(voice, OPEN_NUMBER, VOUCHER))[2]
    assert "Card terminal" not in (await found(voice, OPEN_NUMBER, TERMINAL))[2]


async def test_the_base_of_a_file_is_named_by_its_key(both: TestDatabase, ids: Ids, tmp_path: Path) -> None:
    scope = {"folders": [ids.bases["Main"]]}
    document = organization(agents=[agent("open", 1, OPEN_NUMBER, knowledge_scope=scope)])
    async with connected(both, "manage") as connection:
        with pytest.raises(InvalidRequest) as refused:
            await load_organization(connection, *write_files(tmp_path, document, items()))
    assert any("goes into `bases`" in problem.message for problem in refused.value.problems)


async def test_an_array_that_is_left_out_leaves_its_rows_and_an_empty_one_clears(
    manage: ManagementClient, ids: Ids
) -> None:
    everything = {
        "instruction_ids": [ids.instructions["Returns policy"]],
        "instruction_directory_ids": [ids.directories["Returns"]],
        "knowledge_item_ids": [ids.items["parking"], ids.items["voucher"]],
        "knowledge_folder_keys": ["upload:Prices", ids.bases["Other"]],
    }

    def selected(tree: Any) -> dict[str, list[str]]:
        instructions, knowledge = tree["instruction_scope"], tree["knowledge_scope"]
        return {
            "instruction_ids": instructions["instruction_ids"],
            "instruction_directory_ids": instructions["directory_ids"],
            "knowledge_item_ids": knowledge["item_ids"],
            "knowledge_folder_keys": knowledge["folder_keys"],
        }

    editor = await edit(manage, ids.agents["open"])
    for name, chosen in everything.items():
        editor = await editor.put(**everything)
        whole = selected(await editor.tree())
        assert whole == {each: sorted(ids_) for each, ids_ in everything.items()}
        assert await editor.put() == editor
        assert await editor.put(**{name: chosen}) == editor
        editor = await editor.put(**{name: []})
        assert selected(await editor.tree()) == whole | {name: []}
        # The other half of the category is still there.
        assert modes(await editor.tree()) == ("selected", "selected")
    await editor.put(**{name: [] for name in everything})
    assert modes(await editor.tree()) == ("all", "all")


async def test_what_is_not_sent_of_a_category_whose_selection_is_gone_leaves_it_restricted(
    manage: ManagementClient, voice: VoiceClient, ids: Ids
) -> None:
    editor = await edit(manage, ids.agents["empty"])
    assert modes(await editor.tree()) == ("selected", "selected")
    editor = await editor.put(instruction_ids=[ids.instructions["Returns policy"]])
    assert modes(await editor.tree()) == ("selected", "selected")
    editor = await editor.put(knowledge_item_ids=[])
    assert modes(await editor.tree()) == ("selected", "all")


GONE: list[LiteralString] = [
    "delete from knowledge_item where external_id = 'parking'",
    "update knowledge_item set deleted_at = now() where external_id = 'parking'",
    "delete from agent_item",
    "delete from source",
]


@pytest.mark.parametrize("statement", GONE)
async def test_the_last_selected_item_that_is_deleted_leaves_the_agent_restricted(
    manage: ManagementClient, voice: VoiceClient, both: TestDatabase, ids: Ids, statement: LiteralString
) -> None:
    editor = await edit(manage, ids.agents["open"])
    editor = await editor.put(knowledge_item_ids=[ids.items["parking"]])
    await rows(both, statement)
    assert modes(await editor.tree()) == ("all", "selected")
    for query in (PARKING, TERMINAL, VOUCHER):
        _, mode, titles = await found(voice, OPEN_NUMBER, query)
        assert mode == "selected"
        assert titles <= {"Returns policy"}
    # What was selected already may stay, but is not selected anew.
    if "deleted_at" in statement:
        editor = await editor.put(knowledge_item_ids=[ids.items["parking"]])
        await editor.put(knowledge_item_ids=[ids.items["voucher"]])
        refused = await (await edit(manage, ids.agents["open"])).send(knowledge_item_ids=[ids.items["parking"]])
        assert refused.status == 400


async def test_the_last_selected_item_that_goes_with_its_source_leaves_the_agent_restricted(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    editor = await edit(manage, ids.agents["open"])
    await editor.put(knowledge_item_ids=[ids.items["terminal"]])
    base = f"{BASES}/{ids.bases['Other'].removeprefix('base:')}"
    (source,) = (await manage.get(f"{base}/sources")).body["items"]
    assert (await manage.delete(f"{base}/sources/{source['id']}")).status == 204
    tree = await editor.tree()
    assert tree["knowledge_scope"] == {"mode": "selected", "item_ids": [], "folder_keys": []}


async def test_of_editors_at_once_one_saves_and_the_others_lose_nothing(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    editor = await edit(manage, ids.agents["open"])
    choices = [ids.items[name] for name in ("parking", "voucher", "terminal", "lounge", "staffroom", "draft")]
    answers = await asyncio.gather(*(editor.send(knowledge_item_ids=[choice]) for choice in choices))
    assert sorted(each.status for each in answers) == [200] + [412] * 5
    saved = next(choice for choice, each in zip(choices, answers, strict=True) if each.status == 200)
    assert (await editor.tree())["knowledge_scope"]["item_ids"] == [saved]
    refused = next(each for each in answers if each.status == 412)
    assert (refused.body["code"], "read it again" in refused.body["detail"]) == ("precondition_failed", True)
    assert await value(both, "select count(*) from audit_log where object_type = 'knowledge_sources'") == 1
    # The other one, after reading again, adds to what was saved.
    again = await edit(manage, ids.agents["open"])
    await again.put(knowledge_item_ids=[saved, *(choice for choice in choices if choice != saved)])
    assert (await editor.send(knowledge_item_ids=[])).status == 412
    assert len((await editor.tree())["knowledge_scope"]["item_ids"]) == 6


async def test_whoever_edits_says_what_they_edit(manage: ManagementClient, ids: Ids) -> None:
    editor = await edit(manage, ids.agents["open"])
    missing = await manage.send("PUT", editor.path, {"knowledge_item_ids": []})
    assert (missing.status, missing.body["code"]) == (428, "precondition_required")
    assert "If-Match" in missing.body["detail"]
    for etag in ("*", "", editor.etag.strip('"'), f"W/{editor.etag}", f"{editor.etag}, {editor.etag}", '"x"'):
        refused = await manage.send("PUT", editor.path, {}, headers={"If-Match": etag})
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "If-Match"), etag
    assert (await manage.send("PUT", editor.path, {}, headers={"If-Match": STALE})).status == 412
    assert (await edit(manage, ids.agents["open"])).etag == editor.etag


async def test_a_change_by_a_file_is_a_change(
    manage: ManagementClient, both: TestDatabase, ids: Ids, tmp_path: Path
) -> None:
    editor = await edit(manage, ids.agents["open"])
    document = organization(agents=[agent("open", 1, OPEN_NUMBER, knowledge_scope={"items": ["parking"]})])
    await load(both, tmp_path, document, items())
    assert (await editor.send(knowledge_item_ids=[])).status == 412


async def test_what_is_malformed_or_of_others_is_refused_by_its_place_and_nothing_is_changed(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    foreign = await ids_of(both, FOREIGN_ID)
    editor = await edit(manage, ids.agents["selected"])
    before = await editor.tree()
    good = {
        "instruction_ids": ids.instructions["Returns policy"],
        "instruction_directory_ids": ids.directories["Rules"],
        "knowledge_item_ids": ids.items["lounge"],
        "knowledge_folder_keys": "upload:Prices",
    }
    bad: dict[str, list[Any]] = {
        "instruction_ids": [foreign.instructions["Returns policy"], str(uuid4()), "rule", ids.items["parking"]],
        "instruction_directory_ids": [foreign.directories["Rules"], str(uuid4()), "", good["instruction_ids"]],
        "knowledge_item_ids": [foreign.items["secret"], str(uuid4()), 7, good["instruction_ids"]],
        "knowledge_folder_keys": [
            foreign.bases["Main"],
            f"base:{uuid4()}",
            "base:Main",
            ids.bases["Main"].replace("base:", "base:{") + "}",
            "upload:Nowhere",
            "upload:Pri ces",
            "upload",
            "",
            "all",
            "x" * 2001,
        ],
    }
    for field, values in bad.items():
        for each in values:
            # Good ones of every kind beside it, so that something would be written.
            arrays = {name: [identity] for name, identity in good.items()}
            refused = await editor.send(**arrays | {field: [good[field], each]})
            assert (refused.status, refused.body["code"]) == (400, "invalid_request"), (field, each)
            assert [problem["field"] for problem in refused.body["errors"]] == [f"{field}.1"], (field, each)
    for field, other in (("knowledge_item_ids", None), ("knowledge_item_ids", good["knowledge_item_ids"]), ("mode", 1)):
        refused = await editor.send(**{field: other})
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)
    assert await editor.tree() == before
    assert await value(both, "select count(*) from audit_log where object_type = 'knowledge_sources'") == 0


async def test_the_base_of_a_team_or_a_person_is_not_selected_and_not_shown(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    await rows(
        both,
        "with owner as (insert into member (organization_id, name, permissions, created_at)"
        " values (%s, 'Kim Osei', '{agents.view}', now()) returning organization_id, member_id)"
        " update knowledge_base b set owner_type = 'user', owner_id = o.member_id from owner o"
        " where b.organization_id = o.organization_id and b.name = 'Main'",
        [ORGANIZATION_ID],
    )
    editor = await edit(manage, ids.agents["open"])
    for arrays in (
        {"knowledge_item_ids": [ids.items["parking"]]},
        {"knowledge_folder_keys": [ids.bases["Main"]]},
        {"knowledge_folder_keys": ["upload:Prices"]},
    ):
        assert (await editor.send(**arrays)).status == 400
    assert [each["key"] for each in (await editor.tree())["folders"]] == [ids.bases["Other"]]
    folders = "/api/v1/knowledge-folders"
    assert [each["key"] for each in (await manage.get(folders)).body["items"]] == [ids.bases["Other"]]
    for key in (ids.bases["Main"], "upload:Prices"):
        assert (await manage.get(f"{folders}/{key}/items")).status == 404


async def test_an_agent_selects_so_many_bases_at_most(manage: ManagementClient, both: TestDatabase, ids: Ids) -> None:
    third = f"base:{(await manage.new_base('Third')).rpartition('/')[2]}"
    two = [ids.bases["Main"], ids.bases["Other"]]
    editor = await (await edit(manage, ids.agents["open"])).put(knowledge_folder_keys=[*two, *two])
    refused = await editor.send(knowledge_folder_keys=[*two, third])
    assert (refused.status, refused.body["code"]) == (409, "limit_reached")
    assert "at most 2 knowledge bases" in refused.body["detail"]
    assert "ANSWERLINE_MAX_AGENT_BASES" in refused.body["detail"]
    assert (await editor.tree())["knowledge_scope"]["folder_keys"] == sorted(two)
    # What is over the limit already, as a file may have it, can be made less.
    await rows(
        both,
        "insert into agent_knowledge_base (organization_id, agent_id, base_id)"
        " select organization_id, %s, base_id from knowledge_base where name = 'Third'",
        [ids.agents["open"]],
    )
    editor = await edit(manage, ids.agents["open"])
    editor = await editor.put(knowledge_folder_keys=[*two, third])
    await editor.put(knowledge_folder_keys=[third])


async def test_the_audit_log_has_the_selection_before_and_after(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    editor = await edit(manage, ids.agents["open"])
    await editor.put(knowledge_item_ids=[ids.items["parking"]], knowledge_folder_keys=[ids.bases["Other"]])
    ((action, object_id, before, after),) = await rows(
        both,
        "select action, object_id::text, before, after from audit_log where object_type = 'knowledge_sources'",
    )
    instructions = {"mode": "all", "instruction_ids": [], "directory_ids": []}
    assert (action, object_id) == ("update", ids.agents["open"])
    assert before == {
        "instruction_scope": instructions,
        "knowledge_scope": {"mode": "all", "item_ids": [], "folder_keys": []},
    }
    assert after == {
        "instruction_scope": instructions,
        "knowledge_scope": {
            "mode": "selected",
            "item_ids": [ids.items["parking"]],
            "folder_keys": [ids.bases["Other"]],
        },
    }


async def test_a_base_that_is_selected_while_it_is_removed_is_either(
    manage: ManagementClient, both: TestDatabase, ids: Ids
) -> None:
    for number in range(4):
        base = await manage.new_base(f"Base {number}")
        editor = await edit(manage, ids.agents["open"])
        chosen, removed = await asyncio.gather(
            editor.send(knowledge_folder_keys=[f"base:{base.rpartition('/')[2]}"]), manage.delete(base)
        )
        assert (chosen.status, removed.status) in ((200, 409), (400, 204))
        if chosen.status == 200:
            await (await edit(manage, ids.agents["open"])).put(knowledge_folder_keys=[])


async def test_the_tree_says_what_there_is_and_what_is_selected(manage: ManagementClient, ids: Ids) -> None:
    tree = await (await edit(manage, ids.agents["selected"])).tree()
    assert tree["instruction_scope"] == {
        "mode": "selected",
        "instruction_ids": [],
        "directory_ids": [ids.directories["Rules"]],
    }
    assert tree["knowledge_scope"] == {
        "mode": "selected",
        "item_ids": [ids.items["parking"]],
        "folder_keys": ["upload:Prices"],
    }
    rules = {"id": ids.directories["Rules"], "name": "Rules", "instruction_count": 2}
    returns = {"id": ids.directories["Returns"], "name": "Returns", "instruction_count": 1}
    assert tree["directories"] == [
        rules | {"is_selected": True, "selected_instruction_count": 0},
        returns | {"parent_id": ids.directories["Rules"], "is_selected": False, "selected_instruction_count": 0},
    ]
    # Eight of the eleven are public and for the phone; one of them is in Prices, one in Other.
    assert tree["folders"] == [
        folder("upload:Prices", "Prices", 1, is_selected=True),
        folder(ids.bases["Main"], "Main", 8, selected=1),
        folder(ids.bases["Other"], "Other", 1),
    ]
    shown = (await manage.get("/api/v1/knowledge-folders")).body["items"]
    counts = {each["key"]: each["item_count"] for each in tree["folders"]}
    assert {each["key"]: each["item_count"] for each in shown} == counts


def folder(key: str, name: str, count: int, *, is_selected: bool = False, selected: int = 0) -> dict[str, Any]:
    return {
        "key": key,
        "name": name,
        "item_count": count,
        "is_selected": is_selected,
        "selected_item_count": selected,
    }
