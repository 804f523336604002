"""A word that very many passages hold tells them apart; it finds them only where little is searched."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from contracts.voice import SearchRequest
from retrieval_sidecar.database import Pool
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from retrieval_sidecar.ingest import common_words
from retrieval_sidecar.scope.resolve import scope_of_agent
from retrieval_sidecar.search.service import Outcome, SearchService
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import ORGANIZATION_ID, agent, item, organization

FOLDER = "upload:lockers"
OPEN = agent("open", 1, "+15555550101")
RESTRICTED = agent("restricted", 2, "+15555550102", knowledge_scope={"folders": [FOLDER]})
LOCKERS = 40
A_LEG = 24  # candidates that each leg yields at most


class NoEmbedder(FakeEmbedder):
    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable


@pytest.fixture
async def pool(empty_database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pool]:
    monkeypatch.setattr(common_words, "COMMON", 10)
    lockers = [
        item(f"n{number}", f"Locker {number}", f"The locker {number} is grey.", folder=FOLDER)
        for number in range(LOCKERS)
    ]
    await load(
        empty_database,
        tmp_path,
        organization(agents=[OPEN, RESTRICTED]),
        [*lockers, item("pool", "Pool", "The pool is heated.")],
    )
    pool = Pool(empty_database.url("voice"), 2)
    await pool.open(wait=True)
    yield pool
    await pool.close()


async def ask(pool: Pool, who: dict[str, Any], embedder: Embedder) -> Outcome:
    """Look for the pool, in which meaning alone follows the query and words follow the grey of the lockers too."""
    request = SearchRequest(org_id=ORGANIZATION_ID, agent_id=UUID(who["id"]), query="pool", utterance="grey")
    resolve = partial(scope_of_agent, ORGANIZATION_ID, UUID(who["id"]), None)
    return await SearchService(pool, embedder, TestClock()).search(resolve, request, Deadline.after(LONGEST_S))


async def test_indexing_notes_the_words_that_very_many_passages_hold(pool: Pool, empty_database: TestDatabase) -> None:
    noted = dict(await rows(empty_database, "select word, passages from common_word"))
    assert (noted["grey"], noted["locker"]) == (LOCKERS, LOCKERS)
    assert "pool" not in noted


async def test_a_common_word_finds_nothing_among_everything(pool: Pool) -> None:
    outcome = await ask(pool, OPEN, FakeEmbedder())
    assert len(outcome.considered) == A_LEG  # the nearest, the pool among them, and no locker for being grey


async def test_a_common_word_tells_less_than_a_rare_one_but_something(pool: Pool) -> None:
    outcome = await ask(pool, OPEN, FakeEmbedder())
    words = {word: share for each in outcome.considered for word, share in each.candidate.matched.items()}
    assert 0 < words["grey"] < words["pool"]


async def test_a_common_word_finds_what_a_selection_holds(pool: Pool) -> None:
    outcome = await ask(pool, RESTRICTED, FakeEmbedder())
    assert len(outcome.considered) > A_LEG


async def test_a_common_word_finds_while_there_are_only_words(pool: Pool) -> None:
    outcome = await ask(pool, OPEN, NoEmbedder())
    assert len(outcome.considered) == A_LEG
    assert sum("grey" in each.candidate.matched for each in outcome.considered) == A_LEG - 1
