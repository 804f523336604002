"""Whether this sidecar can do its work, and what it loads to be able to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal

import structlog
from aiohttp import web

from retrieval_sidecar import migrations
from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.text import languages

log = structlog.get_logger()

_PATIENCE_S = 1.0
State = Literal["ok", "failing"]
_SQL = load_sql("retrieval_sidecar.http")


@dataclass(frozen=True, slots=True)
class Checks:
    """What was tried, by the names that the contracts have for it."""

    database: State
    migrations: State
    embedder: State

    @property
    def status(self) -> Literal["ready", "not_ready"]:
        return "ready" if (self.database, self.migrations, self.embedder) == ("ok", "ok", "ok") else "not_ready"


class Readiness:
    """The checks of `/readyz`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.embedder_loaded = False

    async def check(self) -> Checks:
        revision = await self._revision()
        return Checks(
            database=_state(ok=revision is not None),
            migrations=_state(ok=revision is not None and migrations.suits(revision)),
            embedder=_state(ok=self.embedder_loaded),
        )

    async def _revision(self) -> str | None:
        """The schema's revision; "" in a database without one, None where the database cannot be reached."""
        try:
            async with (
                asyncio.timeout(_PATIENCE_S),
                translated_errors(),
                self._pool.connection() as connection,
            ):
                cursor = await connection.execute(_SQL["revision_exists"])
                found = await cursor.fetchone()
                if found is None or not found[0]:
                    return ""
                cursor = await connection.execute(_SQL["revision"])
                row = await cursor.fetchone()
        except (SidecarError, TimeoutError):
            return None
        return str(row[0]) if row else ""


def embedders_loaded(embedders: Embedders, readiness: Readiness) -> Callable[[web.Application], AsyncIterator[None]]:
    """A resource of an application: its embedders, loaded in the background and closed with it.

    So the process answers /livez at once, and /readyz when it can search.
    """

    async def loaded(_app: web.Application) -> AsyncIterator[None]:
        loading = asyncio.create_task(_load(embedders, readiness))
        yield
        loading.cancel()
        await embedders.close()

    return loaded


async def _load(embedders: Embedders, readiness: Readiness) -> None:
    try:
        await embedders.start()
        await asyncio.to_thread(languages.preload)
    except SidecarError as error:
        log.error("embedder cannot start", reason=str(error))  # noqa: TRY400 - the reason is all there is to it
    else:
        readiness.embedder_loaded = True
        log.info("embedder loaded", models=embedders.models)


def _state(*, ok: bool) -> State:
    return "ok" if ok else "failing"
