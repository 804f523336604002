"""The stand-ins' own record, one JSON object a line: what was heard, said and answered, and when."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

Entry = dict[str, Any]


class Journal:
    """Appends entries to a file, flushed one by one, and keeps them for whoever holds the journal.

    It is the demo's evidence and holds what was said: it is not a product log.

    Every entry has `time` (seconds since the epoch, when the request came), `kind`
    (recognition, synthesis, completion), `ms` (from request to result) and what belongs to it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.entries: list[Entry] = []
        self._file: TextIO | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8")

    @contextmanager
    def record(self, kind: str) -> Iterator[Entry]:
        """An entry to fill; written when the block ends, and not at all when it raises."""
        entry: Entry = {"time": time.time(), "kind": kind}
        started = time.perf_counter()
        yield entry
        entry["ms"] = round(1000 * (time.perf_counter() - started), 1)
        self.entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
