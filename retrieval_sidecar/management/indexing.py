"""Has what was changed by hand indexed, once the change is kept."""

import structlog
from procrastinate.exceptions import ProcrastinateException

from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.sources import Queue

log = structlog.get_logger()


class Indexing:
    """Requests the job; which documents it is for stands in the database."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def request(self, caller: Caller) -> None:
        try:
            await self._queue.request_documents(caller.organization_id)
        except (SidecarError, ProcrastinateException) as error:
            # It is found again: what waits without a job is given one.
            log.warning("job not requested", what="documents", cause=type(error).__name__)
