"""What the sidecar's connections say to PostgreSQL and how often they wait for it, as libpq sees it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from psycopg.pq import Trace

from retrieval_sidecar import database
from retrieval_sidecar.database import Connection

_MESSAGE = re.compile(r"^[FB]\t\d+\t", re.MULTILINE)
_PARSE = re.compile(r'Parse\t "(\w*)" "(.*)" \d+', re.DOTALL)
_BIND = re.compile(r'Bind\t "" "(\w*)" (.*)', re.DOTALL)


@dataclass
class Statement:
    """One statement that was run, and its parameters as libpq prints them."""

    text: str
    parameters: str


@dataclass
class WireTrace:
    """The messages of each connection, in order, since the last `start`."""

    _files: list[Path] = field(default_factory=list)
    _seen: dict[Path, int] = field(default_factory=dict)

    def start(self) -> None:
        """Count from here."""
        self._seen = {path: len(path.read_text()) for path in self._files}

    def statements(self) -> list[Statement]:
        """What was run, without the empty statement by which the pool tries a connection."""
        found: list[Statement] = []
        for path in self._files:
            whole = path.read_text()
            texts = {match[1]: match[2] for part in _messages(whole) if (match := _PARSE.match(part))}
            bound = (_BIND.match(part) for part in _messages(whole[self._seen.get(path, 0) :]))
            found.extend(Statement(texts[each[1]], each[2]) for each in bound if each and texts[each[1]])
        return found

    def preparations(self) -> int:
        """How many statements were prepared."""
        new = (path.read_text()[self._seen.get(path, 0) :] for path in self._files)
        return sum(bool(_PARSE.match(part)) for text in new for part in _messages(text))

    def round_trips(self) -> int:
        """How often PostgreSQL was waited for, trials of a connection included."""
        new = (path.read_text()[self._seen.get(path, 0) :] for path in self._files)
        return sum(text.count("\tReadyForQuery") for text in new)


def _messages(text: str) -> list[str]:
    return _MESSAGE.split(text)[1:]


@contextmanager
def traced_connections(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[WireTrace]:
    """Trace every connection of the pools that are created meanwhile."""
    trace, configure = WireTrace(), database._configure
    descriptors: list[int] = []

    async def configure_traced(connection: Connection) -> None:
        await configure(connection)
        path = folder / f"connection-{len(descriptors)}"
        descriptors.append(os.open(path, os.O_CREAT | os.O_WRONLY))
        connection.pgconn.trace(descriptors[-1])
        connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        trace._files.append(path)

    monkeypatch.setattr(database, "_configure", configure_traced)
    yield trace
