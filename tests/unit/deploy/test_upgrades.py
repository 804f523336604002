"""Migrations that leave the version before them working, so that schema, sidecar and workers are changed one by one."""

import re
from pathlib import Path

import pytest

from retrieval_sidecar import migrations

VERSIONS = Path(migrations.__file__).parent / "versions"
COMMENT = re.compile(r"--[^\n]*")
# What the version before would stumble over: gone, named otherwise, of another type, or suddenly required.
TAKES_AWAY = re.compile(
    r"\bdrop\s+(?:table|column|view|type|schema)\b|\brename\b|\bset\s+not\s+null\b|\balter\s+column\s+\w+\s+(?:set\s+data\s+)?type\b"
    r"|\badd\s+column\s+(?:(?!\bdefault\b|,|;).)*\bnot\s+null\b(?:(?!\bdefault\b|,|;).)*(?:,|;)",
    re.IGNORECASE | re.DOTALL,
)


def taken_away(statements: str) -> list[str]:
    return [found[0] for found in TAKES_AWAY.finditer(COMMENT.sub("", statements))]


# The first makes everything, so there is nothing before it.
@pytest.mark.parametrize("path", sorted(VERSIONS.glob("*.up.sql"))[1:], ids=lambda path: path.stem)
def test_a_migration_adds_and_takes_nothing_away(path: Path) -> None:
    found = taken_away(path.read_text("utf-8"))
    assert not found, (
        f"{path.name}: {found}. The sidecar before this one goes on while this one is rolled out: add now, take away"
        " in the release after the one that stopped using it."
    )


@pytest.mark.parametrize(
    "statement",
    [
        "drop table source;",
        "alter table source drop column name;",
        "alter table source rename to origin;",
        "alter table source rename column name to title;",
        "alter table source alter column name set not null;",
        "alter table source alter column size type text;",
        "alter table source add column size bigint not null;",
        "alter table source add column size bigint not null, add column kind text default '';",
    ],
)
def test_what_takes_away_is_seen(statement: str) -> None:
    assert taken_away(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "-- drop table source;",
        "alter table source add column size bigint;",
        "alter table source add column size bigint not null default 0 check (size >= 0);",
        "alter table source add column size bigint default 0 not null;",
        "create table part (size bigint not null);",
        "alter table part alter column content set storage external;",
        "drop index source_by_name;",
    ],
)
def test_what_adds_passes(statement: str) -> None:
    assert not taken_away(statement)


@pytest.mark.parametrize(
    ("revision", "suits"),
    [("0000", False), ("", False), ("none", False), (migrations.head(), True), ("9999", True)],
)
def test_a_sidecar_works_on_its_own_schema_and_on_newer_ones(revision: str, *, suits: bool) -> None:
    assert migrations.suits(revision) is suits
