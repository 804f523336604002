"""Which document is in force: its version, its digest, its bytes.

`pins.toml` says it, and `python -m contracts pin` writes that file; nothing else does. It keeps the
digest of every version that was ever pinned, so that no document which somebody may still speak can
be rewritten unseen.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Name = Literal["voice", "management"]


@dataclass(frozen=True, slots=True)
class Pin:
    """A document as agreed: its semantic version, and the SHA-256 of its bytes in hexadecimal."""

    version: str
    sha256: str


@cache
def pinned(name: Name) -> Pin:
    """The contract of that name that this installation speaks."""
    entry = tomllib.loads((files(__package__) / "pins.toml").read_text("utf-8"))[name]
    return Pin(version=entry["version"], sha256=entry["sha256"][entry["version"]])


def voice() -> Pin:
    """The voice contract that this installation speaks."""
    return pinned("voice")


def management() -> Pin:
    """The management contract that this installation speaks."""
    return pinned("management")


@cache
def document(name: Name = "voice") -> bytes:
    """A contract as YAML, byte for byte as pinned."""
    return (files(__package__) / f"{name}.openapi.yaml").read_bytes()


def semantic(version: str) -> tuple[int, int, int]:
    """The three numbers of a semantic version.

    Raises:
        ValueError: when it is anything else than three numbers with dots between.
    """
    major, minor, patch = version.split(".")
    return int(major), int(minor), int(patch)


def compatible(ours: str, theirs: str) -> bool:
    """Whether a client of version `ours` can speak to a server of version `theirs`.

    The same major, and a minor at least ours: the server then knows all that the client may ask.

    Raises:
        ValueError: when one of them is no semantic version.
    """
    (major, minor, _), (their_major, their_minor, _) = semantic(ours), semantic(theirs)
    return major == their_major and minor <= their_minor
