"""The search for operators gives what a call would be given, and what came near."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from tests.support.database import TestDatabase
from tests.support.extended_organization import BOTH, FOREIGN_AGENT, FOREIGN_ID, GUIDED, TOLD
from tests.support.inspection import rows, value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import VoiceClient
from tests.support.small_organization import (
    EMPTY_NUMBER,
    MEMBER,
    OPEN_NUMBER,
    ORGANIZATION_ID,
    SELECTED_NUMBER,
    STRANGER,
)

QUESTIONS = (
    "parking in the garage",
    "gift voucher at the counter",
    "card terminal pin 44 x",
    "member lounge password",
    "staff kitchen password",
    "unicorn sale",
    "repair desk watches",
    "returns policy voucher",
    "orchid",
    "nothing of the kind whatsoever",
)


@pytest_asyncio.fixture(scope="module")
async def manage(shop: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID)) as client:
        yield client


@pytest_asyncio.fixture(scope="module")
async def bases(manage: ManagementClient) -> dict[str, str]:
    return {each["name"]: f"{BASES}/{each['id']}" for each in (await manage.get(BASES)).body["items"]}


async def search(manage: ManagementClient, base: str, query: str, **fields: Any) -> Any:
    answer = await manage.post(f"{base}/search", {"query": query} | fields)
    assert answer.status == 200, answer
    return answer.body


async def contact_of(database: TestDatabase, number: str) -> str:
    return str(
        await value(
            database,
            "select contact_id::text from contact where organization_id = %s and phone_number = %s",
            [ORGANIZATION_ID, number],
        )
    )


@pytest.mark.parametrize("caller", [None, MEMBER, STRANGER])
@pytest.mark.parametrize("called", [OPEN_NUMBER, SELECTED_NUMBER, EMPTY_NUMBER, GUIDED, TOLD, BOTH])
async def test_with_an_agent_it_gives_exactly_what_a_call_is_given(
    api: VoiceClient,
    manage: ManagementClient,
    shop: TestDatabase,
    bases: dict[str, str],
    called: str,
    caller: str | None,
) -> None:
    call = await api.open(called, caller)
    asked = {"agent_id": call.identity["agentId"], "limit": 20}
    if caller is not None:
        asked["contact_id"] = await contact_of(shop, caller)
    for question in QUESTIONS:
        given = await call.search(question)
        for base in bases.values():
            found = await search(manage, base, question, **asked)
            assert found["status"] == given["status"]
            relevant = [each for each in found["results"] if each["relevant"]]
            assert [(each["type"], each["id"], each["chunk_index"], each["text"]) for each in relevant] == [
                (each["type"], each["id"], each["chunkIndex"], each["content"]) for each in given["results"]
            ]
            assert [each["score"] for each in relevant] == [each["relevance"] for each in given["results"]]
            # What came near is of the same scope, and comes after what is given.
            assert found["results"][: len(relevant)] == relevant
            assert not (called == EMPTY_NUMBER and found["results"])


async def test_without_an_agent_it_is_all_of_the_base_that_may_be_said_to_the_caller(
    manage: ManagementClient, shop: TestDatabase, bases: dict[str, str]
) -> None:
    async def titles(base: str, query: str, **fields: Any) -> set[str]:
        found = await search(manage, bases[base], query, limit=20, **fields)
        return {each["title"] for each in found["results"]}

    assert "Parking garage" in await titles("Main", "parking")
    assert "Card terminal" in await titles("Other", "card terminal")
    assert "Card terminal" not in await titles("Main", "card terminal")
    assert "Parking garage" not in await titles("Other", "parking")
    everything = set[str]()
    for question in QUESTIONS:
        everything |= await titles("Main", question)
    assert not everything & {
        "Member lounge", "Staff kitchen", "Unicorn sale", "Salary table", "Chat gimmick", "Autumn discount",
        "Spring catalogue", "Returns policy",
    }  # fmt: skip
    member, stranger = await contact_of(shop, MEMBER), await contact_of(shop, STRANGER)
    assert "Member lounge" in await titles("Main", "member lounge password", contact_id=member)
    assert "Member lounge" not in await titles("Main", "member lounge password", contact_id=stranger)
    assert "Staff kitchen" not in await titles("Main", "staff kitchen password", contact_id=member)


async def test_a_result_says_where_it_is_from_and_how_sure_it_is(
    manage: ManagementClient, shop: TestDatabase, bases: dict[str, str]
) -> None:
    found = await search(manage, bases["Other"], "card terminal pin 44 x")
    (best, *_) = found["results"]
    source = await rows(
        shop,
        "select s.source_id::text, s.name from source s join knowledge_base b using (organization_id, base_id)"
        " where b.base_id = %s",
        [bases["Other"].rpartition("/")[2]],
    )
    assert (best["source_id"], best["source_name"]) == source[0]
    assert best["kb_id"] == bases["Other"].rpartition("/")[2]
    assert best["text"] == "The card terminal opens with PIN-44-X."
    assert best["relevant"] is True
    assert best["score"] >= found["min_score"] == 0.5
    assert 0 < best["keyword"] <= 1
    assert (found["status"], found["degraded"]) == ("ok", False)
    assert found["latency_ms"] >= found["search_ms"] > 0


async def test_so_many_are_given_as_are_asked_for(manage: ManagementClient, bases: dict[str, str]) -> None:
    found = await search(manage, bases["Main"], "the", limit=20)
    assert len(found["results"]) > 5
    for limit in (1, 3, 5):
        assert (await search(manage, bases["Main"], "the", limit=limit))["results"] == found["results"][:limit]
    assert (await search(manage, bases["Main"], "the"))["results"] == found["results"][:5]


async def test_a_base_with_nothing_in_it_has_nothing_to_search(manage: ManagementClient) -> None:
    found = await search(manage, await manage.new_base("Empty"), "parking")
    assert (found["status"], found["results"]) == ("restricted_empty", [])


async def test_agents_and_contacts_of_others_are_not_there(
    manage: ManagementClient, shop: TestDatabase, bases: dict[str, str]
) -> None:
    agent = str(await value(shop, "select agent_id::text from phone_agent where name = 'open'"))
    foreign_contact = str(
        await value(
            shop,
            "with made as (insert into contact (organization_id, phone_number, name)"
            " values (%s, '+15555550188', 'Alex') returning contact_id) select contact_id::text from made",
            [FOREIGN_ID],
        )
    )
    for fields in (
        {"agent_id": FOREIGN_AGENT},
        {"agent_id": str(uuid4())},
        {"contact_id": foreign_contact},
        {"contact_id": str(uuid4())},
        {"agent_id": agent, "contact_id": foreign_contact},
        {"agent_id": FOREIGN_AGENT, "contact_id": foreign_contact},
    ):
        answer = await manage.post(f"{bases['Main']}/search", {"query": "parking"} | fields)
        assert (answer.status, answer.body["code"]) == (404, "not_found"), fields


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "\u200b"}, "query"),
        ({"query": "x" * 501}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": None}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 21}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"limit": None}, "limit"),
        ({"agent_id": "open"}, "agent_id"),
        ({"contact_id": ""}, "contact_id"),
        ({"min_score": 0}, "min_score"),
    ],
)
async def test_a_question_that_cannot_be_is_refused(
    manage: ManagementClient, bases: dict[str, str], fields: dict[str, Any], field: str
) -> None:
    answer = await manage.post(f"{bases['Main']}/search", {"query": "parking"} | fields)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


class _Down(FakeEmbedder):
    async def embed_queries(self, texts: Any) -> Vectors:
        raise EmbedderUnavailable("down")


async def test_while_the_embedder_is_down_it_searches_by_words(shop: TestDatabase, bases: dict[str, str]) -> None:
    async with running_management(shop, await key_for(shop, ORGANIZATION_ID), embedder=_Down()) as manage:
        found = await search(manage, bases["Main"], "parking garage")
    assert (found["degraded"], found["results"][0]["title"]) == (True, "Parking garage")
