"""The rules of pinning: what may be pinned, and whether what is pinned still holds."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import yaml

from contracts import generation
from contracts.changes import Change, changes, find_oasdiff
from contracts.documents import FOLDER, PINNED, Document, digest, write_history
from contracts.errors import ContractError
from contracts.pins import semantic


def pin(document: Document, oasdiff: Path | None, *, amend: bool) -> str:
    """Pin the document as it stands; gives a sentence on what was done.

    Args:
        document: what to pin.
        oasdiff: the program to compare with, where one is named.
        amend: replace the pin of the same version, which no release may hold yet.

    Raises:
        ContractError: when the document is invalid, or its version does not say what changed.
    """
    _validate(document)
    content, version, history = document.path.read_bytes(), document.version(), document.history()
    sha256 = digest(content)
    PINNED.mkdir(exist_ok=True)
    if history.sha256.get(version) == sha256 and history.version == version:
        document.pinned(version).write_bytes(content)
        return f"{document.path.name} {version} is pinned as it stands."
    if version in history.sha256:
        _may_amend(document, version, amend=amend)
    elif history.version and semantic(version) < semantic(history.version):
        raise ContractError(f"{version} is lower than {history.version}, which is pinned: raise info.version")
    if base := history.newest_before(version):
        found = changes(find_oasdiff(oasdiff), document.pinned(base), document.path)
        if complaint := misversioned(base, version, found):
            raise ContractError(complaint)
    document.pinned(version).write_bytes(content)
    write_history(document, history.with_pin(version, sha256))
    return f"{document.path.name} {version} is now pinned ({sha256})."


def misversioned(base: str, version: str, found: list[Change]) -> str | None:
    """Why `version` is too small a step from `base` for these changes; `None` when it is not."""
    (old_major, old_minor, _), (major, minor, _) = semantic(base), semantic(version)
    breaking = [change for change in found if change.breaking]
    if breaking and major == old_major:
        return (
            f"{version} breaks what {base} promised, so info.version must become "
            f"{old_major + 1}.0.0, or the change be undone:\n{describe(breaking)}"
        )
    if found and (major, minor) == (old_major, old_minor):
        return (
            f"{version} changes what {base} said, so info.version must become at least "
            f"{old_major}.{old_minor + 1}.0:\n{describe(found)}"
        )
    return None


def describe(found: list[Change]) -> str:
    """Changes as lines of text, with breaking ones marked."""
    return "\n".join(
        f"  {'BREAKING' if change.breaking else 'change  '}  {change.where}: {change.what}" for change in found
    )


def faults(document: Document) -> Iterator[str]:
    """What is not in order with a document, as sentences that say what to do.

    The comparison with the version before is apart, in `step_fault`, as it needs oasdiff.
    """
    history = document.history()
    if history.version is None:
        yield f"{document.path.name} is not pinned: run `python -m contracts pin`"
        return
    version, name = document.version(), document.path.name
    if version != history.version:
        yield (f"{name} says version {version}, but {history.version} is pinned: run `python -m contracts pin`")
    elif digest(document.path.read_bytes()) != history.sha256.get(version):
        yield (
            f"{name} was edited since {version} was pinned: raise info.version and run "
            "`python -m contracts pin`, or undo the edit"
        )
    for pinned, sha256 in history.sha256.items():
        copy = document.pinned(pinned)
        if not copy.is_file() or digest(copy.read_bytes()) != sha256:
            yield f"pinned/{copy.name} is not what was pinned: restore it from git"
    known = {document.pinned(pinned) for pinned in history.sha256}
    for stray in set(PINNED.glob(f"{document.name}-*")) - known:
        yield f"pinned/{stray.name} is in no pin: remove it"
    if drift := model_drift(document):
        yield drift


def step_fault(document: Document, oasdiff: Path | None) -> str | None:
    """Why the document's version is too small a step from the one before; `None` when it is not.

    Raises:
        NoOasdiffError: when there is a version before, and no oasdiff to compare with.
    """
    version = document.version()
    base = document.history().newest_before(version)
    if base is None:
        return None
    return misversioned(base, version, changes(find_oasdiff(oasdiff), document.pinned(base), document.path))


def model_drift(document: Document) -> str | None:
    """Why the generated module is not what the document gives now; `None` when it is."""
    current = document.models.read_text("utf-8") if document.models.exists() else ""
    if generation.generate(document) == current:
        return None
    return f"{document.models.name} is not what {document.path.name} generates: run `python -m contracts generate`"


def _validate(document: Document) -> None:
    try:  # here, as a deploy's `check --url` runs without the dev extra
        from openapi_spec_validator import validate  # noqa: PLC0415 - as above
        from openapi_spec_validator.validation.exceptions import (  # noqa: PLC0415 - as above
            OpenAPIValidationError,
        )
    except ImportError as error:
        raise ContractError("pinning needs the `dev` extra: run `make setup`") from error
    try:
        validate(yaml.safe_load(document.path.read_bytes()))
    except (yaml.YAMLError, OpenAPIValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise ContractError(f"{document.path.name} is no valid OpenAPI: {reason}") from error


def _may_amend(document: Document, version: str, *, amend: bool) -> None:
    if not amend:
        raise ContractError(
            f"{version} is pinned with other content: raise info.version; or, while no release "
            "holds this version, run `python -m contracts pin --amend`"
        )
    if released := _releases_with(document.pinned(version)):
        raise ContractError(f"{version} is in release {released[0]}, so it stays as it is: raise info.version")


def _releases_with(copy: Path) -> list[str]:
    """The tags of the repository that hold this pinned copy."""
    git = shutil.which("git")
    command = [git or "git", "-C", str(FOLDER)]
    try:
        tags = subprocess.run(  # noqa: S603 - fixed arguments
            [*command, "tag", "--list"], capture_output=True, check=True, text=True
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise ContractError("only a git checkout can tell whether a version is released") from error
    path = copy.relative_to(FOLDER).as_posix()
    return [
        tag
        for tag in tags
        if not subprocess.run(  # noqa: S603 - fixed arguments and git's own tags
            [*command, "cat-file", "-e", f"{tag}:./{path}"], capture_output=True, check=False
        ).returncode
    ]
