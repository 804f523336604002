"""Opening calls: the agent by its number or id, the contact by theirs, and the snapshot of the scope."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.database import TestDatabase
from tests.support.extended_organization import (
    BOTH,
    FOREIGN_AGENT,
    FOREIGN_ID,
    FOREIGN_NUMBER,
    GUIDED,
    TOLD,
    extended_items,
    foreign_items,
    foreign_organization,
)
from tests.support.inspection import rows, value
from tests.support.sidecar import SESSIONS, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import (
    EMPTY_NUMBER,
    MEMBER,
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    STRANGER,
    agent,
)


def request(**fields: Any) -> dict[str, Any]:
    return {"roomName": "room", "callId": str(uuid4())} | fields


async def test_a_dialled_number_opens_the_session_of_its_agent(api: VoiceClient, shop: TestDatabase) -> None:
    answer = await api.post(SESSIONS, request(calledNumber=OPEN_NUMBER, callerNumber=MEMBER, callId="call-1"))
    assert answer.status == 201
    assert answer.body["orgId"] == str(ORGANIZATION_ID)
    assert answer.body["agent"] == {
        "agentId": str(UUID(int=1, version=4)),
        "name": "open",
        "language": "en",
        "regionCode": "DE",
        "prompt": "You answer the phone of a shop.",
        "greeting": "Hello.",
        "handoffNumber": "+15555550999",
        "knowledgeMode": "search",
    }
    contact_id = await value(
        shop,
        "select contact_id from contact where phone_number = %s and organization_id = %s",
        [MEMBER, ORGANIZATION_ID],
    )
    assert answer.body["contact"] == {"contactId": str(contact_id), "name": "Robin Vale"}
    stored = await rows(
        shop,
        "select session_id, contact_id, room_name, status, scope_snapshot from call_session where call_id = 'call-1'",
    )
    assert stored == [(UUID(answer.body["sessionId"]), contact_id, "room", "active", answer.body["scope"])]


async def test_an_agent_without_a_region_has_its_organizations(api: VoiceClient) -> None:
    told = await api.open(TOLD)
    assert told.body["agent"]["regionCode"] == "DE"
    assert "handoffNumber" not in told.body["agent"]


@pytest.mark.parametrize("called", ["sip:+15555550001@trunk.example", "+1 (555) 555-0001", "0015555550001"])
async def test_a_dialled_number_is_read_as_the_trunk_writes_it(api: VoiceClient, called: str) -> None:
    assert (await api.open(called)).body["agent"]["name"] == "open"


async def test_an_agent_is_named_by_its_id_too(api: VoiceClient) -> None:
    answer = await api.post(SESSIONS, request(agentId=str(UUID(int=2, version=4))))
    assert (answer.status, answer.body["agent"]["name"]) == (201, "selected")


@pytest.mark.parametrize("caller", [None, "anonymous", "sip:anonymous@anonymous.invalid", "+15555550177"])
async def test_an_unknown_or_anonymous_caller_is_no_contact(api: VoiceClient, caller: str | None) -> None:
    assert "contact" not in (await api.open(OPEN_NUMBER, caller)).body


async def test_a_contact_of_another_organization_is_none_of_ours(api: VoiceClient, shop: TestDatabase) -> None:
    await rows(
        shop,
        "insert into contact (organization_id, phone_number, name) values (%s, '+15555550188', 'Alex')",
        [FOREIGN_ID],
    )
    assert "contact" not in (await api.open(OPEN_NUMBER, "+15555550188")).body


async def test_the_same_call_has_one_session_and_one_snapshot(api: VoiceClient, shop: TestDatabase) -> None:
    call = request(calledNumber=SELECTED_NUMBER, callerNumber=MEMBER)
    first = await api.post(SESSIONS, call)
    await rows(shop, "update phone_agent set knowledge_scope_mode = 'all' where name = 'selected'")
    try:
        again = await api.post(SESSIONS, call)
    finally:
        await rows(shop, "update phone_agent set knowledge_scope_mode = 'selected' where name = 'selected'")
    assert (first.status, again.status) == (201, 200)
    assert again.body == first.body
    assert await value(shop, "select count(*) from call_session where call_id = %s", [call["callId"]]) == 1


async def test_the_same_call_opened_several_times_at_once_has_one_session(api: VoiceClient) -> None:
    call = request(calledNumber=OPEN_NUMBER)
    answers = await asyncio.gather(*(api.post(SESSIONS, call) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [200] * 5 + [201]
    assert len({answer.body["sessionId"] for answer in answers}) == 1


async def test_a_call_belongs_to_the_agent_that_answered_it(api: VoiceClient) -> None:
    call = request(calledNumber=OPEN_NUMBER)
    await api.post(SESSIONS, call)
    answer = await api.post(SESSIONS, call | {"calledNumber": SELECTED_NUMBER})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "callId")


async def test_what_no_agent_of_the_tokens_organizations_answers_is_not_found(
    api: VoiceClient, shop: TestDatabase
) -> None:
    foreign = VoiceClient(api.url, await token_for(shop, FOREIGN_ID), api.http)
    nobodys = VoiceClient(api.url, await token_for(shop), api.http)
    answers = [
        await api.post(SESSIONS, request(calledNumber="+15555550666")),
        await api.post(SESSIONS, request(calledNumber="reception")),
        await api.post(SESSIONS, request(agentId=str(uuid4()))),
        await api.post(SESSIONS, request(calledNumber=FOREIGN_NUMBER)),
        await api.post(SESSIONS, request(agentId=FOREIGN_AGENT)),
        await foreign.post(SESSIONS, request(calledNumber=OPEN_NUMBER)),
        await nobodys.post(SESSIONS, request(calledNumber=OPEN_NUMBER)),
    ]
    assert [answer.status for answer in answers] == [404] * 7
    assert all(answer.body == answers[0].body for answer in answers)
    assert (await foreign.post(SESSIONS, request(calledNumber=FOREIGN_NUMBER))).status == 201


@pytest.mark.parametrize(
    ("caller", "titles"),
    [
        (MEMBER, ["A word for members", "Tone of voice"]),
        (STRANGER, ["Tone of voice"]),
        (None, ["Tone of voice"]),
    ],
)
async def test_dynamic_instructions_come_by_segment(api: VoiceClient, caller: str | None, titles: list[str]) -> None:
    session = await api.open(OPEN_NUMBER, caller)
    assert [each["title"] for each in session.body["dynamicInstructions"]] == titles
    assert session.body["dynamicInstructions"][-1]["content"] == "Be brief."


@pytest.mark.parametrize(
    ("called", "instructions_selected", "knowledge_selected"),
    [(OPEN_NUMBER, False, False), (GUIDED, True, False), (TOLD, False, True), (BOTH, True, True)],
)
async def test_the_snapshot_says_what_is_selected(
    api: VoiceClient, shop: TestDatabase, called: str, *, instructions_selected: bool, knowledge_selected: bool
) -> None:
    ids = dict(
        await rows(
            shop,
            "select title, instruction_id::text from instruction where title = 'Returns policy'"
            " union all select name, directory_id::text from instruction_directory where name = 'Returns'"
            " union all select external_id, item_id::text from knowledge_item where external_id = 'parking'"
            " union all select 'base ' || name, base_id::text from knowledge_base where organization_id = %s",
            [ORGANIZATION_ID],
        )
    )
    instructions: dict[str, Any] = {"mode": "all", "instruction_ids": [], "directory_ids": []}
    if instructions_selected:
        instructions = {
            "mode": "selected",
            "instruction_ids": [ids["Returns policy"]],
            "directory_ids": [ids["Returns"]],
        }
    knowledge: dict[str, Any] = {"mode": "all", "item_ids": [], "folder_keys": []}
    if knowledge_selected:
        keys = [f"base:{ids['base Other']}", "upload:Old%20prices", "upload:Prices"]
        knowledge = {"mode": "selected", "item_ids": [ids["parking"]], "folder_keys": keys}
    assert (await api.open(called)).body["scope"] == {
        "instruction_scope": instructions,
        "knowledge_scope": knowledge,
        "captured_at": "2026-12-01T12:00:00Z",
    }


async def test_a_selection_of_nothing_is_still_a_selection_in_the_snapshot(api: VoiceClient) -> None:
    scope = (await api.open(EMPTY_NUMBER)).body["scope"]
    assert scope["instruction_scope"] == {"mode": "selected", "instruction_ids": [], "directory_ids": []}
    assert scope["knowledge_scope"] == {"mode": "selected", "item_ids": [], "folder_keys": []}


async def test_opening_a_call_carries_no_knowledge(api: VoiceClient) -> None:
    session = await api.open(OPEN_NUMBER, MEMBER)
    assert "inlineKnowledge" not in session.body
    assert not any(each["content"] in str(session.body) for each in extended_items())


async def test_narrowing_to_a_base_that_is_not_the_organizations_is_refused(
    api: VoiceClient, shop: TestDatabase
) -> None:
    foreign = await value(
        shop, "select base_id::text from knowledge_base where organization_id = %s and name = 'Main'", [FOREIGN_ID]
    )
    for base_id in (foreign, str(uuid4())):
        answer = await api.post(SESSIONS, request(calledNumber=OPEN_NUMBER, narrowToKnowledgeBaseIds=[base_id]))
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, "narrowToKnowledgeBaseIds")


async def test_an_agents_id_that_two_organizations_of_the_token_use_is_refused_as_ambiguous(
    database: TestDatabase, tmp_path: Path
) -> None:
    twin = agent("open", 1, FOREIGN_NUMBER)  # the id of the small organization's own
    await load(database, tmp_path, foreign_organization() | {"agents": [twin]}, foreign_items())
    asked = {"agentId": twin["id"], "roomName": "room", "callId": "call-1"}
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID, FOREIGN_ID)) as client:
        answer = await client.post(SESSIONS, asked)
        assert answer.status == 400
        assert [each["field"] for each in answer.body["errors"]] == ["agentId"]
        by_number = [(await client.open(number)).body["orgId"] for number in (OPEN_NUMBER, FOREIGN_NUMBER)]
        assert by_number == [str(ORGANIZATION_ID), str(FOREIGN_ID)]
        client.token = await token_for(database, FOREIGN_ID)
        answer = await client.post(SESSIONS, asked)
        assert (answer.status, answer.body["orgId"]) == (201, str(FOREIGN_ID))
