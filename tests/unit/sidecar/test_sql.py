"""Named SQL: found by name, included by name, and nothing left out without a word."""

from collections.abc import Callable
from pathlib import Path

import pytest

import retrieval_sidecar
from retrieval_sidecar.sql import load

PRODUCT = Path(retrieval_sidecar.__file__).parent
STATEMENT_FILES = sorted(path for path in PRODUCT.rglob("*.sql") if "migrations" not in path.parts)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[[str], str]:
    """A package of its own with these statements; its name."""

    def make(text: str) -> str:
        name = f"package_{abs(hash(request.node.nodeid))}"
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "queries.sql").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return name

    return make


def test_statements_are_found_by_name_with_their_comments(package: Callable[[str], str]) -> None:
    statements = load(package("-- name: one\n-- Why.\nselect 1;\n\n-- name: two\nselect\n  '-- name';\n"))
    assert dict(statements) == {"one": "-- Why.\nselect 1", "two": "select\n  '-- name'"}


def test_an_include_stands_for_the_text_of_another_entry(package: Callable[[str], str]) -> None:
    statements = load(package("-- name: all\nselect x where /*include rule*/ and y\n-- name: rule\nz\n"))
    assert statements["all"] == "select x where z and y"


def test_an_include_within_an_include_is_expanded_too(package: Callable[[str], str]) -> None:
    text = "-- name: a\n/*include b*/ or 1\n-- name: b\n/*include c*/ and 2\n-- name: c\n3\n"
    assert load(package(text))["a"] == "3 and 2 or 1"


def test_an_include_of_an_unknown_name_fails_when_the_file_is_read(package: Callable[[str], str]) -> None:
    name = package("-- name: a\nselect /*include elsewhere*/\n")
    with pytest.raises(KeyError, match="elsewhere"):
        load(name)


def test_two_statements_of_one_name_fail_when_the_file_is_read(package: Callable[[str], str]) -> None:
    name = package("-- name: a\nselect 1\n-- name: a\nselect 2\n")
    with pytest.raises(ValueError, match="two statements of one name"):
        load(name)


def test_a_statement_of_an_unknown_name_is_a_key_error(package: Callable[[str], str]) -> None:
    statements = load(package("-- name: a\nselect 1\n"))
    with pytest.raises(KeyError):
        statements["b"]


@pytest.mark.parametrize("path", STATEMENT_FILES, ids=lambda path: str(path.relative_to(PRODUCT)))
def test_every_file_of_the_product_is_read_whole(path: Path) -> None:
    package = ".".join(path.parent.relative_to(PRODUCT.parent).parts)
    statements = load(package, path.name)
    assert len(statements) == path.read_text(encoding="utf-8").count("-- name: ")
    assert all(statement and "/*include" not in statement for statement in statements.values())
