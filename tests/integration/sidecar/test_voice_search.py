"""Searching in a call: what comes back, and only that."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import extended_items
from tests.support.inspection import rows
from tests.support.sidecar import Session, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID, item, organization


@pytest_asyncio.fixture(scope="module")
async def call(api: VoiceClient) -> AsyncIterator[Session]:
    yield await api.open(OPEN_NUMBER, MEMBER)


def titles(answer: Any) -> list[str]:
    return [result["title"] for result in answer["results"]]


async def test_a_result_is_a_passage_as_it_was_written(call: Session, shop: TestDatabase) -> None:
    answer = await call.search("opening hours of the shop")
    (found,) = [result for result in answer["results"] if result["title"] == "Opening hours"]
    ((item_id,),) = await rows(shop, "select item_id::text from knowledge_item where external_id = 'link'")
    assert found.pop("score") > 0
    assert 0.5 <= found.pop("relevance") <= 1
    assert found == {
        "type": "knowledge",
        "id": item_id,
        "chunkIndex": 0,
        "title": "Opening hours",
        "content": "The shop opens at nine. It closes at six.",
        "sourceUrl": "https://shop.example/hours",
        "language": "en",
    }


async def test_an_answer_says_what_was_searched_and_how_long_it_took(call: Session) -> None:
    answer = await call.search("parking garage")
    assert UUID(answer["searchId"])
    assert (answer["status"], answer["instructionMode"], answer["knowledgeMode"]) == ("ok", "all", "all")
    assert (answer["language"], answer["degraded"], answer["crossLanguageFallback"]) == ("en", False, False)
    assert not {"reasonCode", "messageKey"} & set(answer)
    assert answer["timings"]["totalMs"] >= answer["timings"]["searchMs"] > 0


async def test_an_instruction_is_a_result_of_its_own_type(call: Session, shop: TestDatabase) -> None:
    answer = await call.search("returns policy voucher late return")
    (found,) = [result for result in answer["results"] if result["type"] == "instruction"]
    ((instruction_id,),) = await rows(
        shop, "select instruction_id::text from instruction where title = 'Returns policy'"
    )
    assert (found["id"], found["content"]) == (instruction_id, "Offer a voucher when a return is late.")
    assert "sourceUrl" not in found


@pytest.mark.parametrize("query", ["parking garage", "returns policy voucher", "opening hours of the shop", "voucher"])
async def test_citations_and_the_answer_are_of_the_results_and_of_nothing_else(call: Session, query: str) -> None:
    answer = await call.search(query)
    assert answer["citations"] == [
        {key: result[key] for key in ("id", "title", "sourceUrl") if key in result} for result in answer["results"]
    ]
    assert answer["answerText"] in answer["results"][0]["content"]
    written = {entry["content"] for entry in extended_items()} | {"Offer a voucher when a return is late.", "Be brief."}
    assert {result["content"] for result in answer["results"]} <= written


async def test_nothing_relevant_is_no_match_with_its_reason_and_the_agents_line(call: Session) -> None:
    answer = await call.search("chess championship mongolia")
    assert (answer["status"], answer["reasonCode"]) == ("no_match", "no_relevant_knowledge")
    assert (answer["messageKey"], answer["results"], answer["citations"]) == ("knowledge.no_match", [], [])
    assert "answerText" not in answer


async def test_parts_of_a_question_are_searched_with_it_and_named_in_the_results(call: Session) -> None:
    answer = await call.search(
        "parking garage and gift voucher", subQuestions=["parking garage", "gift voucher counter", "chess mongolia"]
    )
    parts = {result["title"]: result["parts"] for result in answer["results"]}
    assert parts["Parking garage"] == [0]
    assert parts["Gift voucher"] == [1]
    assert len({result["id"] for result in answer["results"]}) == len(answer["results"]) <= 5


async def test_a_part_is_found_that_the_whole_question_does_not_find(call: Session) -> None:
    assert "Repair desk" not in titles(await call.search("chess mongolia"))
    answer = await call.search("chess mongolia", subQuestions=["repair desk watches"])
    assert (titles(answer)[0], answer["results"][0]["parts"]) == ("Repair desk", [0])


async def test_without_parts_no_result_has_any(call: Session) -> None:
    for answer in (await call.search("parking garage"), await call.search("parking garage", subQuestions=[])):
        assert all("parts" not in result for result in answer["results"])


async def test_a_code_that_only_the_caller_said_still_counts(call: Session) -> None:
    assert "Card terminal" not in titles(await call.search("chess mongolia"))
    answer = await call.search("card", utterance="uh it says pin 44 x on it")
    assert titles(answer)[0] == "Card terminal"


async def test_the_asked_region_comes_first(call: Session, shop: TestDatabase) -> None:
    for region in ("DE", "KZ"):
        answer = await call.search("service line closes noon", regionCode=region)
        first = answer["results"][0]
        assert first["title"] == "Service line"
        ((found,),) = await rows(shop, "select region_code from knowledge_item where item_id = %s", [first["id"]])
        assert found == region


async def test_the_agents_region_is_asked_for_where_none_is_given(call: Session) -> None:
    own = await call.search("service line closes noon")
    asked = await call.search("service line closes noon", regionCode="DE")
    assert own["results"] == asked["results"]


async def test_an_answer_in_another_language_is_flagged_and_framed_in_the_callers(call: Session) -> None:
    answer = await call.search("parking garage", language="ru")
    assert (answer["language"], answer["crossLanguageFallback"]) == ("ru", True)
    assert answer["results"][0]["language"] == "en"
    frame, _, rest = answer["answerText"].partition(": ")
    assert frame == "Это есть у меня только на другом языке"
    assert rest in answer["results"][0]["content"]


async def test_a_question_in_the_language_of_the_answer_is_no_fallback(call: Session) -> None:
    answer = await call.search("Сколько стоит доставка по городу")
    assert (answer["language"], answer["crossLanguageFallback"], titles(answer)[0]) == ("ru", False, "Доставка")
    assert answer["answerText"] == "Доставка по городу бесплатна."


async def test_a_word_without_end_is_searched_and_stored_like_any_other(
    call: Session, empty_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for sign in ("a", "中", "'", "1", "ก"):
        assert (await call.search("parking garage", utterance=sign * 4000))["results"]
    endless = [item(f"endless-{n}", "Endless", sign * 2500) for n, sign in enumerate("中กa")]
    shop = organization(agents=organization()["agents"][:1])
    assert (await load(empty_database, tmp_path_factory.mktemp("endless"), shop, endless)).items == 3


async def test_at_most_five_results_come_back(
    empty_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> None:
    alike = [item(f"bike-{n}", f"Bicycle {n}", f"The bicycle number {n} costs much.") for n in range(12)]
    shop = organization(agents=organization()["agents"][:1])
    await load(empty_database, tmp_path_factory.mktemp("bikes"), shop, alike)
    async with running_sidecar(empty_database, await token_for(empty_database, ORGANIZATION_ID)) as client:
        session = await client.open(OPEN_NUMBER)
        assert len((await session.search("bicycle number costs much"))["results"]) == 5


@pytest.mark.parametrize("copies", [1, 2])
async def test_an_organization_of_one_text_finds_it(
    empty_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory, copies: int
) -> None:
    # Centred by the mean of its language, the only vector there is would be nothing.
    alone = organization(instructions=[], instruction_directories=[], agents=organization()["agents"][:1])
    same = [item(f"only-{n}", "Parking garage", "Parking costs three euros an hour.") for n in range(copies)]
    await load(empty_database, tmp_path_factory.mktemp("one"), alone, same)
    async with running_sidecar(empty_database, await token_for(empty_database, ORGANIZATION_ID)) as client:
        session = await client.open(OPEN_NUMBER)
        assert titles(await session.search("parking costs euros an hour"))[:1] == ["Parking garage"]
        assert (await session.search("chess mongolia"))["status"] == "no_match"


async def test_an_organization_without_knowledge_has_no_match(
    empty_database: TestDatabase, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = organization(instructions=[], instruction_directories=[], agents=organization()["agents"][:1])
    await load(empty_database, tmp_path_factory.mktemp("none"), empty, [])
    async with running_sidecar(empty_database, await token_for(empty_database, ORGANIZATION_ID)) as client:
        session = await client.open(OPEN_NUMBER)
        assert (await session.search("parking garage"))["status"] == "no_match"
