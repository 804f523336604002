"""An agent of knowledge mode `auto` is told all that it may tell this caller at once, where that is little."""

from typing import Any
from uuid import uuid4

import pytest_asyncio

from retrieval_sidecar.search.whole import MOST_CHARACTERS
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.sidecar import SESSIONS, TestClock, VoiceClient, connected
from tests.support.small_organization import EMPTY_NUMBER, MEMBER, OPEN_NUMBER, SELECTED_NUMBER, STRANGER

PUBLIC = {"Parking garage", "Gift voucher", "Card terminal", "Repair desk", "Returns policy", "Tone of voice"}


@pytest_asyncio.fixture
async def auto(database: TestDatabase, voice: VoiceClient) -> VoiceClient:
    await rows(database, "update phone_agent set knowledge_mode = 'auto' returning agent_id")
    return voice


def titles(body: dict[str, Any]) -> set[str]:
    text = body["inlineKnowledge"]["text"]
    assert body["inlineKnowledge"]["characters"] == len(text) <= MOST_CHARACTERS
    return {line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")}


async def test_it_is_what_this_caller_may_hear_now(auto: VoiceClient, clock: TestClock) -> None:
    assert titles((await auto.open(OPEN_NUMBER, STRANGER)).body) == PUBLIC
    assert titles((await auto.open(OPEN_NUMBER)).body) == PUBLIC
    member = await auto.open(OPEN_NUMBER, MEMBER)
    assert titles(member.body) == PUBLIC | {"Member lounge"}
    assert "The lounge password is orchid." in member.body["inlineKnowledge"]["text"]
    clock.advance(hours=12)
    assert titles((await auto.open(OPEN_NUMBER)).body) == PUBLIC - {"Repair desk"}


async def test_it_is_what_is_selected(auto: VoiceClient) -> None:
    selected = {"Parking garage", "Gift voucher", "Returns policy", "Tone of voice"}
    assert titles((await auto.open(SELECTED_NUMBER, MEMBER)).body) == selected
    assert "inlineKnowledge" not in (await auto.open(EMPTY_NUMBER)).body


async def test_it_is_of_the_bases_that_the_call_is_narrowed_to(auto: VoiceClient, database: TestDatabase) -> None:
    ((other,),) = await rows(database, "select base_id::text from knowledge_base where name = 'Other'")
    opened = await auto.open(OPEN_NUMBER, narrowToKnowledgeBaseIds=[other])
    assert titles(opened.body) == {"Card terminal", "Returns policy", "Tone of voice"}


async def test_the_call_can_search_all_the_same(auto: VoiceClient) -> None:
    session = await auto.open(OPEN_NUMBER)
    assert (await session.search("parking garage"))["status"] == "ok"


async def test_who_asks_again_is_told_what_holds_by_then(auto: VoiceClient, database: TestDatabase) -> None:
    asked = {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
    assert "Parking garage" in titles((await auto.post(SESSIONS, asked)).body)
    await rows(database, "update knowledge_item set status = 'draft' where title = 'Parking garage' returning item_id")
    again = await auto.post(SESSIONS, asked)
    assert again.status == 200
    assert titles(again.body) == PUBLIC - {"Parking garage"}


async def test_of_a_call_that_has_ended_nothing_is_told(auto: VoiceClient) -> None:
    asked = {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
    opened = (await auto.post(SESSIONS, asked)).body
    ending = {"orgId": opened["orgId"], "agentId": opened["agent"]["agentId"]}
    ended = await auto.post(f"{SESSIONS}/{opened['sessionId']}/end", ending | {"status": "completed", "reason": "test"})
    assert ended.status == 200
    again = await auto.post(SESSIONS, asked)
    assert (again.status, "inlineKnowledge" in again.body) == (200, False)


async def test_more_than_a_prompt_holds_is_not_told_at_all(auto: VoiceClient, database: TestDatabase) -> None:
    opened = (await auto.open(OPEN_NUMBER)).body["inlineKnowledge"]
    room = MOST_CHARACTERS - opened["characters"]
    for more, told in ((room, True), (1, False)):
        async with connected(database, "owner") as connection:
            await connection.execute(
                "update knowledge_item set content = content || repeat('x', %s) where title = 'Parking garage'", (more,)
            )
        body = (await auto.open(OPEN_NUMBER)).body
        assert ("inlineKnowledge" in body) == told
        assert not told or body["inlineKnowledge"]["characters"] == MOST_CHARACTERS


async def test_an_agent_that_searches_is_told_nothing(voice: VoiceClient) -> None:
    opened = await voice.open(OPEN_NUMBER, MEMBER)
    assert opened.body["agent"]["knowledgeMode"] == "search"
    assert "inlineKnowledge" not in opened.body
