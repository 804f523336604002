"""Numbered schema migrations, each with its way back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from retrieval_sidecar.errors import ConfigurationError


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def _engine(conninfo: str) -> sqlalchemy.Engine:
    from psycopg import connect  # noqa: PLC0415 - the dialect wants a creator, so that any libpq string works

    return sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: connect(conninfo), poolclass=sqlalchemy.NullPool
    )


@cache
def head() -> str:
    """The newest revision that this code knows."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None  # noqa: S101 - the package ships at least one revision
    return revision


def suits(revision: str) -> bool:
    """Whether this code works on a schema of that revision: its own, or a newer one.

    Each migration leaves the version before it working, so that a sidecar goes on while its successor is rolled out,
    and is there again when that is rolled back.
    """
    return revision.isdecimal() and revision >= head()


def current(conninfo: str) -> str | None:
    """The revision of a database; None where nothing was migrated yet. Raises ConfigurationError."""
    with _connected(conninfo) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(conninfo: str, revision: str = "head") -> None:
    """Migrate up to `revision`, as the role of `conninfo`, which must own the schema.

    A schema that is newer than this code is left as it is. Raises ConfigurationError; what was done of a revision that
    failed is rolled back.
    """
    if revision == "head" and (now := current(conninfo)) is not None and suits(now):
        return
    _run(conninfo, lambda config: command.upgrade(config, revision))


def downgrade(conninfo: str, revision: str) -> None:
    """Migrate down to `revision`; `base` removes everything."""
    _run(conninfo, lambda config: command.downgrade(config, revision))


def _run(conninfo: str, step: Callable[[Config], None]) -> None:
    config = _config()
    with _connected(conninfo) as connection:
        config.attributes["connection"] = connection
        step(config)


@contextmanager
def _connected(conninfo: str) -> Iterator[sqlalchemy.Connection]:
    try:
        with _engine(conninfo).connect() as connection:
            yield connection
    except sqlalchemy.exc.DBAPIError as error:
        raise ConfigurationError(f"The schema stays as it was: {str(error.orig).strip()}") from error
