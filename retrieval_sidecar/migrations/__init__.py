"""Numbered schema migrations, each with its way back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def head() -> str:
    """The newest revision that this code knows."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None  # noqa: S101 - the package ships at least one revision
    return revision


def current(conninfo: str) -> str | None:
    """The revision of a database; None where nothing was migrated yet. Raises ConfigurationError."""
    with _connected(conninfo) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(conninfo: str, revision: str = "head") -> None:
    """Migrate up to `revision`, as the role of `conninfo`, which must own the schema.

    Raises ConfigurationError; what was done of a revision that failed is rolled back.
    """
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
