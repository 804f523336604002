"""The one statement of a search, composed from named parts by the shape of the scope."""

from functools import cache
from typing import Any, LiteralString

from psycopg import sql

from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.sql import load as load_sql

SQL = load_sql("retrieval_sidecar.search")

POOL = 24
"""Candidates of each leg; the best five of a hybrid order lie well within them."""

_SHORT_LIST = 1000

Shape = tuple[str, ...]
_EVERYTHING = "everything"
_Parts = dict[str, sql.Composable]


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


def legs_of(shape: Shape) -> Shape:
    """The legs as they are searched: all of both categories in one."""
    return (_EVERYTHING,) if shape == ("all_instructions", "all_knowledge") else shape


def is_listed(shape: Shape, by_index: tuple[str, ...] = ()) -> bool:
    """Whether what a shape allows is listed first: not where it may be nearly all of an organization."""
    return not by_index and legs_of(shape) not in ((_EVERYTHING,), ("all_knowledge",))


@cache
def search_statement(
    shape: Shape,
    *,
    by_meaning: bool,
    partition_id: int = 0,
    dimensions: int = 0,
    by_index: tuple[str, ...] = (),
    with_reserved: bool = False,
) -> bytes:
    """The search over the legs of a shape, which must not be empty; by words and codes alone if not `by_meaning`.

    What a narrow scope allows is listed once, and words and codes are looked up in that list. Under a wide one each
    passage that holds a word is checked by itself, and so it is where a leg is approximate. Common words are looked up
    in a short list only.

    Args:
        partition_id, dimensions: of the scope; literals, so that there is a plan for each.
        by_index: the legs that are approximate; see `retrieval_sidecar.partitions.rule`.
        with_reserved: of the scope.
    """
    where: _Parts = {
        "partition_id": sql.Literal(partition_id),
        "dimensions": sql.Literal(dimensions),
        "pool": sql.Literal(POOL),
        "distance": sql.SQL(SQL["distance" if by_meaning else "no_distance"]),
        "or_reserved": _or_reserved(with_reserved=with_reserved),
    }
    legs = legs_of(shape)
    parts = _listed(legs, where) if is_listed(shape, by_index) else _unlisted(legs, by_index, where)
    if not by_meaning:
        parts["nearest"] = sql.SQL(SQL["nothing_near"])
    return sql.SQL(SQL["search"]).format(**parts, **where).as_bytes(None)


def _listed(legs: Shape, where: _Parts) -> _Parts:
    """The parts of a search in a list of what is allowed."""
    kinds = [_part("allowed_leg", leg=_leg(name), **where) for name in legs]
    # Without duplicates: an item and its folder may both be selected.
    allowed = sql.SQL(" union " if _may_overlap(legs) else " union all ").join(kinds)
    hits = _part("hits_of_index", is_allowed=_part("on_list", passage_id=sql.SQL("w.passage_id")))
    return {
        "listing": _part("listed", allowed=allowed, short_list=sql.Literal(_SHORT_LIST)),
        "nearest": _part("nearest_listed", **where),
        "word_hits": sql.SQL(" union all ").join([hits, sql.SQL(SQL["hits_of_list"])]),
        "code_is_allowed": _part("on_list", passage_id=sql.SQL("c.passage_id")),
    }


def _unlisted(legs: Shape, by_index: Shape, where: _Parts) -> _Parts:
    """The parts of a search in which each passage that holds a word or a code is checked by itself."""
    any_leg = sql.SQL("({})").format(sql.SQL(" or ").join(map(_leg, legs)))

    def by_itself(passage_id: LiteralString) -> sql.Composed:
        return _part("by_itself", leg=any_leg, passage_id=sql.SQL(passage_id), **where)

    nearest = (_part("nearly_nearest" if name in by_index else "nearest", leg=_leg(name), **where) for name in legs)
    return {
        "listing": sql.SQL(SQL["unlisted"]),
        "nearest": sql.SQL(" union all ").join(nearest),
        "word_hits": _part("hits_of_index", is_allowed=by_itself("w.passage_id")),
        "code_is_allowed": by_itself("c.passage_id"),
    }


def _part(name: str, **parts: sql.Composable) -> sql.Composed:
    return sql.SQL(SQL[name]).format(**parts)


@cache
def anything_statement(shape: Shape, *, partition_id: int = 0, with_reserved: bool = False) -> sql.Composed:
    """Whether the legs of a shape, which must not be empty, hold anything eligible."""
    return _over_legs("anything_eligible", shape, partition_id, with_reserved=with_reserved)


@cache
def whole_statement(shape: Shape, *, partition_id: int, most_documents: int, most_bytes: int) -> sql.Composed:
    """The documents that the legs of a shape, which must not be empty, hold, where they are no more than this."""
    most = {"most_documents": sql.Literal(most_documents), "most_bytes": sql.Literal(most_bytes)}
    return _over_legs("whole", shape, partition_id, with_reserved=False, **most)


def _over_legs(
    name: str, shape: Shape, partition_id: int, *, with_reserved: bool, **parts: sql.Composable
) -> sql.Composed:
    """A statement that asks all legs of a shape at once."""
    allowed = sql.SQL(" or ").join(map(_leg, shape))
    return _part(
        name,
        leg=sql.SQL("({})").format(allowed),
        partition_id=sql.Literal(partition_id),
        or_reserved=_or_reserved(with_reserved=with_reserved),
        **parts,
    )


@cache
def withheld_statement(shape: Shape, *, by_meaning: bool, partition_id: int = 0) -> bytes:
    """What is near a question and outside the legs of a shape, which may be empty, or closed to the caller.

    Args:
        by_meaning: whether there is a vector to compare with.
        partition_id: of the scope.
    """
    leg = sql.SQL(" or ").join(map(_leg, shape)) if shape else sql.SQL("false")
    return (
        sql.SQL(SQL["withheld"])
        .format(
            leg=sql.SQL("({})").format(leg),
            by_meaning=sql.SQL("true" if by_meaning else "false"),
            distance=sql.SQL(SQL["distance" if by_meaning else "no_distance"]),
            partition_id=sql.Literal(partition_id),
            pool=sql.Literal(POOL),
            or_reserved=_or_reserved(with_reserved=False),
        )
        .as_bytes(None)
    )


@cache
def rows_statement(shape: Shape) -> sql.Composed:
    """How many vectors an organization has, and then how many of them each leg of a shape may give at the least."""
    return sql.SQL(SQL["rows_in_scope"]).format(of_legs=sql.SQL(", ").join(map(_rows_of_leg, legs_of(shape))))


def _rows_of_leg(name: str) -> sql.Composable:
    if name.startswith(("selected_items", "selected_instructions")):
        return sql.Literal(0)  # not counted each: none is sure, and so a list of them is searched exactly
    return sql.SQL(SQL["rows_of_leg"]).format(leg=_leg(name))


def _or_reserved(*, with_reserved: bool) -> sql.SQL:
    return sql.SQL(SQL["or_reserved"] if with_reserved else "")


def _may_overlap(legs: Shape) -> bool:
    return sum(not name.endswith("instructions") for name in legs) > 1


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
