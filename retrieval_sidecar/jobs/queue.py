"""The queue of what waits to be read or indexed, in the database."""

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

# A queue each: a worker of a version that knows only sources leaves the other alone.
SOURCES, SOURCE_TASK = "sources", "process_source"
DOCUMENTS, DOCUMENTS_TASK = "documents", "index_documents"
QUEUES = (SOURCES, DOCUMENTS)


def lock_of_documents(organization_id: UUID) -> str:
    """What is held while an organization's documents are indexed; of a source it is the source's id."""
    return f"documents of {organization_id}"


class JobQueue:
    """Where work on sources, and on what was changed by hand, is asked for; open it with `async with`.

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
        (unfinished,) = await self.query("count_unfinished", organization | {"queue": SOURCES})
        arguments = organization | {"source_id": str(source_id), "failures": failures, "deaths": deaths}
        await self._defer(SOURCES, SOURCE_TASK, str(source_id), arguments, priority=-unfinished, in_s=in_s)

    async def request_documents(
        self, organization_id: UUID, *, failures: int = 0, deaths: int = 0, in_s: float = 0
    ) -> None:
        """Have an organization's items and instructions indexed that were changed by hand, all that wait by then.

        It comes before the organization's sources: somebody looks on, and it takes less.

        Args as of `request`. Raises Unavailable where the database is.
        """
        arguments = {"organization_id": str(organization_id), "failures": failures, "deaths": deaths}
        lock = lock_of_documents(organization_id)
        await self._defer(DOCUMENTS, DOCUMENTS_TASK, lock, arguments, priority=0, in_s=in_s)

    async def _defer(
        self, queue: str, task: str, lock: str, arguments: dict[str, Any], *, priority: int, in_s: float
    ) -> None:
        job = self.app.configure_task(
            task,
            queue=queue,
            lock=lock,
            queueing_lock=lock,
            priority=priority,
            schedule_at=datetime.now(UTC) + timedelta(seconds=in_s) if in_s else None,
        )
        try:
            async with translated_errors():
                await job.defer_async(**arguments)
        except AlreadyEnqueued:
            if not in_s:
                await self.query("bring_forward", {"lock": lock})

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
