"""Every command that the documents show exists, with the options that they show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "deploy" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
_SPAN = re.compile(r"`((?:retrieval-sidecar|python -m [a-z.]+|make) [^`\n]*)`")
_MODULES = {"retrieval-sidecar": "retrieval_sidecar"}


def commands() -> list[str]:
    return sorted({found for document in DOCUMENTS for found in _SPAN.findall(document.read_text("utf-8"))})


def targets() -> set[str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))


def test_the_documents_show_commands() -> None:
    assert len(commands()) > 8


@pytest.mark.parametrize("command", [each for each in commands() if each.startswith("make ")])
def test_a_make_target_is_there(command: str) -> None:
    assert command.split()[1] in targets()


@pytest.mark.parametrize("command", [each for each in commands() if not each.startswith("make ")])
def test_a_command_is_there_with_its_options(command: str) -> None:
    program, *rest = command.split()
    module = _MODULES.get(program) or rest.pop(1)
    words = [word for word in (rest if program != "python" else rest[1:]) if re.fullmatch(r"[a-z][a-z-]*", word)]
    for depth in range(len(words), -1, -1):
        shown = subprocess.run(
            [sys.executable, "-m", module, *words[:depth], "--help"], capture_output=True, text=True, check=False
        )
        if shown.returncode == 0:
            break
    assert shown.returncode == 0, shown.stderr
    options = re.findall(r"(?<!\S)--[a-z-]+", command)
    assert all(option in shown.stdout for option in options), shown.stdout
