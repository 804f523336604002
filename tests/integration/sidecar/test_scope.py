"""What an agent may tell a contact: nothing outside, and nothing missing."""

import pytest

from tests.support.database import TestDatabase
from tests.support.sidecar import TestClock, VoiceClient, connected
from tests.support.small_organization import EMPTY_NUMBER, MEMBER, OPEN_NUMBER, SELECTED_NUMBER, STRANGER


async def titles(voice: VoiceClient, called: str, caller: str | None, query: str) -> list[str]:
    session = await voice.open(called, caller)
    answer = await session.search(query)
    return [result["title"] for result in answer["results"]]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("parking garage", "Parking garage"),
        ("gift voucher counter", "Gift voucher"),
        ("card terminal pin 44 x", "Card terminal"),
        ("returns policy late return voucher", "Returns policy"),
        ("repair desk watches", "Repair desk"),
    ],
)
async def test_an_open_agent_finds_all_that_is_servable(voice: VoiceClient, query: str, title: str) -> None:
    assert title in await titles(voice, OPEN_NUMBER, None, query)


@pytest.mark.parametrize(
    "query",
    [
        "unicorn sale",
        "salary table confidential",
        "chat gimmick dancing robot",
        "autumn discount ten percent",
        "spring catalogue printed",
        "staff kitchen password walnut",
        "zebra discount ninety percent",
    ],
)
async def test_nothing_that_is_not_servable_is_found(voice: VoiceClient, query: str) -> None:
    session = await voice.open(OPEN_NUMBER, MEMBER)
    answer = await session.search(query)
    found = [result["content"] for result in answer["results"]]
    secret_word = query.rsplit(maxsplit=1)[-1]
    assert not any(secret_word in content for content in found), found


async def test_a_segment_is_for_its_members_only(voice: VoiceClient) -> None:
    query = "member lounge password"
    assert "Member lounge" in await titles(voice, OPEN_NUMBER, MEMBER, query)
    for caller in (STRANGER, "+15555550177", "anonymous", None):
        assert "Member lounge" not in await titles(voice, OPEN_NUMBER, caller, query)


async def test_a_selection_holds_its_items_folders_and_nested_directories(voice: VoiceClient) -> None:
    assert await titles(voice, SELECTED_NUMBER, None, "parking garage") == ["Parking garage"]
    assert "Gift voucher" in await titles(voice, SELECTED_NUMBER, None, "gift voucher counter")
    assert "Returns policy" in await titles(voice, SELECTED_NUMBER, None, "returns policy late return voucher")
    assert "Card terminal" not in await titles(voice, SELECTED_NUMBER, None, "card terminal pin 44 x")


async def test_a_selection_of_nothing_is_nothing(voice: VoiceClient) -> None:
    session = await voice.open(EMPTY_NUMBER)
    answer = await session.search("parking garage")
    assert (answer["status"], answer["reasonCode"], answer["results"]) == ("restricted_empty", "scope_empty", [])
    assert (answer["instructionMode"], answer["knowledgeMode"]) == ("selected", "selected")


@pytest.mark.parametrize(
    "statement",
    [
        "delete from agent_item; delete from agent_folder; delete from agent_instruction_directory",
        "delete from knowledge_item; delete from folder; delete from instruction_directory",
        "update knowledge_item set status = 'draft'; update instruction set status = 'draft'",
        "update passage_vector set servable = false",
        "update passage_vector set segment_ids = '{999}'",
        "update passage_vector set valid_to = '2026-01-01'",
    ],
)
async def test_a_selection_whose_content_goes_away_never_opens(
    voice: VoiceClient, database: TestDatabase, statement: str
) -> None:
    session = await voice.open(SELECTED_NUMBER)
    assert (await session.search("parking garage"))["status"] == "ok"
    async with connected(database, "owner") as connection:
        await connection.execute(statement)
    for query in ("parking garage", "card terminal pin 44 x", "gift voucher counter"):
        answer = await session.search(query)
        assert answer["results"] == []
        assert answer["status"] in ("restricted_empty", "no_match")
        assert answer["knowledgeMode"] == "selected"


async def test_an_item_added_to_a_selected_folder_is_found_in_the_same_call(
    voice: VoiceClient, database: TestDatabase
) -> None:
    session = await voice.open(SELECTED_NUMBER)
    assert (await session.search("card terminal pin 44 x"))["results"] == []
    async with connected(database, "owner") as connection:
        await connection.execute(
            "update passage_vector set folder_id = (select folder_id from folder where folder_key = 'upload:Prices')"
            " where owner_key = (select item_key from knowledge_item where external_id = 'terminal')"
            " and not is_instruction"
        )
    found = await session.search("card terminal pin 44 x")
    assert [result["title"] for result in found["results"]] == ["Card terminal"]


async def test_validity_is_decided_by_the_local_day(voice: VoiceClient, clock: TestClock) -> None:
    # valid_until 2026-11-30 holds through that day in Berlin, an hour before the same in UTC.
    for moment, is_found in (("2026-11-30T22:59:59+00:00", True), ("2026-11-30T23:00:00+00:00", False)):
        clock.now = clock.now.fromisoformat(moment)
        assert ("Autumn discount" in await titles(voice, OPEN_NUMBER, None, "autumn discount")) is is_found


async def test_weekly_hours_follow_the_wall_clock(voice: VoiceClient, clock: TestClock) -> None:
    # Tuesdays 9 to 17 in Berlin: UTC+1 in winter, UTC+2 in summer.
    for moment, is_found in (
        ("2026-12-01T08:00:00+00:00", True),
        ("2026-12-01T07:59:00+00:00", False),
        ("2026-12-01T16:00:00+00:00", False),
        ("2026-07-07T07:00:00+00:00", True),
        ("2026-07-07T15:00:00+00:00", False),
        ("2026-12-02T10:00:00+00:00", False),
    ):
        clock.now = clock.now.fromisoformat(moment)
        assert ("Repair desk" in await titles(voice, OPEN_NUMBER, None, "repair desk watches")) is is_found, moment


async def test_a_dispatch_may_narrow_but_never_widen(voice: VoiceClient, database: TestDatabase) -> None:
    async with connected(database, "owner") as connection:
        cursor = await connection.execute("select name, base_id::text from knowledge_base")
        bases = dict(await cursor.fetchall())
    narrowed = await voice.open(OPEN_NUMBER, narrowToKnowledgeBaseIds=[bases["Other"]])
    assert [r["title"] for r in (await narrowed.search("card terminal pin 44 x"))["results"]] == ["Card terminal"]
    assert (await narrowed.search("parking garage"))["results"] == []
    nothing = await voice.open(OPEN_NUMBER, narrowToKnowledgeBaseIds=[])
    assert (await nothing.search("parking garage"))["status"] == "restricted_empty"
    selected = await voice.open(SELECTED_NUMBER, narrowToKnowledgeBaseIds=[bases["Other"]])
    assert (await selected.search("card terminal pin 44 x"))["results"] == []


async def test_the_base_of_a_team_is_never_searched(voice: VoiceClient, database: TestDatabase) -> None:
    async with connected(database, "owner") as connection:
        cursor = await connection.execute(
            "select count(*) from passage_vector v join knowledge_base b using (organization_id, base_key)"
            " where b.owner_type <> 'organization' and v.servable"
        )
        assert await cursor.fetchone() == (0,)


async def test_an_instruction_is_read_again_from_its_own_row(voice: VoiceClient, database: TestDatabase) -> None:
    session = await voice.open(OPEN_NUMBER)
    query = "returns policy late return voucher"
    assert "Returns policy" in [r["title"] for r in (await session.search(query))["results"]]
    async with connected(database, "owner") as connection:
        await connection.execute("update instruction set status = 'draft' where title = 'Returns policy'")
    assert "Returns policy" not in [r["title"] for r in (await session.search(query))["results"]]
