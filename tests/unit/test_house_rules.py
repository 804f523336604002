"""Rules that a reviewer would otherwise have to remember; each failure says what to do instead."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("contracts", "worker", "retrieval_sidecar")

# Written in pieces, so that this file does not break its own rule.
REGISTRY_HOSTS = "|".join(
    re.escape(".".join(labels))
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("proxy", "golang", "org"),
        ("sum", "golang", "org"),
        ("crates", "io"),
        ("rubygems", "org"),
    )
)
FORBIDDEN = {
    "a package registry's host (pip, uv and Go know theirs from the machine's configuration)": (
        re.compile(rf"\b(?:{REGISTRY_HOSTS})\b")
    ),
    "a path of one machine (say it relative to the repository, or as a setting)": (
        re.compile(r"(?<![\w.~-])/(?:root|work|Users/\w+|home/\w+)(?=/|\b(?![\w-]))")
    ),
    "an address of one network (say it as a setting)": re.compile(r"://[\w.-]+\.lo" + r"ck\b"),
}

ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}

# Capitals begin a statement by themselves; in small letters it takes more to tell it from prose.
SQL = re.compile(
    r"""^\s*(?:
        SELECT\s | WITH\s+(?:RECURSIVE\s+)?\w+\s+AS\s | INSERT\s+INTO\s | DELETE\s+FROM\s |
        UPDATE\s+[\w."]+\s+SET\s | MERGE\s+INTO\s | COPY\s | TRUNCATE\s |
        SET\s+(?:LOCAL|SESSION|ROLE)\s | (?:GRANT|REVOKE)\s+\w+ | (?:LISTEN|NOTIFY)\s+\w+ |
        (?i:(?:create|alter|drop)\s+
            (?:table|index|role|database|schema|extension|function|view|type)\s) |
        (?i:select\s+(?!the\b|an?\b).+\sfrom\s | insert\s+into\s | delete\s+from\s+\w+\s+where\s)
    )""",
    re.VERBOSE | re.DOTALL,
)


def repository_files() -> list[Path]:
    """All that git has, and what it would take; as paths in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def forbidden_in(text: str) -> Iterator[tuple[int, str]]:
    """The number of each line that names what it must not, and why not."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                yield number, what


def environment_reads(source: str) -> Iterator[int]:
    """The number of each line that touches the environment through `os`."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ENVIRONMENT
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
        ) or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and any(name.name in ENVIRONMENT for name in node.names)
        ):
            yield node.lineno


def sql_literals(source: str) -> Iterator[int]:
    """The number of each line where a string that is a statement begins; docstrings are none."""
    tree = ast.parse(source)
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(_constant(part) for part in node.values)
            prose |= {id(part) for part in node.values}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in prose else node.value
        else:
            continue
        if SQL.search(text):
            yield node.lineno


def _constant(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "x"


def python_files(*folders: str) -> list[Path]:
    return [p for p in repository_files() if p.suffix == ".py" and p.parts[0] in folders]


def test_no_file_names_a_registry_a_machine_or_a_network() -> None:
    found = []
    for path in repository_files():
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue  # not text
        found += [f"{path}:{number}: {what}" for number, what in forbidden_in(text)]
    assert not found, "Take out:\n" + "\n".join(found)


def test_the_environment_is_read_in_settings_only() -> None:
    found = [
        f"{path}:{line}"
        for path in python_files(*PRODUCT)
        if path.name != "settings.py"
        for line in environment_reads((ROOT / path).read_text("utf-8"))
    ]
    assert not found, (
        "Give the value a field in the part's settings.py (or, in a command line, an option with "
        "`envvar`) and pass it on as an argument:\n" + "\n".join(found)
    )


def test_sql_stands_in_sql_files() -> None:
    found = [
        f"{path}:{line}"
        for path in python_files("retrieval_sidecar")
        if "migrations" not in path.parts
        for line in sql_literals((ROOT / path).read_text("utf-8"))
    ]
    assert not found, (
        "Make it a named query of the package's .sql file, with a comment that says why it is so:\n" + "\n".join(found)
    )


def test_modules_stay_small() -> None:
    found = []
    for path in python_files(*PRODUCT, "demo", "tests"):
        lines = (ROOT / path).read_text("utf-8").splitlines()
        if len(lines) > 500 and not lines[0].startswith("# Generated from "):
            found.append(f"{path}: {len(lines)} lines")
    assert not found, "Split by what the parts are about:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "see https://" + "py" + "pi.org/simple",
        "index = https://files.python" + "hosted.org",
        "GOPROXY=https://proxy.go" + "lang.org",
        "read /ro" + "ot/notes",
        "cd /wo" + "rk",
        "open('/ho" + "me/ada/x')",
        "http://mirror.lo" + "ck:8080/simple",
    ],
)
def test_what_must_not_be_named_is_seen(line: str) -> None:
    assert list(forbidden_in(line))


@pytest.mark.parametrize(
    "line",
    [
        "docs/work/plan, src/root/main and https://example.com/work/home",
        "uv.lock: is no address; the root / of a tree",
        "hatchling's index of pypika.org",
        "the /rooted and /workers paths of an API",
    ],
)
def test_what_may_be_named_passes(line: str) -> None:
    assert not list(forbidden_in(line))


@pytest.mark.parametrize(
    "source",
    [
        "import os\nx = os.environ['A']",
        "import os\nos.getenv('A')",
        "from os import environ",
        "from os import path, getenv",
    ],
)
def test_a_read_of_the_environment_is_seen(source: str) -> None:
    assert list(environment_reads(source))


def test_other_uses_of_os_pass() -> None:
    assert not list(environment_reads("import os\nos.path.join('a')\nos.environment"))


@pytest.mark.parametrize(
    "source",
    [
        "q = 'SELECT 1'",
        "q = '''\n  select id from items where x'''",
        "q = f'SET LOCAL statement_timeout = {ms}'",
        "q = f'SELECT {columns} FROM items'",
        "run('insert into items values (1)')",
        "run('WITH hits AS (SELECT 1)')",
        "run(f'CREATE DATABASE {name}')",
        "run(SQL('create role {} login'))",
        "run(f'UPDATE {table} SET x = 1')",
    ],
)
def test_a_statement_in_code_is_seen(source: str) -> None:
    assert list(sql_literals(source))


@pytest.mark.parametrize(
    "source",
    [
        "'''SELECT is a word of this docstring.'''",
        "log('Select the voice from the list')",
        "log('update the settings')",
        "mode = 'selected'",
        "e = f'With {n} items'",
    ],
)
def test_what_is_no_statement_passes(source: str) -> None:
    assert not list(sql_literals(source))
