"""A store that cannot be measured is named with the reason, and ends nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench.peers import compare
from tests.bench.peers.stores import STORES
from tests.bench.plan import TINY


def test_every_store_that_is_named_can_be_run() -> None:
    assert set(compare.PEERS) == set(STORES)


def test_what_is_not_installed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PYTHON", tmp_path / "nowhere")
    nothing: Any = None
    found = compare.measure(TINY, nothing, nothing, {}, tmp_path, print)
    assert found == {name: {"skipped": "not installed: make peers"} for name in compare.PEERS}


def test_what_fails_is_skipped_with_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "PYTHON", Path(sys.executable))
    found = compare._run("lancedb", tmp_path, "postgresql://nobody@/nowhere?host=nowhere")
    assert set(found) == {"skipped"}
    assert "questions.json" in found["skipped"]
