"""Files are read in processes of their own; whatever happened there, nothing of them is left."""

import tempfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed
from retrieval_sidecar.extraction.process import extract

Extract = Callable[..., Coroutine[Any, Any, Extracted]]
Refuse = Callable[..., Coroutine[Any, Any, ExtractionFailed]]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary files go; empty again after each test, and no process is left either."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield folder
    assert list(folder.iterdir()) == []
    left = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    assert left == []


@pytest.fixture
def read(tmp_path: Path) -> Extract:
    """Extract from bytes, in a file whose name says nothing."""

    async def extracted(content: bytes, limits: Limits | None = None) -> Extracted:
        path = tmp_path / "upload"
        path.write_bytes(content)
        return await extract(path, limits)

    return extracted


@pytest.fixture
def refusal(read: Extract) -> Refuse:
    """The failure of an extraction that must fail."""

    async def refused(content: bytes, limits: Limits | None = None) -> ExtractionFailed:
        with pytest.raises(ExtractionFailed) as caught:
            await read(content, limits)
        return caught.value

    return refused
