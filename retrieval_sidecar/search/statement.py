"""The one statement of a search, composed from named parts by the shape of the scope."""

from functools import cache
from typing import Any

from psycopg import sql

from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.sql import load as load_sql

SQL = load_sql("retrieval_sidecar.search")

Shape = tuple[str, ...]
_EVERYTHING = "everything"


def shape_of(scope: Scope) -> Shape:
    """The legs that a scope needs, each with an index condition of its own.

    An empty selection has no leg at all: nothing is searched, rather than everything.
    """
    legs: list[str] = []
    if scope.instruction_keys is None:
        legs.append("all_instructions")
    elif len(scope.instruction_keys) > 0:
        legs.append("selected_instructions")
    if scope.knowledge is None:
        legs.append("all_knowledge")
    else:
        selected = {
            "selected_items": scope.knowledge.item_keys,
            "selected_folders": scope.knowledge.folder_ids,
            "selected_bases": scope.knowledge.base_keys,
        }
        legs += [leg for leg, keys in selected.items() if len(keys) > 0]
    if scope.narrowed_base_keys is not None:
        legs = [leg if leg.endswith("instructions") else f"{leg} narrowed" for leg in legs]
    return tuple(legs)


def is_wide(shape: Shape) -> bool:
    """Whether a shape may reach nearly all of an organization, so that what it allows is not worth listing first."""
    return _legs(shape) in ((_EVERYTHING,), ("all_knowledge",))


@cache
def search_statement(shape: Shape, *, by_meaning: bool) -> sql.Composed:
    """The search over the legs of a shape, which must not be empty; by words and codes alone if not `by_meaning`.

    What a narrow scope allows is listed once, and words and codes are looked up in that list. Under a wide scope each
    passage that holds a word is checked by itself: words are spared there that many passages hold.
    """
    distance = sql.SQL(SQL["distance"] if by_meaning else SQL["no_distance"])
    legs = [sql.SQL(SQL["allowed_leg"]).format(distance=distance, leg=_leg(name)) for name in _legs(shape)]
    return sql.SQL(SQL["search"]).format(
        # Without duplicates: an item and its folder may both be selected.
        allowed=sql.SQL(" union ").join(legs),
        materialized=sql.SQL("not materialized" if is_wide(shape) else "materialized"),
        distance=distance,
    )


@cache
def anything_statement(shape: Shape) -> sql.Composed:
    """Whether the legs of a shape, which must not be empty, hold anything eligible."""
    allowed = sql.SQL(" or ").join(_leg(name) for name in shape)
    return sql.SQL(SQL["anything_eligible"]).format(leg=sql.SQL("({})").format(allowed))


def _legs(shape: Shape) -> Shape:
    return (_EVERYTHING,) if shape == ("all_instructions", "all_knowledge") else shape


def _leg(name: str) -> sql.Composed:
    parts = [sql.SQL(SQL[part]) for part in name.split()]
    return sql.SQL("({})").format(sql.SQL(" ").join(parts))


def scope_parameters(scope: Scope) -> dict[str, Any]:
    """The values that the parts above refer to."""
    knowledge = scope.knowledge
    return {
        "organization_id": scope.organization_id,
        "space_id": scope.space_id,
        "now": scope.now,
        "minute": scope.minute,
        "segment_ids": list(scope.segment_ids),
        "instruction_keys": list(scope.instruction_keys or ()),
        "item_keys": list(knowledge.item_keys) if knowledge else [],
        "folder_ids": list(knowledge.folder_ids) if knowledge else [],
        "base_keys": list(knowledge.base_keys) if knowledge else [],
        "narrowed_base_keys": list(scope.narrowed_base_keys or ()),
    }
