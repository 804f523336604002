"""The sidecar's rules of scope, each broken in one place: what an oracle that sees anything must notice."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from retrieval_sidecar.scope import resolve
from retrieval_sidecar.search import statement


@dataclass(frozen=True, slots=True)
class Mutant:
    """A condition of some statement, and what stands there instead."""

    name: str
    statements: Mapping[str, str]
    condition: str
    instead: str

    def replace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Break every statement that has the condition, until the patch is undone."""
        broken = {name: text for name, text in self.statements.items() if self.condition in text}
        assert broken, f"no statement has the condition any more: {self.condition}"
        for name, text in broken.items():
            monkeypatch.setitem(dict.__or__, name, text)


_SEARCH, _SCOPE = statement.SQL, resolve._SQL
