"""How a search goes through 100,000 vectors of others: by which index, what of it in order, and that it finds all.

The others' vectors are nearer to each question than the organization's own, and there is an index on all of them that
nobody asked for: what takes the nearest first and looks afterwards whose they are finds nothing.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.local_database import LocalServer
from retrieval_sidecar.partitions import rule
from retrieval_sidecar.partitions.move import place_organization
from retrieval_sidecar.scope.resolve import KnowledgeSelection, Scope
from retrieval_sidecar.search.candidates import find_candidates
from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.statement import POOL, shape_of
from tests.support import many_vectors
from tests.support.database import TestDatabase, clone
from tests.support.many_vectors import FOLDERS, ITEMS, LARGE, OTHERS, SEGMENT, drawn, scope_of, write_many
from tests.support.plans import Explained, Node, explained
from tests.support.sidecar import connected

pytestmark = pytest.mark.timeout(300)

QUESTION = Question.read("anything", utterance=None, language="en", default_language="en")
HALF_OF_THE_ROWS = ITEMS * many_vectors.PASSAGES_AN_ITEM // 2


def some_items(count: int) -> list[int]:
    """So many of the items that anybody may hear of, spread over all."""
    heard = sorted({row.owner_key for row in drawn().rows if not row.is_instruction and row.may_be_given(())})
    return heard[:: len(heard) // count][:count]


EVERYTHING: dict[str, Any] = {"instructions": None, "knowledge": None}
SELECTIVITIES: dict[str, dict[str, Any]] = {
    "all": {"knowledge": None},
    "10 %": {"knowledge": KnowledgeSelection(some_items(ITEMS // 10), [], [])},
    "1 %": {"knowledge": KnowledgeSelection(some_items(ITEMS // 100), [], [])},
    "0.1 %": {"knowledge": KnowledgeSelection(some_items(ITEMS // 1000 + 1), [], [])},
    "five rows": {"knowledge": KnowledgeSelection(some_items(1), [], [])},
    "a folder": {"knowledge": KnowledgeSelection([], [3], [])},
    "the smallest base": {"knowledge": KnowledgeSelection([], [], [3])},
    "the largest base": {"knowledge": KnowledgeSelection([], [], [1])},
    "an item, a folder, a base": {"knowledge": KnowledgeSelection(some_items(1), [4], [3])},
    "narrowed": {"knowledge": None, "narrowed": [2]},
    "instructions too": EVERYTHING,
    "of a member": {"knowledge": None, "segments": [SEGMENT]},
}


class Place:
    """A database, and where in it the large organization is."""

    def __init__(self, database: TestDatabase, space_id: int, partition_id: int) -> None:
        self.database = database
        self.space_id, self.partition_id = space_id, partition_id

    def scope(self, **selected: Any) -> Scope:
        return scope_of(self.space_id, self.partition_id, **selected)


@pytest_asyncio.fixture(scope="module")
async def written(postgres: LocalServer, empty_template: str) -> AsyncIterator[tuple[str, dict[UUID, int]]]:
    name = "template_many"
    postgres.create_database(name, template=empty_template)
    database = TestDatabase(postgres, name)
    spaces = await write_many(database)
    async with connected(database, "owner") as connection:
        # What an operator might add: quick to build, and of no use to anybody here.
        await connection.execute(
            "create index of_nobodys_asking on passage_vector_shared"
            f" using hnsw ((embedding::halfvec({many_vectors.DIMENSIONS})) halfvec_cosine_ops)"
            " with (m = 2, ef_construction = 4)"
        )
    yield name, spaces
    postgres.drop_database(name)


@pytest.fixture(scope="module")
def shared(postgres: LocalServer, written: tuple[str, dict[UUID, int]]) -> Iterator[Place]:
    name, spaces = written
    with clone(postgres, name) as database:
        yield Place(database, spaces[LARGE], 0)


@pytest_asyncio.fixture(scope="module")
async def own(postgres: LocalServer, written: tuple[str, dict[UUID, int]]) -> AsyncIterator[Place]:
    """The same, with the organization moved to a partition of its own."""
    name, spaces = written

    async def nobody_is_searching() -> None:
        return

    with clone(postgres, name) as database:
        async with connected(database, "owner") as connection, connected(database, "owner") as watch:
            await place_organization(connection, watch, LARGE, own_partition=True, settle=nobody_is_searching)
        yield Place(database, spaces[LARGE], spaces[LARGE])


@pytest.fixture
def is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if some thousand rows were many: an index of as many as really are takes minutes to build."""
    monkeypatch.setattr(rule, "EXACT_ROWS", HALF_OF_THE_ROWS)


@pytest.fixture
def always_approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in a partition of its own, however few of it may be told."""
    monkeypatch.setattr(rule, "EXACT_ROWS", -1)
    monkeypatch.setattr(rule, "KEPT_SHARE", 0.0)


async def find(searching: Explained, scope: Scope, question: int = 0) -> list[int]:
    """The candidates by meaning, nearest first."""
    (found,) = await find_candidates(
        searching.connection,
        scope,
        shape_of(scope),
        [QUESTION],
        drawn().questions[question : question + 1],
        Deadline.after(LONGEST_S),
    )
    assert all(each.meaning is not None for each in found)
    return [each.passage_id for each in sorted(found, key=lambda each: -(each.meaning or 0.0))]


def expect_text_of_candidates_only(plan: Node) -> None:
    for table in ("passage", "knowledge_item", "instruction"):
        read = [
            node.fields["Actual Rows"] * node.fields["Actual Loops"]
            for node in plan.walk()
            if node["Relation Name"] == table
        ]
        assert sum(read) <= 8 * POOL, table


def expect_exact(plan: Node, partition: str) -> list[Node]:
    """What holds of every exact plan; its legs."""
    assert {scan["Relation Name"] for scan in plan.scans()} == {partition}
    assert not any("Gather" in node["Node Type"] for node in plan.walk())
    assert plan.approximate_legs() == []
    assert not any(scan.index in ("of_nobodys_asking", f"{partition}_hnsw") for scan in plan.scans())
    expect_text_of_candidates_only(plan)
    # For all questions, not for the first: a plan made for one would have its values in it.
    assert any("$" in node["Index Cond"] for node in plan.walk())
    return plan.exact_legs()


ALLOWLISTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all knowledge": ({"knowledge": None}, ["space_id = $"]),
    "everything": (EVERYTHING, ["space_id = $"]),
    "instructions": ({"instructions": [1, 2], "knowledge": KnowledgeSelection([], [], [])}, ["owner_key = ANY"]),
    "items": ({"knowledge": KnowledgeSelection([1, 5, 9], [], [])}, ["owner_key = ANY"]),
    "folders": ({"knowledge": KnowledgeSelection([], [1, 2], [])}, ["folder_id = ANY"]),
    "bases": ({"knowledge": KnowledgeSelection([], [], [3])}, ["base_key = ANY"]),
    "narrowed": ({"knowledge": None, "narrowed": [3]}, ["base_key = ANY"]),
    "items, narrowed": ({"knowledge": KnowledgeSelection([1, 5], [], []), "narrowed": [1]}, ["owner_key = ANY"]),
    "all kinds": (
        {"instructions": [1], "knowledge": KnowledgeSelection([1], [2], [3])},
        ["owner_key = ANY", "owner_key = ANY", "folder_id = ANY", "base_key = ANY"],
    ),
}


@pytest.mark.parametrize("kind", ALLOWLISTS)
async def test_each_selection_is_one_range_of_an_index_in_the_shared_partition(shared: Place, kind: str) -> None:
    selected, conditions = ALLOWLISTS[kind]
    async with explained(shared.database) as searching:
        await find(searching, shared.scope(**selected))
        plan = searching.of_search()
    legs = expect_exact(plan, "passage_vector_shared")
    assert not any(scan["Node Type"] == "Seq Scan" for scan in plan.scans())
    assert len(legs) == len(conditions)
    for leg, condition in zip(legs, conditions, strict=True):
        assert "organization_id = $" in leg.condition
        # What is selected is asked of the index, not of each row that it gave.
        assert condition in leg.condition
        assert "ANY" not in leg["Filter"] or kind == "items, narrowed"


@pytest.mark.parametrize("kind", ALLOWLISTS)
async def test_a_selection_is_exact_in_a_partition_of_its_own_too(own: Place, kind: str) -> None:
    selected, conditions = ALLOWLISTS[kind]
    async with explained(own.database) as searching:
        await find(searching, own.scope(**selected))
        plan = searching.of_search()
    legs = expect_exact(plan, f"passage_vector_{own.space_id}")
    assert len(legs) == len(conditions)
    for leg, condition in zip(legs, conditions, strict=True):
        # All of a partition that holds nothing else may be read as it lies, a part of it by its index.
        assert condition in leg.condition or "ANY" not in condition


LARGE_LEGS: dict[str, dict[str, Any]] = {
    "all knowledge": {"knowledge": None},
    "the largest base": {"knowledge": KnowledgeSelection([], [], [1])},
    "nearly all folders": {"knowledge": KnowledgeSelection([], list(range(1, FOLDERS)), [])},
    "narrowed to the largest base": {"knowledge": None, "narrowed": [1]},
    "two of the bases": {"knowledge": KnowledgeSelection([], [], [1, 2])},
}


@pytest.mark.parametrize("kind", LARGE_LEGS)
async def test_what_keeps_most_of_a_large_organization_goes_by_its_index(own: Place, kind: str, is_large: None) -> None:
    async with explained(own.database) as searching:
        found = await find(searching, own.scope(**LARGE_LEGS[kind]))
        plan = searching.of_search()
    assert {scan["Relation Name"] for scan in plan.scans()} == {f"passage_vector_{own.space_id}"}
    (approximate,) = plan.approximate_legs()
    assert approximate.index == f"passage_vector_{own.space_id}_hnsw"
    (exact,) = plan.exact_legs()
    assert not exact.was_executed
    assert not any("Gather" in node["Node Type"] for node in plan.walk())
    assert len(found) == POOL
    expect_text_of_candidates_only(plan)


@pytest.mark.parametrize(
    "selected",
    [
        pytest.param({"knowledge": KnowledgeSelection([], [], [2, 3])}, id="a fifth"),
        pytest.param({"knowledge": KnowledgeSelection([], [1, 2], [])}, id="two folders"),
        pytest.param({"knowledge": None, "narrowed": [3]}, id="narrowed to little"),
        pytest.param({"knowledge": KnowledgeSelection(list(range(1, ITEMS)), [], [])}, id="a list of items"),
    ],
)
async def test_what_keeps_little_or_nobody_knows_how_much_is_exact(
    own: Place, selected: dict[str, Any], is_large: None
) -> None:
    async with explained(own.database) as searching:
        await find(searching, own.scope(**selected))
        assert searching.of_search().approximate_legs() == []


async def test_an_organization_that_shares_a_partition_is_exact_however_large(shared: Place, is_large: None) -> None:
    async with explained(shared.database) as searching:
        await find(searching, shared.scope(knowledge=None))
        expect_exact(searching.of_search(), "passage_vector_shared")


async def test_an_index_that_gives_too_little_is_followed_by_an_exact_search(
    own: Place, always_approximate: None
) -> None:
    scope = own.scope(knowledge=KnowledgeSelection([], [], [3]))
    async with explained(own.database) as searching:
        found = await find(searching, scope)
        plan = searching.of_search()
    (approximate,) = plan.approximate_legs()
    assert approximate.was_executed
    assert approximate.fields["Actual Rows"] <= rule.EF_SEARCH
    assert any(leg.was_executed for leg in plan.exact_legs())
    assert found[:5] == many_vectors.nearest(drawn().questions[0], many_vectors.allowed(scope), 5)


async def recall(searching: Explained, scope: Scope) -> float:
    """Of the nearest five, over all questions; fails where there are fewer than five."""
    places = many_vectors.allowed(scope)
    of_passage = {row.passage_id: place for place, row in enumerate(drawn().rows)}
    hits = total = 0
    for number, question in enumerate(drawn().questions):
        found = await find(searching, scope, number)
        near = drawn().vectors @ question
        best = sorted((float(near[place]) for place in places), reverse=True)[:5]
        assert len(found) >= len(best) == min(5, len(places))
        assert set(found) <= {drawn().rows[place].passage_id for place in places}
        # Ties are as good as each other.
        hits += sum(float(near[of_passage[id_]]) > best[-1] - 1e-3 for id_ in found[: len(best)])
        total += len(best)
    return hits / total


@pytest.mark.parametrize("selectivity", SELECTIVITIES)
async def test_exact_search_finds_the_nearest_five_amid_nearer_ones_of_others(
    shared: Place, own: Place, selectivity: str
) -> None:
    for place in (shared, own):
        async with explained(place.database) as searching:
            assert await recall(searching, place.scope(**SELECTIVITIES[selectivity])) == 1.0


@pytest.mark.parametrize("selectivity", SELECTIVITIES)
async def test_approximate_search_is_never_short_and_hardly_ever_wrong(
    own: Place, selectivity: str, always_approximate: None
) -> None:
    async with explained(own.database) as searching:
        assert await recall(searching, own.scope(**SELECTIVITIES[selectivity])) >= 0.99


async def test_the_index_that_nobody_asked_for_would_have_found_nothing(shared: Place) -> None:
    """What the statements are kept from: the nearest forty of everybody, and then one's own of them."""
    async with connected(shared.database, "owner") as connection:
        await connection.execute("set enable_sort = off; set enable_seqscan = off; set enable_bitmapscan = off")
        cursor = await connection.execute(
            "select passage_id from passage_vector"
            " where organization_id = %s and partition_id = 0 order by embedding::halfvec(16) <=> %s::halfvec limit 5",
            [LARGE, str(drawn().questions[0].tolist())],
        )
        assert len(await cursor.fetchall()) < 5
    assert len(OTHERS) * many_vectors.OTHERS_ITEMS * many_vectors.OTHERS_PASSAGES_AN_ITEM >= 100_000


def test_the_organization_is_as_the_selectivities_say() -> None:
    sizes: Sequence[int] = [len(many_vectors.allowed(scope_of(1, 0, **each))) for each in SELECTIVITIES.values()]
    assert sizes[4] == 5
    assert sizes[0] > sizes[7] > sizes[1] > sizes[2] > sizes[3] > 5
    assert sizes[11] > sizes[0]
