"""A trial as a caller of an agent gives what a call is given, and says of the rest why it is not."""

from collections.abc import AsyncIterator
from typing import Any, get_args
from uuid import uuid4

import pytest
import pytest_asyncio
import yaml

from contracts import pins
from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import DeadlineExceeded, EmbedderUnavailable
from retrieval_sidecar.management import trial
from retrieval_sidecar.search import withheld
from tests.support.database import TestDatabase
from tests.support.extended_organization import BOTH, FOREIGN_AGENT, FOREIGN_ID, GUIDED, TOLD
from tests.support.inspection import rows, value
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, VoiceClient
from tests.support.small_organization import (
    EMPTY_NUMBER,
    MEMBER,
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    STRANGER,
)

AGENTS = "/api/v1/phone-agents"
NOBODY = "+15555550177"
QUESTIONS = (
    "parking in the garage",
    "gift voucher at the counter",
    "card terminal pin 44 x",
    "member lounge password",
    "staff kitchen password",
    "unicorn sale",
    "the service line closes at noon",
    "returns policy voucher",
    "nothing of the kind whatsoever",
)


@pytest_asyncio.fixture(scope="module")
async def manage(shop: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID)) as client:
        yield client


async def agent_of(database: TestDatabase, name: str) -> str:
    found = "select agent_id::text from phone_agent where organization_id = %s and name = %s"
    return str(await value(database, found, [ORGANIZATION_ID, name]))


async def contact_of(database: TestDatabase, number: str) -> str:
    found = "select contact_id::text from contact where organization_id = %s and phone_number = %s"
    return str(await value(database, found, [ORGANIZATION_ID, number]))


async def tried(manage: ManagementClient, agent: str, query: str, **fields: Any) -> Any:
    answer = await manage.post(f"{AGENTS}/{agent}/search", {"query": query} | fields)
    assert answer.status == 200, answer
    return answer.body


def reasons_by_title(found: Any) -> dict[str, list[str]]:
    """Why each was not given, by its title; nothing of what is given."""
    return {each["title"]: each.get("why_not", []) for each in found["results"]}


def test_the_reasons_are_those_of_the_contract() -> None:
    document = yaml.safe_load(pins.document("management"))
    assert set(document["components"]["schemas"]["NotGivenReason"]["enum"]) == set(get_args(withheld.Reason))


@pytest.mark.parametrize("caller", [None, MEMBER, STRANGER, NOBODY])
@pytest.mark.parametrize("called", [OPEN_NUMBER, SELECTED_NUMBER, EMPTY_NUMBER, GUIDED, TOLD, BOTH])
async def test_what_is_given_is_exactly_what_a_call_is_given(
    api: VoiceClient, manage: ManagementClient, called: str, caller: str | None
) -> None:
    call = await api.open(called, caller)
    who = {} if caller is None else {"caller_number": caller}
    for question in QUESTIONS:
        given = await call.search(question)
        found = await tried(manage, call.identity["agentId"], question, limit=50, **who)
        assert (found["status"], found["knowledge_mode"]) == (given["status"], given["knowledgeMode"])
        assert found["instruction_mode"] == given["instructionMode"]
        first = [each for each in found["results"] if each["given"]]
        assert [(each["type"], each["id"], each["chunk_index"], each["text"]) for each in first] == [
            (each["type"], each["id"], each["chunkIndex"], each["content"]) for each in given["results"]
        ]
        assert [each["score"] for each in first] == [each["relevance"] for each in given["results"]]
        rest = found["results"][len(first) :]
        assert not any(each["given"] for each in rest)
        assert all(each["why_not"] for each in rest)
        assert [each["score"] for each in rest] == sorted((each["score"] for each in rest), reverse=True)
        ids = [(each["id"], each["chunk_index"]) for each in found["results"]]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("question", "title", "reasons"),
    [
        ("unicorn sale", "Unicorn sale", ["draft"]),
        ("the salary table", "Salary table", ["internal"]),
        ("dancing robot chat gimmick", "Chat gimmick", ["other_channel"]),
        ("autumn discount ten percent", "Autumn discount", ["expired"]),
        ("spring catalogue printed", "Spring catalogue", ["not_yet_valid"]),
        ("staff kitchen password", "Staff kitchen", ["segment"]),
        ("zebra discount of ninety percent", "Secret discount", ["draft"]),
        ("nothing of the kind whatsoever", "Parking garage", ["not_relevant"]),
    ],
)
async def test_each_passage_that_is_not_given_says_why(
    manage: ManagementClient, shop: TestDatabase, question: str, title: str, reasons: list[str]
) -> None:
    agent = await agent_of(shop, "open")
    assert reasons_by_title(await tried(manage, agent, question, limit=50))[title] == reasons


async def test_what_was_not_selected_says_so_beside_what_else_closes_it(
    manage: ManagementClient, shop: TestDatabase
) -> None:
    agent = await agent_of(shop, "selected")
    found = await tried(manage, agent, "card terminal pin 44 x", limit=50)
    (terminal,) = (each for each in found["results"] if each["title"] == "Card terminal")
    assert (terminal["why_not"], terminal["code"], terminal["source_name"] != "") == (["out_of_scope"], True, True)
    assert terminal["score"] >= found["min_score"]
    closed = reasons_by_title(await tried(manage, agent, "staff kitchen password", limit=50))
    assert closed["Staff kitchen"] == ["out_of_scope", "segment"]
    empty = await tried(manage, await agent_of(shop, "empty"), "parking in the garage", limit=50)
    assert (empty["status"], [each for each in empty["results"] if each["given"]]) == ("restricted_empty", [])
    assert reasons_by_title(empty)["Parking garage"] == ["out_of_scope"]


async def test_the_same_in_another_version_is_not_among_the_best(manage: ManagementClient, shop: TestDatabase) -> None:
    found = await tried(manage, await agent_of(shop, "open"), "the service line closes at noon")
    versions = [each for each in found["results"] if each["title"] == "Service line"]
    assert [each["given"] for each in versions] == [True, False]
    assert versions[1]["why_not"] == ["not_among_best"]


async def test_who_calls_decides_what_is_given(manage: ManagementClient, shop: TestDatabase) -> None:
    agent = await agent_of(shop, "open")
    question = "member lounge password orchid"
    for who in ({"caller_number": MEMBER}, {"contact_id": await contact_of(shop, MEMBER)}):
        assert reasons_by_title(await tried(manage, agent, question, **who))["Member lounge"] == []
    for who in ({}, {"caller_number": NOBODY}, {"contact_id": await contact_of(shop, STRANGER)}):
        assert reasons_by_title(await tried(manage, agent, question, **who))["Member lounge"] == ["segment"]


async def test_outside_its_hours_an_item_says_so(shop: TestDatabase) -> None:
    clock = TestClock()
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID), clock=clock) as manage:
        agent = await agent_of(shop, "open")
        question = "the repair desk mends watches"
        assert reasons_by_title(await tried(manage, agent, question))["Repair desk"] == []
        clock.advance(hours=12)
        assert reasons_by_title(await tried(manage, agent, question))["Repair desk"] == ["outside_schedule"]


async def test_nothing_of_a_team_of_a_person_of_others_or_deleted_is_told(database: TestDatabase) -> None:
    async with running_management(database, await key_for(database, ORGANIZATION_ID)) as manage:
        agent = await agent_of(database, "selected")
        question = "the card terminal opens with pin 44 x"
        assert "Card terminal" in reasons_by_title(await tried(manage, agent, question, limit=50))
        owners = {
            "team": "insert into team (organization_id, name) values (%s, 'Field') returning team_id",
            "user": "insert into member (organization_id, name, permissions, created_at)"
            " values (%s, 'Kim Osei', '{agents.view}', now()) returning member_id",
        }
        for owner, made in owners.items():
            await rows(
                database,
                "update knowledge_base set owner_type = %s, owner_id = %s where name = 'Other'",
                [owner, await value(database, made, [ORGANIZATION_ID])],
            )
            assert "Card terminal" not in reasons_by_title(await tried(manage, agent, question, limit=50))
        assert "Unicorn sale" in reasons_by_title(await tried(manage, agent, "unicorn sale", limit=50))
        await rows(database, "update knowledge_item set deleted_at = now() where title = 'Unicorn sale'")
        await rows(database, "update instruction set deleted_at = now() where title = 'Secret discount'")
        assert "Unicorn sale" not in reasons_by_title(await tried(manage, agent, "unicorn sale", limit=50))
        assert "Secret discount" not in reasons_by_title(await tried(manage, agent, "zebra discount", limit=50))


async def test_agents_and_contacts_of_others_are_not_there(manage: ManagementClient, shop: TestDatabase) -> None:
    foreign_contact = await value(
        shop,
        "with made as (insert into contact (organization_id, phone_number, name)"
        " values (%s, '+15555550189', 'Alex') returning contact_id) select contact_id::text from made",
        [FOREIGN_ID],
    )
    agent = await agent_of(shop, "open")
    for path, fields in (
        (FOREIGN_AGENT, {}),
        (str(uuid4()), {}),
        (agent, {"contact_id": foreign_contact}),
        (agent, {"contact_id": str(uuid4())}),
    ):
        answer = await manage.post(f"{AGENTS}/{path}/search", {"query": "parking"} | fields)
        assert (answer.status, answer.body["code"]) == (404, "not_found"), (path, fields)
    found = await tried(manage, agent, "parking in the other garage is free", limit=50)
    assert "free" not in str([each["text"] for each in found["results"] if "Parking" in each["title"]])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "\u200b"}, "query"),
        ({"query": "x" * 501}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"caller_number": "0301234"}, "caller_number"),
        ({"caller_number": "+15555550101", "contact_id": "7c4c1d62-3a41-4a3e-8a54-2f1b0c9d8e7f"}, "caller_number"),
        ({"contact_id": "robin"}, "contact_id"),
        ({"language": "english"}, "language"),
        ({"agent_id": "7c4c1d62-3a41-4a3e-8a54-2f1b0c9d8e7f"}, "agent_id"),
    ],
)
async def test_a_trial_that_cannot_be_is_refused(
    manage: ManagementClient, shop: TestDatabase, fields: dict[str, Any], field: str
) -> None:
    answer = await manage.post(f"{AGENTS}/{await agent_of(shop, 'open')}/search", {"query": "parking"} | fields)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


async def test_as_many_of_the_rest_are_told_as_are_asked_for(manage: ManagementClient, shop: TestDatabase) -> None:
    agent = await agent_of(shop, "open")
    all_of_them = await tried(manage, agent, "parking in the garage", limit=50)
    first = [each for each in all_of_them["results"] if each["given"]]
    for limit in (1, 4):
        found = await tried(manage, agent, "parking in the garage", limit=limit)
        assert found["results"] == all_of_them["results"][: len(first) + limit]


class _Down(FakeEmbedder):
    async def embed_queries(self, texts: Any) -> Vectors:
        raise EmbedderUnavailable("down")


async def test_while_the_embedder_is_down_words_and_codes_tell(shop: TestDatabase) -> None:
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID), embedder=_Down()) as manage:
        found = await tried(manage, await agent_of(shop, "selected"), "card terminal pin 44 x staff kitchen")
    assert found["degraded"] is True
    assert not any("meaning" in each for each in found["results"])
    told = reasons_by_title(found)
    assert (told["Card terminal"], told["Staff kitchen"]) == (["out_of_scope"], ["out_of_scope", "segment"])


async def test_where_the_second_look_takes_too_long_the_first_is_told(
    manage: ManagementClient, shop: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: Any, **__: Any) -> None:
        raise DeadlineExceeded

    monkeypatch.setattr(trial, "find_withheld", late)
    found = await tried(manage, await agent_of(shop, "open"), "unicorn sale parking garage")
    assert (found["is_complete"], "explain_ms" in found) == (False, False)
    told = {reason for each in found["results"] for reason in each.get("why_not", ())}
    assert told <= {"not_relevant", "not_among_best"}


async def test_trying_leaves_nothing_in_the_search_log(manage: ManagementClient, shop: TestDatabase) -> None:
    before = await value(shop, "select count(*) from search_log")
    await tried(manage, await agent_of(shop, "open"), "parking in the garage")
    assert await value(shop, "select count(*) from search_log") == before
