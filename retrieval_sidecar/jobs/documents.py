"""What is done for items and instructions that were changed by hand: cut, embedded, swapped in."""

from collections.abc import Mapping
from uuid import UUID

import structlog

from retrieval_sidecar.content.waiting import note, settle, waiting
from retrieval_sidecar.database import Connection, connected, translated_errors
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.jobs import runs
from retrieval_sidecar.jobs.failures import WORKER_DIED, Failure, failure_of, pause_s
from retrieval_sidecar.jobs.process import BUSY_S, MOST_DEATHS, Again, Workshop
from retrieval_sidecar.jobs.queue import lock_of_documents

log = structlog.get_logger(__name__)

_SENTENCES = {
    "embedder_unavailable": (
        "The embedding model does not answer. It is tried again for some hours; after that, check it with"
        " `retrieval-sidecar self-test`, and save this again."
    ),
    "unavailable": "The database was busy or away. It is tried again for some hours; after that, save this again.",
    WORKER_DIED.code: "Whoever indexed this ended while doing it, again and again. Make it shorter, and save it again.",
}
_UNKNOWN = (
    "Something went wrong here, not in what is written. Save it again; the log of the workers has the kind of error."
)


async def index_documents(
    workshop: Workshop, organization_id: UUID, *, failures: int = 0, deaths: int = 0
) -> Again | None:
    """Have searches know what was changed by hand in an organization as it is written now; None once they do.

    What a document said before goes on answering until it is swapped. Several of these at once are one: the others come
    again. What is changed meanwhile is done again.

    Args:
        workshop: what the process has for it.
        organization_id: what is to be done stands there.
        failures, deaths: how often this was tried before and failed, or ended with its worker.
    """
    bound = log.bind(organization_id=str(organization_id))
    try:
        async with connected(workshop.conninfo) as connection:
            try:
                await runs.hold(connection, lock_of_documents(organization_id))
            except runs.Busy:
                return Again(BUSY_S, failures)
            documents = await waiting(connection, organization_id)
            if not documents:
                return None
            if deaths > MOST_DEATHS:
                await _note(connection, organization_id, documents, WORKER_DIED, is_given_up=True)
                return None
            return await _attempt(workshop, connection, organization_id, documents, failures)
    except SidecarError as error:  # the database
        failure = failure_of(error)
        bound.warning("not indexed", code=failure.code, cause=type(error.__cause__).__name__)
        return Again(pause_s(failures + 1), failures + 1)


async def _attempt(
    workshop: Workshop, connection: Connection, organization_id: UUID, documents: Mapping[UUID, int], failures: int
) -> Again | None:
    bound = log.bind(organization_id=str(organization_id), documents=len(documents))
    try:
        async with translated_errors():
            await index_organization(connection, workshop.embedders, organization_id, document_ids=sorted(documents))
    except Exception as error:  # whatever it is, whoever wrote it must hear of it
        failure = failure_of(error)
        bound.warning("not indexed", code=failure.code, exc_info=error if failure.is_ours else None)
        if connection.closed:
            raise
        is_given_up = failures + 1 >= failure.attempts
        await _note(connection, organization_id, documents, failure, is_given_up=is_given_up)
        return None if is_given_up else Again(pause_s(failures + 1), failures + 1)
    await settle(connection, organization_id, documents)
    bound.info("indexed")
    return Again(0, 0) if await waiting(connection, organization_id) else None


async def _note(
    connection: Connection, organization_id: UUID, documents: Mapping[UUID, int], failure: Failure, *, is_given_up: bool
) -> None:
    # What is configured wrong is said by itself; other sentences speak of a source.
    sentence = failure.sentence if failure.code == "configuration" else _SENTENCES.get(failure.code, _UNKNOWN)
    await note(connection, organization_id, documents, code=failure.code, sentence=sentence, is_given_up=is_given_up)
