"""Instructions and their directories over the management API, and what calls make of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.support.content import DIRECTORIES, INSTRUCTIONS, STALE, Operator, operating, told, vectors
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.management import key_for
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import MEMBER, OPEN_NUMBER, SELECTED_NUMBER, organization

COMPLAINTS = "how do I handle complaints, say sorry first"


@pytest_asyncio.fixture
async def operator(database: TestDatabase, clock: TestClock) -> AsyncIterator[Operator]:
    async with operating(database, clock, max_dynamic_characters=80) as found:
        yield found


async def dynamic(operator: Operator, caller: str | None = None) -> dict[str, str]:
    """What is appended to the prompt of a call that begins now."""
    session = await operator.voice.open(OPEN_NUMBER, caller)
    return {each["title"]: each["content"] for each in session.body["dynamicInstructions"]}


async def agent_sources(operator: Operator, name: str) -> str:
    """The path of what an agent may search."""
    agents = (await operator.read("/api/v1/phone-agents"))["items"]
    return next(f"/api/v1/phone-agents/{each['id']}/knowledge-sources" for each in agents if each["name"] == name)


async def test_an_instruction_is_a_draft_until_it_is_published_and_known_once_it_is_indexed(
    operator: Operator,
) -> None:
    directory = await operator.directory()
    call = await operator.voice.open(OPEN_NUMBER)
    path = await operator.write(
        INSTRUCTIONS,
        title="Complaints",
        content="Say sorry first, and listen to what they say.",
        directory_id=directory,
    )
    instruction = await operator.read(path)
    assert instruction == {
        "id": path.rpartition("/")[2],
        "title": "Complaints",
        "content": "Say sorry first, and listen to what they say.",
        "directory_id": directory,
        "language": "en",
        "status": "draft",
        "dynamic": False,
        "segments": [],
        "indexed": False,
        "updated_at": instruction["updated_at"],
    }
    assert len(operator.client.queue.of_documents) == 1
    assert await operator.index() is None
    assert "Complaints" not in await told(call, COMPLAINTS)
    assert (await operator.patch(path, status="published"))["indexed"] is True
    assert "Complaints" in await told(call, COMPLAINTS)
    await operator.patch(path, status="draft")
    assert "Complaints" not in await told(call, COMPLAINTS)
    assert [row[0] for row in await vectors(operator.database, path)] == [False]
    await operator.patch(path, status="published")
    await operator.delete(path)
    assert "Complaints" not in await told(call, COMPLAINTS)
    assert await vectors(operator.database, path) == []
    assert (await operator.client.get(path)).status == 404


async def test_segments_hold_at_once(operator: Operator) -> None:
    path = await operator.instruction()
    member, stranger = await operator.voice.open(OPEN_NUMBER, MEMBER), await operator.voice.open(OPEN_NUMBER)
    await operator.patch(path, segments=["members"])
    assert "Complaints" in await told(member, COMPLAINTS)
    assert "Complaints" not in await told(stranger, COMPLAINTS)
    await operator.patch(path, segments=[])
    assert "Complaints" in await told(stranger, COMPLAINTS)


async def test_what_was_said_before_answers_until_the_new_is_indexed(operator: Operator) -> None:
    path = await operator.instruction()
    call = await operator.voice.open(OPEN_NUMBER)
    assert (await operator.patch(path, content="Say sorry twice."))["indexed"] is False
    embedder = GatedEmbedder(is_open=False)
    indexing = asyncio.create_task(operator.index(embedder))
    await embedder.asked.wait()
    assert (await call.search(COMPLAINTS))["results"][0]["content"] == "Say sorry first."
    embedder.gate.set()
    assert await indexing is None
    assert (await call.search(COMPLAINTS))["results"][0]["content"] == "Say sorry twice."
    # The others were not touched.
    assert embedder.passages == 1


async def test_dynamic_ones_are_in_the_prompt_of_every_call_that_they_are_for(operator: Operator) -> None:
    path = await operator.instruction("Holidays", "Closed on Friday.", dynamic=True, segments=["members"])
    assert await dynamic(operator) == {"Tone of voice": "Be brief."}
    assert await dynamic(operator, MEMBER) == {"Holidays": "Closed on Friday.", "Tone of voice": "Be brief."}
    await operator.patch(path, segments=[], content="Closed on Monday.")  # prompts wait for no index
    assert (await dynamic(operator))["Holidays"] == "Closed on Monday."
    # Whatever an agent may search.
    selected = await operator.voice.open(SELECTED_NUMBER)
    assert "Holidays" in [each["title"] for each in selected.body["dynamicInstructions"]]
    for fields in ({"status": "draft"}, {"dynamic": False}):
        await operator.patch(path, **fields)
        assert await dynamic(operator) == {"Tone of voice": "Be brief."}
        await operator.patch(path, status="published", dynamic=True)
    await operator.delete(path)
    assert await dynamic(operator) == {"Tone of voice": "Be brief."}


async def test_prompts_have_room_for_so_much_and_what_is_over_it_may_become_less(
    operator: Operator, database: TestDatabase, clock: TestClock
) -> None:
    directory = await operator.directory()
    long = {"title": "Holidays", "content": "x" * 70, "directory_id": directory, "dynamic": True}
    refused = await operator.client.post(INSTRUCTIONS, long | {"status": "published"})
    assert (refused.status, refused.body["code"]) == (409, "limit_reached")
    assert "ANSWERLINE_MAX_DYNAMIC_CHARACTERS" in refused.body["detail"]
    assert "100" in refused.body["detail"]
    path = await operator.write(INSTRUCTIONS, **long)  # a draft is in no prompt
    assert (await operator.send("PATCH", path, {"status": "published"})).status == 409
    assert (await operator.read(path))["status"] == "draft"
    async with operating(database, clock, max_dynamic_characters=200, max_instructions=4) as generous:
        await generous.patch(path, status="published")
        full = await generous.client.post(INSTRUCTIONS, long | {"dynamic": False})
        assert (full.status, "ANSWERLINE_MAX_INSTRUCTIONS" in full.body["detail"]) == (409, True)
    assert (await operator.send("PATCH", path, {"content": "x" * 71})).status == 409
    await operator.patch(path, content="x" * 69)


async def test_an_instruction_that_moves_goes_by_the_selection_of_its_directory(operator: Operator) -> None:
    staff = await operator.write(DIRECTORIES, name="Staff")
    path = await operator.instruction()
    call = await operator.voice.open(SELECTED_NUMBER)  # the directory Rules, and what is below it
    assert "Complaints" in await told(call, COMPLAINTS)
    await operator.patch(path, directory_id=staff.rpartition("/")[2])
    assert "Complaints" not in await told(call, COMPLAINTS)
    await operator.patch(path, directory_id=await operator.directory("Returns"))
    assert "Complaints" in await told(call, COMPLAINTS)


async def test_a_directory_that_moves_takes_what_is_in_it_out_of_a_selection_and_back(operator: Operator) -> None:
    returns = f"{DIRECTORIES}/{await operator.directory('Returns')}"
    rules = await operator.directory("Rules")
    call = await operator.voice.open(SELECTED_NUMBER)
    query = "returns policy late return voucher"
    assert "Returns policy" in await told(call, query)
    moved = await operator.patch(returns, parent_id="")
    assert "parent_id" not in moved
    assert "Returns policy" not in await told(call, query)
    renamed = await operator.patch(returns, parent_id=rules, name="Late returns")
    assert (renamed["parent_id"], renamed["name"], renamed["instruction_count"]) == (rules, "Late returns", 1)
    assert "Returns policy" in await told(call, query)


@pytest.mark.parametrize("what", ["instruction_ids", "instruction_directory_ids"])
async def test_an_agent_whose_last_selection_is_deleted_stays_restricted(operator: Operator, what: str) -> None:
    directory = await operator.write(DIRECTORIES, name="Alone")
    path = await operator.instruction(directory_id=directory.rpartition("/")[2])
    sources = await agent_sources(operator, "open")
    chosen = path if what == "instruction_ids" else directory
    assert (await operator.send("PUT", sources, {what: [chosen.rpartition("/")[2]]})).status == 200
    call = await operator.voice.open(OPEN_NUMBER)
    assert await told(call, COMPLAINTS) == ["Complaints"]
    await operator.delete(path)
    if what == "instruction_directory_ids":
        await operator.delete(directory)
    found = await call.search("returns policy late return voucher")
    assert "Returns policy" not in [each["title"] for each in found["results"]]
    assert found["instructionMode"] == "selected"
    scope = (await operator.read(sources))["instruction_scope"]
    assert scope == {"mode": "selected", "instruction_ids": [], "directory_ids": []}


async def test_a_directory_with_something_in_it_stays(operator: Operator) -> None:
    rules = f"{DIRECTORIES}/{await operator.directory('Rules')}"
    returns = f"{DIRECTORIES}/{await operator.directory('Returns')}"
    refused = await operator.send("DELETE", rules)
    assert (refused.status, refused.body["code"]) == (409, "conflict")
    assert "2 instructions and 1 directories" in refused.body["detail"]
    assert (await operator.send("DELETE", returns)).status == 409
    policy = await value(
        operator.database, "select instruction_id::text from instruction where title = 'Returns policy'"
    )
    await operator.delete(f"{INSTRUCTIONS}/{policy}")
    await operator.delete(returns)
    assert (await operator.client.get(returns)).status == 404


async def test_directories_make_a_tree(operator: Operator) -> None:
    top = await operator.write(DIRECTORIES, name="A")
    middle = await operator.write(DIRECTORIES, name="B", parent_id=top.rpartition("/")[2])
    leaf = await operator.write(DIRECTORIES, name="C", parent_id=middle.rpartition("/")[2])
    for below in (top, middle, leaf):
        refused = await operator.send("PATCH", top, {"parent_id": below.rpartition("/")[2]})
        assert (refused.status, refused.body["errors"][0]["field"]) == (409, "parent_id")
    assert (await operator.patch(leaf, parent_id=top.rpartition("/")[2]))["parent_id"] == top.rpartition("/")[2]


async def test_of_two_moves_that_would_make_a_circle_one_is_refused(operator: Operator) -> None:
    first, second = await operator.write(DIRECTORIES, name="A"), await operator.write(DIRECTORIES, name="B")
    answers = await asyncio.gather(
        operator.send("PATCH", first, {"parent_id": second.rpartition("/")[2]}),
        operator.send("PATCH", second, {"parent_id": first.rpartition("/")[2]}),
    )
    assert sorted(each.status for each in answers) == [200, 409]


async def test_siblings_have_each_their_own_name(operator: Operator) -> None:
    rules = await operator.directory("Rules")
    below = await operator.write(DIRECTORIES, name="Rules", parent_id=rules)
    for body in ({"name": " Rules "}, {"name": "Returns", "parent_id": rules}):
        refused = await operator.client.post(DIRECTORIES, body)
        assert (refused.status, refused.body["errors"][0]["field"]) == (409, "name")
    for fields in ({"name": "Returns"}, {"parent_id": ""}):
        refused = await operator.send("PATCH", below, fields)
        assert (refused.status, refused.body["errors"][0]["field"]) == (409, "name")
    await operator.patch(below, name="Rules")  # its own
    names = ["New"] * 4
    answers = await asyncio.gather(*(operator.client.post(DIRECTORIES, {"name": name}) for name in names))
    assert sorted(each.status for each in answers) == [201, 409, 409, 409]


async def test_directories_have_a_depth_and_a_number(
    operator: Operator, database: TestDatabase, clock: TestClock
) -> None:
    parent: dict[str, str] = {}
    paths = []
    for depth in range(20):
        paths.append(await operator.write(DIRECTORIES, name=f"Level {depth}", **parent))
        parent = {"parent_id": paths[-1].rpartition("/")[2]}
    refused = await operator.client.post(DIRECTORIES, {"name": "Too deep", **parent})
    assert (refused.status, refused.body["errors"][0]["field"]) == (409, "parent_id")
    rules = await operator.directory("Rules")
    assert (await operator.send("PATCH", paths[0], {"parent_id": rules})).status == 409
    assert (await operator.send("PATCH", paths[2], {"parent_id": rules})).status == 200
    async with operating(database, clock, max_directories=22) as full:
        refused = await full.client.post(DIRECTORIES, {"name": "One more"})
        assert (refused.status, "ANSWERLINE_MAX_DIRECTORIES" in refused.body["detail"]) == (409, True)


async def test_of_editors_of_one_state_one_succeeds(operator: Operator) -> None:
    for path, fields in (
        (await operator.instruction(), [{"title": f"Title {n}"} for n in range(3)]),
        (await operator.write(DIRECTORIES, name="New"), [{"name": f"Name {n}"} for n in range(3)]),
    ):
        etag = await operator.etag(path)
        answers = await asyncio.gather(*(operator.send("PATCH", path, each, etag=etag) for each in fields))
        assert sorted(each.status for each in answers) == [200, 412, 412]
        assert (await operator.send("DELETE", path, etag=etag)).status == 412
        for method in ("PATCH", "DELETE"):
            assert (await operator.client.send(method, path, fields[0] if method == "PATCH" else None)).status == 428
        await operator.delete(path)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (INSTRUCTIONS, {"title": "\u200b"}, "title"),
    (INSTRUCTIONS, {"title": ""}, "title"),
    (INSTRUCTIONS, {"content": "x" * 30_001}, "content"),
    (INSTRUCTIONS, {"content": "a\x00"}, "content"),
    (INSTRUCTIONS, {"directory_id": str(uuid4())}, "directory_id"),
    (INSTRUCTIONS, {"directory_id": "root"}, "directory_id"),
    (INSTRUCTIONS, {"language": "en-GB"}, "language"),
    (INSTRUCTIONS, {"status": "live"}, "status"),
    (INSTRUCTIONS, {"dynamic": "yes"}, "dynamic"),
    (INSTRUCTIONS, {"segments": ["nobody"]}, "segments.0"),
    (INSTRUCTIONS, {"visibility": "public"}, "visibility"),
    (DIRECTORIES, {"name": " "}, "name"),
    (DIRECTORIES, {"name": "x" * 201}, "name"),
    (DIRECTORIES, {"parent_id": str(uuid4())}, "parent_id"),
    (DIRECTORIES, {"parent_id": "root"}, "parent_id"),
    (DIRECTORIES, {"id": str(uuid4())}, "id"),
]


async def test_what_a_field_must_not_hold_is_refused_by_its_name(operator: Operator) -> None:
    new: dict[str, dict[str, Any]] = {
        INSTRUCTIONS: {"title": "New", "content": "New.", "directory_id": await operator.directory()},
        DIRECTORIES: {"name": "New"},
    }
    paths = {INSTRUCTIONS: await operator.instruction(), DIRECTORIES: await operator.write(DIRECTORIES, name="Old")}
    before = [await operator.read(path) for path in paths.values()]
    for path, fields, field in REFUSED:
        for refused in (
            await operator.client.post(path, new[path] | fields),
            await operator.send("PATCH", paths[path], fields),
        ):
            assert (refused.status, refused.body["errors"][0]["field"]) == (400, field), (path, fields)
    assert (await operator.send("PATCH", paths[DIRECTORIES], {})).body["errors"][0]["field"] == "body"
    assert (await operator.send("PATCH", paths[INSTRUCTIONS], {})).body["errors"][0]["field"] == "body"
    assert [await operator.read(path) for path in paths.values()] == before


async def test_what_is_another_organizations_is_not_there(
    operator: Operator, database: TestDatabase, tmp_path: Path
) -> None:
    foreign = foreign_organization() | {
        "instruction_directories": organization()["instruction_directories"],
        "instructions": organization()["instructions"],
    }
    await load(database, tmp_path, foreign, foreign_items())
    (directory, instruction), *_ = await rows(
        database,
        "select directory_id::text, instruction_id::text from instruction where organization_id = %s",
        [FOREIGN_ID],
    )
    for path, fields in (
        (f"{DIRECTORIES}/{directory}", {"name": "Ours"}),
        (f"{INSTRUCTIONS}/{instruction}", {"status": "draft"}),
    ):
        assert (await operator.client.get(path)).status == 404
        for method, body in (("PATCH", fields), ("DELETE", None)):
            assert (await operator.client.send(method, path, body, headers={"If-Match": STALE})).status == 404
    ours = await operator.instruction()
    assert (await operator.send("PATCH", ours, {"directory_id": directory})).status == 400
    assert (await operator.client.post(DIRECTORIES, {"name": "New", "parent_id": directory})).status == 400
    theirs = operator.client.with_key(await key_for(database, FOREIGN_ID))
    assert (await theirs.get(f"{DIRECTORIES}/{directory}")).status == 200


async def test_the_audit_log_tells_how_it_was_set_and_not_what_it_says(operator: Operator) -> None:
    directory = await operator.write(DIRECTORIES, name="Staff")
    path = await operator.instruction("Keys", "The sentinel is under the mat.")
    await operator.patch(path, directory_id=directory.rpartition("/")[2])
    await operator.patch(path, content="The sentinel is elsewhere.")
    await operator.delete(path)
    await operator.patch(directory, name="Team")
    await operator.delete(directory)
    rules = await operator.directory()
    log = (await operator.read("/api/v1/audit-log"))["items"][:7][::-1]
    assert [(each["action"], each["object_type"]) for each in log] == [
        ("create", "instruction_directory"),
        ("create", "instruction"),
        ("update", "instruction"),
        ("update", "instruction"),
        ("delete", "instruction"),
        ("update", "instruction_directory"),
        ("delete", "instruction_directory"),
    ]
    assert log[2]["before"] == {"title": "Keys", "directory_id": rules}
    assert log[2]["after"] == {"title": "Keys", "directory_id": directory.rpartition("/")[2]}
    assert log[3]["after"].keys() == {"title", "content_sha256"}
    assert (log[5]["before"], log[5]["after"]) == ({"name": "Staff"}, {"name": "Team"})
    assert "sentinel" not in str(log)
