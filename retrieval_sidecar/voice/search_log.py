"""What the search log keeps, written behind the answers."""

from typing import Any

import psycopg
import structlog

from retrieval_sidecar.database import Pool, translated_errors
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.http.background import Background
from retrieval_sidecar.metrics import NOT_LOGGED
from retrieval_sidecar.search.statement import SQL as SEARCH_SQL

log = structlog.get_logger()

_Row = dict[str, Any]


class SearchLog:
    """Keeps searches, those that ended while others were written together in one transaction.

    So a sidecar under load takes one connection for it and one commit for many searches, and at rest each is written
    at once.
    """

    def __init__(self, pool: Pool, background: Background) -> None:
        self._pool = pool
        self._background = background
        self._waiting: list[_Row] = []
        self._is_writing = False

    def add(self, row: _Row) -> None:
        """Have a search kept, as `to_log_row` gives it; one that cannot be is told in the sidecar's own log."""
        self._waiting.append(row)
        if not self._is_writing:
            self._is_writing = True
            self._background.start(self._write())

    async def _write(self) -> None:
        try:
            while self._waiting:
                rows, self._waiting = self._waiting, []
                await self._try(rows)
        finally:
            self._is_writing = False

    async def _try(self, rows: list[_Row]) -> None:
        try:
            await self._insert(rows)
        except (SidecarError, psycopg.Error) as error:
            if isinstance(error, psycopg.IntegrityError) and len(rows) > 1:
                # It is one of them; the others are none the worse for it.
                for row in rows:
                    await self._try([row])
            else:
                NOT_LOGGED.inc(len(rows))
                log.warning("searches not logged", searches=len(rows), cause=type(error).__name__)

    async def _insert(self, rows: list[_Row]) -> None:
        async with (
            translated_errors(),
            self._pool.connection() as connection,
            connection.pipeline(),  # one transaction, one round trip
            connection.cursor() as cursor,
        ):
            await cursor.executemany(SEARCH_SQL["log"], rows)
