"""What changed between two documents, as oasdiff sees it."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from contracts.documents import FOLDER
from contracts.errors import ContractError

OASDIFF = "github.com/oasdiff/oasdiff@v1.38.0"

_WARNING = 2  # oasdiff's levels: 1 information, 2 warning, 3 error
# Prose and the version itself: no change of what is spoken.
_NO_CHANGE = frozenset({"api-version-changed"})


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a document, in words, and whether what was built on the old one may fail."""

    breaking: bool
    where: str
    what: str


class NoOasdiffError(ContractError):
    """There is no oasdiff on this machine."""


def find_oasdiff(named: Path | None) -> Path:
    """The oasdiff to use: the one named, or that on the PATH, or the project's own.

    Raises:
        NoOasdiffError: when there is none.
    """
    if named is not None:
        if named.is_file():
            return named
        raise NoOasdiffError("OASDIFF_BIN names no file")
    built = FOLDER.parent / ".cache" / "bin" / "oasdiff"
    found = shutil.which("oasdiff") or (built if built.is_file() else None)
    if found is None:
        raise NoOasdiffError(
            "oasdiff is needed to compare documents: run `make oasdiff`, or "
            f"`go install {OASDIFF}`, or name the program in OASDIFF_BIN"
        )
    return Path(found)


def changes(oasdiff: Path, base: Path, revision: Path) -> list[Change]:
    """The changes from `base` to `revision`, breaking ones first; prose and examples are none.

    A warning of oasdiff counts as breaking: our objects are closed, so that what it takes for
    tolerable (a property taken out of a request) is refused here.

    Raises:
        ContractError: when oasdiff cannot compare the two.
    """
    command = [str(oasdiff), "changelog", "--format", "json", str(base), str(revision)]
    run = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own paths
    if run.returncode != 0:
        reason = run.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise ContractError(f"oasdiff could not compare {base.name} and {revision.name}: {reason}")
    found = [
        Change(
            breaking=entry["level"] >= _WARNING,
            where=" ".join(filter(None, (entry.get("operation"), entry.get("path")))),
            what=entry["text"],
        )
        for entry in json.loads(run.stdout or "[]")
        if entry["id"] not in _NO_CHANGE
    ]
    return sorted(found, key=lambda change: not change.breaking)
