"""Folder keys: the canonical name of where an item stands.

`kind:identity`, the identity percent-encoded (RFC 3986, unreserved characters kept), so that every identity
round-trips: colons, slashes, spaces, any script. An integration's has two parts, `name/stream`.
"""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote

# Each kind and how many parts its identity has.
_PARTS = {"website": 1, "workflow": 1, "integration": 2, "upload": 1, "base": 1}
_MAX_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class FolderKey:
    """A place in the organization's tree.

    Attributes:
        kind: website, workflow, integration, upload or base.
        identity: not encoded: a website's host, a workflow's folder (empty: in none), an integration's name and
            stream, an upload's name, a knowledge base's id.
    """

    kind: str
    identity: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read a key; None for anything that `str()` of a key would not give back letter by letter."""
        kind, _, encoded = text.partition(":")
        if len(text) > _MAX_LENGTH:
            return None
        try:
            identity = tuple(unquote(part, errors="strict") for part in encoded.split("/"))
            key = cls(kind, identity)
            return key if key.is_valid() and str(key) == text else None
        except UnicodeError:  # not UTF-8 behind the percent signs, or a lone surrogate
            return None

    def is_valid(self) -> bool:
        """Only a workflow item may stand in no folder; NUL cannot be stored."""
        if len(self.identity) != _PARTS.get(self.kind):
            return False
        return (self.kind == "workflow" or all(self.identity)) and not any("\x00" in part for part in self.identity)

    def __str__(self) -> str:
        return f"{self.kind}:" + "/".join(quote(part, safe="") for part in self.identity)
