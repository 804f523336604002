"""From a scope to the legs of its search: None is everything, empty is nothing, in every combination."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest

from retrieval_sidecar.scope.resolve import KnowledgeSelection, Scope
from retrieval_sidecar.search.statement import (
    SQL,
    anything_statement,
    is_listed,
    legs_of,
    rows_statement,
    scope_parameters,
    search_statement,
    shape_of,
)

INSTRUCTIONS: list[tuple[Sequence[int] | None, tuple[str, ...]]] = [
    (None, ("all_instructions",)),
    ([], ()),
    ([1], ("selected_instructions",)),
]
KNOWLEDGE: list[tuple[KnowledgeSelection | None, tuple[str, ...]]] = [
    (None, ("all_knowledge",)),
    (KnowledgeSelection([], [], []), ()),
    (KnowledgeSelection([1], [], []), ("selected_items",)),
    (KnowledgeSelection([], [2], []), ("selected_folders",)),
    (KnowledgeSelection([], [], [3]), ("selected_bases",)),
    (KnowledgeSelection([1], [2], []), ("selected_items", "selected_folders")),
    (KnowledgeSelection([1], [], [3]), ("selected_items", "selected_bases")),
    (KnowledgeSelection([], [2], [3]), ("selected_folders", "selected_bases")),
    (KnowledgeSelection([1], [2], [3]), ("selected_items", "selected_folders", "selected_bases")),
]
SCOPES = list(product(INSTRUCTIONS, KNOWLEDGE))
SHAPES = [instructions + knowledge for (_, instructions), (_, knowledge) in SCOPES if instructions + knowledge]


def eligible(partition_id: int) -> str:
    return SQL["eligible"].replace("{partition_id}", str(partition_id)).replace("{or_reserved}", "")


def scope(
    instructions: Sequence[int] | None, knowledge: KnowledgeSelection | None, narrowed: Sequence[int] | None = None
) -> Scope:
    return Scope(
        organization_id=UUID(int=1),
        instruction_keys=instructions,
        knowledge=knowledge,
        narrowed_base_keys=narrowed,
        segment_ids=(),
        now=datetime(2026, 12, 1, tzinfo=UTC),
        minute=0,
        language="en",
        region_code="DE",
        language_fallbacks={},
        space_id=1,
        model="fake-words",
    )


@pytest.mark.parametrize(("instructions", "knowledge"), SCOPES)
def test_each_category_has_the_legs_of_its_own_selection(
    instructions: tuple[Sequence[int] | None, tuple[str, ...]],
    knowledge: tuple[KnowledgeSelection | None, tuple[str, ...]],
) -> None:
    assert shape_of(scope(instructions[0], knowledge[0])) == instructions[1] + knowledge[1]


@pytest.mark.parametrize("narrowed", [[], [9]])
@pytest.mark.parametrize(("instructions", "knowledge"), SCOPES)
def test_narrowing_binds_every_leg_of_knowledge_and_adds_none(
    instructions: tuple[Sequence[int] | None, tuple[str, ...]],
    knowledge: tuple[KnowledgeSelection | None, tuple[str, ...]],
    narrowed: Sequence[int],
) -> None:
    expected = instructions[1] + tuple(f"{leg} narrowed" for leg in knowledge[1])
    assert shape_of(scope(instructions[0], knowledge[0], narrowed)) == expected


def test_an_empty_sequence_of_any_kind_is_a_selection() -> None:
    empty: list[Sequence[int]] = [[], ()]
    for nothing in empty:
        assert shape_of(scope(nothing, KnowledgeSelection(nothing, nothing, nothing))) == ()


@pytest.mark.parametrize("by_meaning", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_statement_has_the_conditions_of_its_legs_only(shape: tuple[str, ...], *, by_meaning: bool) -> None:
    text = search_statement(shape, by_meaning=by_meaning).decode()
    conditions = ("instruction_keys", "item_keys", "folder_ids", "base_keys")
    expected = {
        "selected_instructions": "instruction_keys",
        "selected_items": "item_keys",
        "selected_folders": "folder_ids",
        "selected_bases": "base_keys",
    }
    assert {name for name in conditions if f"%({name})s" in text} == {expected[leg] for leg in shape if leg in expected}
    # Each leg is bound by the predicate, and so are the rows given; and where what is allowed is not listed, whatever
    # words and codes find.
    legs = len(legs_of(shape))
    assert text.count(eligible(0)) == 1 + (legs if is_listed(shape) else 2 + legs * by_meaning)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_approximate_leg_is_bound_as_an_exact_one_is_and_has_one_behind_it(shape: tuple[str, ...]) -> None:
    legs = legs_of(shape)
    by_index = legs[-1:]
    text = search_statement(shape, by_meaning=True, partition_id=12, dimensions=384, by_index=by_index).decode()
    assert text.count(eligible(12)) == 3 + len(legs) + 1
    assert text.count("p.embedding::halfvec(384) <=>") == 1
    # Nothing that an index on vectors could answer, the approximate leg apart.
    assert len(re.findall(r"order by [^,]*1 \+ \(p\.embedding <#> [^,]*, p\.passage_id", text)) == len(legs)
    assert text.count("order by p.embedding") == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_counted_leg_by_leg_and_a_list_of_single_ones_counts_for_nothing(shape: tuple[str, ...]) -> None:
    text = rows_statement(shape).as_string(None)
    single = [leg for leg in shape if leg in ("selected_items", "selected_instructions")]
    assert text.count("open_rows") == len(legs_of(shape)) - len(single)
    assert "owner_key" not in text
    assert "passage_vector" not in text


def test_whether_there_is_anything_is_asked_of_the_partition_that_counts() -> None:
    assert eligible(12) in anything_statement(("all_knowledge",), partition_id=12).as_string(None)


@pytest.mark.parametrize("shape", SHAPES)
def test_only_who_tries_out_a_base_of_their_own_reaches_what_is_reserved(shape: tuple[str, ...]) -> None:
    for by_index in ((), legs_of(shape)[-1:]):
        text = search_statement(shape, by_meaning=True, partition_id=12, dimensions=384, by_index=by_index).decode()
        assert "p.reserved" not in text
    assert "p.reserved" not in anything_statement(shape).as_string(None)
    own = search_statement(shape, by_meaning=True, with_reserved=True).decode()
    assert own.count("(p.servable or p.reserved)") == own.count("p.servable") == own.count("p.valid_from <=") > 0
    assert "(p.servable or p.reserved)" in anything_statement(shape, with_reserved=True).as_string(None)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_narrowed_statement_binds_each_leg_of_knowledge(shape: tuple[str, ...]) -> None:
    narrowed = tuple(leg if leg.endswith("instructions") else f"{leg} narrowed" for leg in shape)
    legs = sum(leg.endswith("narrowed") for leg in narrowed)
    assert search_statement(narrowed, by_meaning=True).decode().count(SQL["narrowed"]) == legs
    assert anything_statement(narrowed).as_string(None).count(SQL["narrowed"]) == legs


def test_the_statement_without_vectors_orders_by_no_distance() -> None:
    text = search_statement(("all_knowledge",), by_meaning=False).decode()
    assert "p.embedding" not in text
    assert SQL["nothing_near"] in text


@pytest.mark.parametrize(
    ("shape", "listed"),
    [
        (("all_instructions", "all_knowledge"), False),
        (("all_knowledge",), False),
        (("all_instructions", "all_knowledge narrowed"), True),
        (("selected_instructions", "all_knowledge"), True),
        (("selected_items",), True),
    ],
)
def test_what_a_narrow_scope_allows_is_listed_once(shape: tuple[str, ...], *, listed: bool) -> None:
    text = search_statement(shape, by_meaning=True).decode()
    assert ("allowed as materialized" in text) is listed
    assert is_listed(shape) is listed


def test_parameters_hold_the_selection_as_it_is() -> None:
    values = scope_parameters(scope([4], KnowledgeSelection([1], [2], [3]), [9]))
    assert (values["instruction_keys"], values["item_keys"], values["folder_ids"]) == ([4], [1], [2])
    assert (values["base_keys"], values["narrowed_base_keys"]) == ([3], [9])
    assert scope_parameters(scope(None, None))["item_keys"] == []
