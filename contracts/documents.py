"""The documents of this folder, and what is pinned of each."""

import hashlib
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from contracts.errors import ContractError
from contracts.pins import semantic

FOLDER = Path(__file__).parent
PINS = FOLDER / "pins.toml"
PINNED = FOLDER / "pinned"


@dataclass(frozen=True, slots=True)
class History:
    """The version in force (`None` before the first pin), and the digest of each ever pinned."""

    version: str | None
    sha256: dict[str, str]

    def newest_before(self, version: str) -> str | None:
        """The newest pinned version lower than `version`: what a change is measured against."""
        lower = [pinned for pinned in self.sha256 if semantic(pinned) < semantic(version)]
        return max(lower, key=semantic, default=None)

    def with_pin(self, version: str, sha256: str) -> "History":
        """This history with `version` in force."""
        return replace(self, version=version, sha256={**self.sha256, version: sha256})


@dataclass(frozen=True, slots=True)
class Document:
    """An OpenAPI document of this folder, by the name it has in `pins.toml`."""

    name: str

    @property
    def path(self) -> Path:
        """The source of truth."""
        return FOLDER / f"{self.name}.openapi.yaml"

    @property
    def models(self) -> Path:
        """The module generated from it."""
        return FOLDER / f"{self.name}.py"

    def pinned(self, version: str) -> Path:
        """Where the copy of a pinned version is kept."""
        return PINNED / f"{self.name}-{version}.openapi.yaml"

    def version(self) -> str:
        """The document's `info.version`.

        Raises:
            ContractError: when there is none, or it is no semantic version.
        """
        return version_of(self.path.read_bytes(), self.path.name)

    def history(self) -> History:
        """What `pins.toml` says of this document."""
        entry = _pins().get(self.name, {})
        return History(entry.get("version"), entry.get("sha256", {}))


DOCUMENTS = (Document("voice"), Document("management"))


def digest(content: bytes) -> str:
    """The SHA-256 of a document's bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def version_of(content: bytes, name: str) -> str:
    """The `info.version` of an OpenAPI document; `name` is what an error calls it.

    Raises:
        ContractError: when the text is no YAML, or has no semantic version.
    """
    try:
        version = yaml.safe_load(content)["info"]["version"]
        semantic(version)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ContractError(f"{name}: info.version must be a semantic version such as 1.2.0") from error
    return str(version)


def write_history(document: Document, history: History) -> None:
    """Write `pins.toml` with this history of one document, and the others' as they were."""
    histories = {each: each.history() for each in DOCUMENTS} | {document: history}
    tables = [_table(each.name, said) for each, said in histories.items() if said.version]
    header = "# Written by `python -m contracts pin`, never by hand.\n"
    PINS.write_text(header + "\n".join(tables), encoding="utf-8")


def _table(name: str, history: History) -> str:
    digests = sorted(history.sha256.items(), key=lambda pin: semantic(pin[0]))
    lines = [f'"{version}" = "{sha256}"\n' for version, sha256 in digests]
    return f'[{name}]\nversion = "{history.version}"\n\n[{name}.sha256]\n{"".join(lines)}'


def _pins() -> dict[str, Any]:
    if not PINS.exists():
        return {}
    try:
        return tomllib.loads(PINS.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"pins.toml cannot be read ({error}): restore it from git") from error
