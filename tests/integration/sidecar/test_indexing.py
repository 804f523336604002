"""Indexing again writes what has changed, and nothing else; vectors and what centres them change together."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval_sidecar.embeddings.centering import TOLERANCE
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.ingest import plan
from retrieval_sidecar.ingest.indexing import index_organization
from tests.support.database import TestDatabase
from tests.support.embedders import GatedEmbedder
from tests.support.inspection import rows, value
from tests.support.sidecar import connected, load
from tests.support.small_organization import ORGANIZATION_ID, instruction, item, items, organization

# Two hundred of one kind: the mean of all moves little when one of them changes.
_LOCKERS = [item(f"locker-{n}", f"Locker {n}", f"Locker {n} is on floor {n % 7}.") for n in range(200)]


async def passages(database: TestDatabase) -> dict[str, tuple[Any, ...]]:
    """By content: the passage, and where the row of its vector lies, which is elsewhere once it was written again."""
    found = await rows(
        database,
        "select p.content, p.passage_id, v.ctid::text, v.embedding::text"
        " from passage p join passage_vector v using (organization_id, passage_id)",
    )
    return {row[0]: row[1:] for row in found}


async def vectors(database: TestDatabase) -> dict[str, np.ndarray[Any, Any]]:
    async with connected(database, "owner") as connection:
        found = await connection.execute(
            "select p.content, v.embedding from passage p join passage_vector v using (organization_id, passage_id)"
        )
        return {content: embedding.to_numpy() async for content, embedding in found}


async def test_of_two_hundred_items_the_changed_one_is_written(empty_database: TestDatabase, tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    await load(empty_database, tmp_path, organization(), [*items(), *_LOCKERS], embedder)
    before, embedded = await passages(empty_database), embedder.passages
    changed = item("locker-7", "Locker 7", "Locker 7 is in the cellar.")
    await load(empty_database, tmp_path, organization(), [*items(), *_LOCKERS[:7], changed, *_LOCKERS[8:]], embedder)
    after = await passages(empty_database)
    gone = {"Locker 7 is on floor 0."}
    assert before.keys() - after.keys() == gone
    assert {content: row for content, row in after.items() if content != "Locker 7 is in the cellar."} == {
        content: row for content, row in before.items() if content not in gone
    }
    assert embedder.passages == embedded + 1


async def test_what_does_not_change_what_is_said_writes_no_passage(database: TestDatabase, tmp_path: Path) -> None:
    before = await passages(database)
    drafts = [each | {"status": "draft"} for each in items()]
    await load(database, tmp_path, organization(), drafts)
    after = await passages(database)
    assert {key: row[0] for key, row in after.items()} == {key: row[0] for key, row in before.items()}
    assert await value(database, "select bool_or(servable) from passage_vector where not is_instruction") is False


@pytest.mark.parametrize(
    "changes",
    [{"title": "Car park"}, {"content": "Parking is free."}, {"language": "de"}],
    ids=["title", "content", "language"],
)
async def test_title_content_and_language_are_what_a_document_says(
    database: TestDatabase, tmp_path: Path, changes: dict[str, Any]
) -> None:
    before = await passages(database)
    await load(database, tmp_path, organization(), [items()[0] | changes, *items()[1:]])
    after = await passages(database)
    kept = before.keys() & after.keys() - {items()[0]["content"]}
    assert len(kept) == len(before) - 1
    assert all(before[content][0] == after[content][0] for content in kept)
    assert not {row[0] for row in after.values()} <= {row[0] for row in before.values()}


async def test_an_instruction_that_changes_is_written_and_a_deleted_document_goes(
    database: TestDatabase, tmp_path: Path
) -> None:
    await rows(database, "update knowledge_item set deleted_at = now() where title = 'Unicorn sale'")
    rules = organization()["instructions"]
    rules[0] = instruction("rule-returns", "nested", "Returns policy", "Offer nothing.")
    await load(
        database,
        tmp_path,
        organization(instructions=rules),
        [each for each in items() if each["external_id"] != "draft"],
    )
    contents = (await passages(database)).keys()
    assert "Offer nothing." in contents
    assert "Offer a voucher when a return is late." not in contents
    assert "The unicorn sale begins soon." not in contents


async def test_a_new_way_to_make_passages_makes_all_of_them_anew(
    database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {row[0] for row in (await passages(database)).values()}
    monkeypatch.setattr(plan, "RECIPE", "another")
    await load(database, tmp_path, organization(), items())
    assert not before & {row[0] for row in (await passages(database)).values()}


async def test_after_many_changes_everything_is_centred_as_if_it_had_been_loaded_at_once(
    empty_database: TestDatabase, database: TestDatabase, tmp_path: Path
) -> None:
    everything = [*items(), *_LOCKERS]
    await load(empty_database, tmp_path, organization(), everything)
    for count in (1, 2, 50, 200):
        await load(database, tmp_path, organization(), [*items(), *_LOCKERS[:count]])
    at_once, step_by_step = await vectors(empty_database), await vectors(database)
    assert at_once.keys() == step_by_step.keys()
    cosines = [float(at_once[content] @ step_by_step[content]) for content in at_once]
    assert min(cosines) > 1 - 5 * TOLERANCE**2
    centers = "select language, of_passages::text, of_queries::text from language_center order by 1"
    for (language, *once), (_, *steps) in zip(
        await rows(empty_database, centers), await rows(database, centers), strict=True
    ):
        for one, other in zip(once, steps, strict=True):
            distance = np.linalg.norm(np.fromstring(one[1:-1], sep=",") - np.fromstring(other[1:-1], sep=","))
            assert distance < TOLERANCE, language


async def test_every_vector_is_its_kept_one_without_the_stored_centre(database: TestDatabase, tmp_path: Path) -> None:
    russian = item("ru", "Парковка", "Парковка стоит три евро.", language="ru")
    await load(database, tmp_path, organization(), [*items(), russian])
    off = await value(
        database,
        "select count(*) from passage p"
        " join passage_vector v using (organization_id, passage_id)"
        " join language_center m on m.organization_id = p.organization_id and m.language = p.language"
        " join embedding_cache c on c.organization_id = p.organization_id and c.text_hash = p.text_hash"
        " where v.embedding <=> l2_normalize(c.embedding::vector - m.of_passages)::halfvec > 0.0001",
    )
    assert off == 0
    assert await value(database, "select count(*) from passage_vector") == len(items()) + 4


async def test_vectors_of_texts_that_are_gone_are_not_kept(database: TestDatabase, tmp_path: Path) -> None:
    kept = "select count(*) from embedding_cache"
    before = await value(database, kept)
    for price in range(3):
        parking = item("parking", "Parking garage", f"Parking costs {price} euros.")
        await load(database, tmp_path, organization(), [parking, *items()[1:]])
        assert await value(database, kept) == before
    used = "select count(*) from passage join embedding_cache using (organization_id, text_hash)"
    assert await value(database, used) == len(items()) + 3


async def test_an_organization_that_loses_all_it_knows_can_be_loaded_again(
    database: TestDatabase, tmp_path: Path
) -> None:
    await rows(database, "update knowledge_item set deleted_at = now()")
    await rows(database, "update instruction set deleted_at = now()")
    async with connected(database, "manage") as connection:
        assert await index_organization(connection, FakeEmbedder(), ORGANIZATION_ID) == 0
    assert await value(database, "select count(*) from language_center") == 0
    await load(database, tmp_path, organization(), items())
    assert await value(database, "select count(*) from passage_vector") == len(items()) + 3
