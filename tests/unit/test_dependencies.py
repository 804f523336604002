"""Every dependency is explained in docs/dependencies.md, and pinned as declared."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from contracts.changes import OASDIFF

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXPLAINED = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
# Each file of pins, and the extras that only it has; the other extras are those of a developer.
PINS = {"constraints.txt": (), "constraints-peers.txt": ("peers",)}
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)


def direct_dependencies(pins: str | None = None) -> list[Requirement]:
    """All of them, or those that a file of pins must satisfy."""
    extras = PROJECT["optional-dependencies"]
    apart = {extra for own in PINS.values() for extra in own}
    chosen = set(extras) if pins is None else set(PINS[pins]) or set(extras) - apart
    groups = [PROJECT["dependencies"], *(extras[extra] for extra in sorted(chosen))]
    declared = [Requirement(line) for group in groups for line in group]
    return [each for each in declared if each.name != PROJECT["name"]]


def test_each_dependency_has_its_line_and_each_line_a_dependency() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    explained = [canonicalize_name(name) for name, _, _ in EXPLAINED.findall(text)]
    declared = {canonicalize_name(each.name) for each in direct_dependencies()}
    assert sorted(explained) == sorted(set(explained)), "a dependency has two lines"
    missing, unused = declared - set(explained), set(explained) - declared
    assert not missing, f"Say in docs/dependencies.md what for, and why this one: {missing}"
    assert not unused, f"Take out of docs/dependencies.md, as nothing depends on it: {unused}"


@pytest.mark.parametrize("file", PINS)
def test_each_dependency_is_pinned_as_declared(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    pins: dict[str, list[str]] = {}
    for name, version in PINNED.findall(text):
        pins.setdefault(canonicalize_name(name), []).append(version)
    wrong = [
        str(each)
        for each in direct_dependencies(file)
        if not (versions := pins.get(canonicalize_name(each.name)))
        or not all(each.specifier.contains(version, prereleases=True) for version in versions)
    ]
    assert not wrong, f"Run `make lock` or `make lock-peers`: {file} does not satisfy {wrong}"


def test_the_stores_that_we_are_compared_with_are_not_installed_beside_us() -> None:
    ours = {canonicalize_name(each.name) for each in direct_dependencies("constraints.txt")}
    pinned = {canonicalize_name(name) for name, _ in PINNED.findall((ROOT / "constraints.txt").read_text("utf-8"))}
    peers = {canonicalize_name(Requirement(line).name) for line in PROJECT["optional-dependencies"]["peers"]}
    assert not peers & (ours | pinned)


@pytest.mark.parametrize("file", PINS)
def test_every_pin_has_its_hashes(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    blocks = [block for block in re.split(r"\n(?=\S)", text.strip()) if block]
    bare = [block.split()[0] for block in blocks if "--hash=sha256:" not in block]
    assert not bare, f"Run `make lock` or `make lock-peers`: there is no hash for {bare}"


def test_make_builds_the_oasdiff_that_the_contract_names() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    found = re.search(r"^OASDIFF := (\S+)\nOASDIFF_VERSION := (\S+)$", makefile, re.MULTILINE)
    # One text for people (`NoOasdiffError`) and one for make: kept the same here.
    assert found is not None
    assert "@".join(found.groups()) == OASDIFF
