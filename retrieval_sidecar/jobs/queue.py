"""The queue of sources that wait to be read, in the database."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued

from retrieval_sidecar.database import translated_errors
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.jobs")

QUEUE, TASK = "sources", "process_source"


class JobQueue:
    """Where work on sources is asked for; open it with `async with`.

    Attributes:
        app: procrastinate's, for whoever works on the jobs.
    """

    def __init__(self, conninfo: str, *, connections: int = 2) -> None:
        """Make a queue, not open yet.

        Args:
            conninfo: of the role that manages knowledge; a direct connection, as the queue listens on it.
            connections: at most; requests wait for each other.
        """
        # Its functions name their tables without the schema.
        options = "-c search_path=jobs,public -c application_name=answerline-jobs"
        self.app = App(
            connector=PsycopgConnector(
                conninfo=conninfo, kwargs={"options": options}, min_size=1, max_size=connections, name="jobs"
            )
        )

    async def __aenter__(self) -> Self:
        async with translated_errors():
            await self.app.open_async()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.app.close_async()

    async def request(
        self, organization_id: UUID, source_id: UUID, *, failures: int = 0, deaths: int = 0, in_s: float = 0
    ) -> None:
        """Have a source worked on; once, however often it is asked for while it waits.

        A request that is made while the source is worked on is for afterwards.

        Args:
            organization_id, source_id: what is to be done stands in the source: `is_processing`.
            failures, deaths: how often this was tried before and failed, or ended with its worker.
            in_s: seconds until then.

        Raises Unavailable where the database is.
        """
        organization = {"organization_id": str(organization_id)}
        (unfinished,) = await self.query("count_unfinished", organization | {"queue": QUEUE})
        job = self.app.configure_task(
            TASK,
            queue=QUEUE,
            lock=str(source_id),
            queueing_lock=str(source_id),
            priority=-unfinished,
            schedule_at=datetime.now(UTC) + timedelta(seconds=in_s) if in_s else None,
        )
        try:
            async with translated_errors():
                await job.defer_async(**organization, source_id=str(source_id), failures=failures, deaths=deaths)
        except AlreadyEnqueued:
            if not in_s:
                await self.query("bring_forward", {"source_id": str(source_id)})

    async def has_worker(self, *, seconds: float = 30) -> bool:
        """Whether some process works on the queue: it has shown a sign of life in so many seconds."""
        (found,) = await self.query("has_worker", {"seconds": seconds})
        return bool(found)

    async def query(self, statement: str, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        """The one row of a statement of this package; nothing of one that returns none."""
        rows = await self.rows(statement, parameters)
        return rows[0] if rows else ()

    async def rows(self, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of a statement of this package."""
        pool = self.app.connector.pool  # type: ignore[attr-defined] # of the connector given above
        async with translated_errors(), pool.connection() as connection:
            cursor = await connection.execute(_SQL[statement], parameters)
            return await cursor.fetchall() if cursor.description else []
