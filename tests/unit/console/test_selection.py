"""The arithmetic of selections, as the browser does it; the module alone, without a page or a sidecar."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from tests.support.browser import browsing

pytestmark = pytest.mark.chromium

MODULE = Path(__file__).parents[3] / "retrieval_sidecar" / "console" / "static" / "selection.js"
# What is sent over is JSON, and a set is a list in it.
CALL = """async ([url, calls]) => {
    const functions = await import(url);
    const revived = (value, key) => {
        if (["ones", "groups"].includes(key) && Array.isArray(value)) return new Set(value);
        if (Array.isArray(value)) return value.map((each) => revived(each));
        if (value === null || typeof value !== "object") return value;
        if (value.map) return new Map(value.map);
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revived(each, name)]));
    };
    const told = (value) => {
        if (value instanceof Set) return [...value].sort();
        if (Array.isArray(value)) return value.map(told);
        if (value === null || typeof value !== "object") return value;
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, told(each)]));
    };
    return calls.map(([name, ...args]) => told(functions[name](...args.map((each) => revived(each)))));
}"""
Category = dict[str, Any]
Calls = Callable[..., Awaitable[Any]]


@pytest_asyncio.fixture(scope="module")
async def many() -> AsyncIterator[Calls]:
    """What calls of the module's functions give."""
    async with browsing() as browser:
        page = await browser.new_page()
        url = "data:text/javascript;base64," + base64.b64encode(MODULE.read_bytes()).decode()

        async def called(*calls: Any) -> Any:
            return await page.evaluate(CALL, [url, list(calls)])

        yield called


@pytest.fixture
def one(many: Calls) -> Calls:
    async def called(name: str, *args: Any) -> Any:
        return (await many((name, *args)))[0]

    return called


def category(mode: str = "all", ones: str = "", groups: str = "") -> Category:
    return {"mode": mode, "ones": ones.split(), "groups": groups.split()}


def some(ones: str = "", groups: str = "") -> Category:
    return category("selected", ones, groups)


ALL = category()


async def test_what_the_sidecar_tells_is_read_by_category(one: Calls) -> None:
    told = {
        "instruction_scope": {"mode": "all", "instruction_ids": [], "directory_ids": []},
        "knowledge_scope": {"mode": "selected", "item_ids": ["i"], "folder_keys": ["upload:A", "base:b"]},
        "folders": [],
    }
    assert await one("read", told) == {"instructions": ALL, "knowledge": some("i", "base:b upload:A")}


@pytest.mark.parametrize("instructions", [ALL, some("i", "d")])
@pytest.mark.parametrize("knowledge", [ALL, some("k", "upload:A")])
async def test_a_change_of_one_category_sends_nothing_of_the_other(
    one: Calls, instructions: Category, knowledge: Category
) -> None:
    saved = {"instructions": instructions, "knowledge": knowledge}
    assert await one("dirty", saved, saved) == []
    assert await one("request", saved, saved) == {}
    changed = saved | {"instructions": await one("choose", instructions, "ones", "new")}
    assert changed["instructions"]["mode"] == "selected"
    assert changed["knowledge"] == knowledge
    assert await one("dirty", changed, saved) == ["instructions"]
    assert await one("request", changed, saved) == {
        "instruction_ids": sorted([*instructions["ones"], "new"]),
        "instruction_directory_ids": instructions["groups"],
    }
    changed = saved | {"knowledge": await one("choose", knowledge, "groups", "base:new")}
    assert await one("request", changed, saved) == {
        "knowledge_item_ids": knowledge["ones"],
        "knowledge_folder_keys": sorted([*knowledge["groups"], "base:new"]),
    }


async def test_the_first_that_is_chosen_restricts_and_taking_it_away_does_not_open(one: Calls) -> None:
    restricted = await one("choose", ALL, "ones", "a")
    assert restricted == some("a")
    assert await one("isLast", restricted, "ones", "a")
    assert not await one("isLast", restricted, "groups", "a")
    assert await one("drop", restricted, "ones", "a") == some("a")
    two = await one("choose", restricted, "groups", "g")
    assert not await one("isLast", two, "ones", "a")
    assert await one("drop", two, "ones", "a") == some("", "g")
    assert await one("count", two) == 2


async def test_only_open_opens_and_it_is_sent_as_empty_arrays(one: Calls) -> None:
    saved = {"instructions": ALL, "knowledge": some("a", "g")}
    opened = saved | {"knowledge": await one("open")}
    assert opened["knowledge"] == ALL
    assert await one("request", opened, saved) == {"knowledge_item_ids": [], "knowledge_folder_keys": []}


async def test_a_selection_of_what_is_gone_is_no_change_until_it_is_opened(one: Calls) -> None:
    saved = {"instructions": some(), "knowledge": some()}
    assert await one("dirty", saved, saved) == []
    assert await one("dirty", saved | {"knowledge": ALL}, saved) == ["knowledge"]
    assert await one("choose", some(), "ones", "a") == some("a")


async def test_what_stands_in_a_chosen_group_is_implicit(one: Calls) -> None:
    chosen = some("a", "upper")
    assert await one("heldBy", chosen, ["lower", "upper", "top"]) == "upper"
    assert await one("heldBy", chosen, ["lower"]) is None
    assert await one("heldBy", ALL, ["lower"]) is None
    assert not await one("isChosen", chosen, "ones", "b")


async def test_a_directory_stands_in_those_above_it_and_a_ring_of_them_has_an_end(one: Calls) -> None:
    parents = {"map": [["c", "b"], ["b", "a"], ["a", None], ["x", "y"], ["y", "x"], ["lost", "nowhere"]]}
    assert await one("lineage", "c", parents) == ["c", "b", "a"]
    assert await one("lineage", "x", parents) == ["x", "y"]
    assert await one("lineage", "lost", parents) == ["lost", "nowhere"]
    assert await one("lineage", None, parents) == []


async def test_how_many_of_a_group_are_chosen_though_not_all_are_known(one: Calls) -> None:
    saved, now = some("a b c"), some("b c d")
    assert await one("chosenWithin", now, saved, 3, []) == 3
    assert await one("chosenWithin", now, saved, 3, ["a"]) == 2
    assert await one("chosenWithin", now, saved, 3, ["a", "b", "d", "e"]) == 3
    assert await one("chosenWithin", ALL, saved, 3, ["a", "b", "c"]) == 0


@pytest.mark.parametrize(
    ("mine", "base", "theirs", "expected"),
    [
        (some("a b"), some("a"), some("a c"), some("a b c")),
        (some("b"), some("a b"), some("a b c"), some("b c")),
        (some("a"), ALL, some("b"), some("a b")),
        (some("a"), some("a"), ALL, ALL),
        # I opened it, and they changed nothing, or opened it too.
        (ALL, some("a"), some("a"), ALL),
        (ALL, some("a"), ALL, ALL),
        # I opened it while they chose more: what they chose is no accident.
        (ALL, some("a"), some("a b"), some("b")),
        # Each of us took away what the other kept: nobody opened it.
        (some("a"), some("a b"), some("b"), some("b")),
        (some("", "g"), some("a", "g"), some("a"), some("a")),
    ],
)
async def test_my_changes_on_top_of_theirs(
    one: Calls, mine: Category, base: Category, theirs: Category, expected: Category
) -> None:
    kept = some("untouched")
    found = await one("rebase", *({"instructions": kept, "knowledge": each} for each in (mine, base, theirs)))
    assert found == {"instructions": kept, "knowledge": expected}


def any_category(random: Random) -> Category:
    ones = sorted(random.sample("abcd", random.randint(0, 3)))
    groups = sorted(random.sample("uvw", random.randint(0, 2)))
    if not ones and not groups:
        return category(random.choice(["all", "selected"]))
    return {"mode": "selected", "ones": ones, "groups": groups}


async def test_bringing_two_peoples_changes_together_never_opens_what_neither_did(many: Calls) -> None:
    random = Random(20261201)
    cases = [[any_category(random) for _ in range(3)] for _ in range(3_000)]
    calls = [["rebase", *({"instructions": ALL, "knowledge": each} for each in case)] for case in cases]
    opened = 0
    for (mine, base, theirs), found in zip(cases, await many(*calls), strict=True):
        result, case = found["knowledge"], (mine, base, theirs)
        if mine == base:
            assert result == theirs, case
            continue
        wanted = {
            kind: (set(theirs[kind]) | (set(mine[kind]) - set(base[kind]))) - (set(base[kind]) - set(mine[kind]))
            for kind in ("ones", "groups")
        }
        if any(wanted.values()):
            assert result["mode"] == "selected", case
            assert {kind: set(result[kind]) for kind in wanted} == wanted, case
        elif result["mode"] == "all":
            opened += 1
            assert "all" in (mine["mode"], theirs["mode"]), case
            assert (result["ones"], result["groups"]) == ([], []), case
        else:
            assert result == theirs, case
    assert opened > 20
