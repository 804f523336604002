"""What may be told in a call to the help centre: the rules of scope read in plain Python, from its own files."""

from functools import cache
from typing import Any

from tests.evals.help_centre.centre import Item, items
from tests.evals.help_centre.organization import organization


@cache
def allowed(called: str, caller: str | None) -> frozenset[str]:
    """External ids of items, and titles of instructions."""
    files = organization()
    agent = next(each for each in files["agents"] if called in each["numbers"])
    segments = {key for contact in files["contacts"] if contact["phone"] == caller for key in contact["segments"]}
    knowledge, instructions = agent.get("knowledge_scope"), agent.get("instruction_scope")
    told = {item["external_id"] for item in items() if _tellable(item, segments) and _selected(item, knowledge)}
    told |= {
        each["title"]
        for each in files["instructions"]
        if each["status"] == "published"
        and (instructions is None or _is_below(each["directory"], instructions.get("directories", ()), files))
    }
    return frozenset(told)


def _tellable(item: Item, segments: set[str]) -> bool:
    # Each window of the help centre lies wholly before or wholly after any day on which this is run.
    has_begun, has_ended = "valid_from" not in item, "valid_until" in item
    for_all = not item.get("segments")
    return (
        item["status"] == "published"
        and has_begun
        and not has_ended
        and (for_all or bool(segments & {*item["segments"]}))
    )


def _selected(item: Item, scope: dict[str, Any] | None) -> bool:
    if scope is None:
        return True
    return item["external_id"] in scope.get("items", ()) or item["folder"] in scope.get("folders", ())


def _is_below(directory: str | None, chosen: Any, files: dict[str, Any]) -> bool:
    parents = {each["key"]: each.get("parent") for each in files["instruction_directories"]}
    while directory is not None:
        if directory in chosen:
            return True
        directory = parents[directory]
    return False
