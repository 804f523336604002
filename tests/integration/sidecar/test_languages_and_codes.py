"""The caller's language first, codes as they are said, and content as it was written."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from retrieval_sidecar.local_database import LocalServer
from tests.support.database import TestDatabase, clone
from tests.support.inspection import rows
from tests.support.sidecar import Session, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, organization

WRITTEN = (
    "# Delivery\n\n## Abroad\n\nIt costs ₹4,000 (CHF 4’000); call +1 555 010 0199 by ٢٥٫٠٥. Ａ１２ ﬁts the «ـشحن»."
)


@pytest_asyncio.fixture(scope="module")
async def database(
    postgres: LocalServer, empty_template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TestDatabase]:
    shop = organization(agents=organization()["agents"][:1])
    shop["organization"]["language_fallbacks"] = {"kk": ["ru"]}
    items = [
        item("express-en", "OTAU-7 express", "OTAU-7 express comes within two days.", language="en"),
        item("express-ru", "OTAU-7 express", "OTAU-7 express приходит за два дня.", language="ru"),
        item("gift-en", "QYS-9 gift", "QYS-9 gift is sold here.", language="en"),
        item("gift-ru", "QYS-9 gift", "QYS-9 gift продаётся здесь.", language="ru"),
        item("gift-kk", "QYS-9 gift", "QYS-9 gift осында сатылады.", language="kk"),
        item("terminal-south", "Card terminal south", "The card terminal opens with PIN-44-Y."),
        item("terminal", "Card terminal", "The card terminal opens with PIN-44-X."),
        item("terminal-west", "Card terminal west", "The card terminal opens with PIN-44-Z."),
        item("twice-1", "Bicycle shed", "The bicycle shed ABC-12 behind the hall is open to all guests by day."),
        item("twice-2", "Bicycle shed", "The bicycle shed ABC-12 behind the hall is open to all guests by day!"),
        item("abroad", "Delivery", WRITTEN),
    ]
    with clone(postgres, empty_template) as clean:
        await load(clean, tmp_path_factory.mktemp("languages"), shop, items)
        yield clean


@pytest_asyncio.fixture(scope="module")
async def call(database: TestDatabase) -> AsyncIterator[Session]:
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID)) as client:
        yield await client.open(OPEN_NUMBER)


def found(answer: Any, title: str) -> list[str]:
    return [result["language"] for result in answer["results"] if result["title"] == title]


@pytest.mark.parametrize(
    ("language", "query", "given", "is_fallback"),
    [
        ("kk", "QYS-9 gift", "kk", False),
        ("ru", "QYS-9 gift", "ru", False),
        ("en", "QYS-9 gift", "en", False),
        ("kk", "OTAU-7 express", "ru", True),
        ("ru", "OTAU-7 express", "ru", False),
        ("en", "OTAU-7 express", "en", False),
    ],
)
async def test_of_an_answer_in_several_languages_the_callers_is_given_or_its_fallback(
    call: Session, language: str, query: str, given: str, *, is_fallback: bool
) -> None:
    answer = await call.search(query, language=language)
    assert found(answer, query) == [given]
    assert answer["results"][0]["title"] == query
    assert (answer["language"], answer["crossLanguageFallback"]) == (language, is_fallback)


async def test_an_answer_in_no_language_of_the_callers_is_found_all_the_same(call: Session) -> None:
    answer = await call.search("card terminal PIN-44-X", language="kk")
    assert found(answer, "Card terminal") == ["en"]
    assert answer["crossLanguageFallback"]


async def test_a_text_that_was_loaded_twice_is_given_once(call: Session) -> None:
    answer = await call.search("bicycle shed behind the hall ABC-12")
    assert found(answer, "Bicycle shed") == ["en"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "pin forty-four x"),
        ("en", "P as in Papa, I, N, double four, x-ray"),
        ("ru", "пин сорок четыре икс"),
        ("ru", "пин две четвёрки икс"),
        ("ar", "بين أربعة وأربعون إكس"),
    ],
)
async def test_a_spoken_code_tells_which_of_many_is_meant(call: Session, language: str, said: str) -> None:
    answer = await call.search("card terminal opens", language=language, utterance=said)
    assert answer["results"][0]["title"] == "Card terminal"
    assert len(answer["results"]) == 3


async def test_content_is_given_byte_for_byte_and_its_headings_stand_beside_it(
    call: Session, database: TestDatabase
) -> None:
    answer = await call.search("delivery abroad costs ₹4,000")
    contents = [result["content"] for result in answer["results"] if result["title"] == "Delivery"]
    assert "".join(contents) in WRITTEN
    assert any("₹4,000 (CHF 4’000); call +1 555 010 0199 by ٢٥٫٠٥. Ａ１２ ﬁts the «ـشحن»." in each for each in contents)
    stored = await rows(
        database,
        "select p.content, p.heading from passage p join knowledge_item i using (organization_id, item_id)"
        " where i.external_id = 'abroad' order by p.chunk_index",
    )
    assert all(content in WRITTEN for content, _ in stored)
    assert {heading for content, heading in stored if content.startswith("#")} <= {"", "Delivery"}
