"""Real PostgreSQL for tests: one server a run, one migrated template, a clone for each test."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from retrieval_sidecar import migrations
from retrieval_sidecar.local_database import OWNER, LocalServer, local_server

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """A database of a test's own; a URL for each role."""

    __test__ = False

    server: LocalServer
    name: str

    def url(self, role: str) -> str:
        """The libpq URL of `owner`, `voice` or `manage`."""
        return self.server.url(OWNER if role == "owner" else f"answerline_{role}", self.name)

    @property
    def environment(self) -> dict[str, str]:
        """What the sidecar's settings read."""
        return {
            "DATABASE_URL": self.url("owner"),
            "ANSWERLINE_VOICE_DATABASE_URL": self.url("voice"),
            "ANSWERLINE_MANAGE_DATABASE_URL": self.url("manage"),
        }


@contextmanager
def test_server() -> Iterator[LocalServer]:
    """A server in a folder of its own, which goes with it."""
    # Not under pytest's own folder: that is private to root, and PostgreSQL never runs as root.
    folder = Path(tempfile.mkdtemp(prefix="answerline-pg-"))
    try:
        with local_server(folder / "data") as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def clone(server: LocalServer, template: str) -> Iterator[TestDatabase]:
    """A copy of a template database, dropped afterwards."""
    name = f"test_{next(_numbers)}"
    server.create_database(name, template=template)
    try:
        yield TestDatabase(server, name)
    finally:
        server.drop_database(name)


def migrated_template(server: LocalServer) -> str:
    """The name of a database with the newest schema and nothing in it."""
    name = "template_empty"
    server.create_database(name)
    migrations.upgrade(TestDatabase(server, name).url("owner"))
    return name
