"""What is done with a source: read, written as items, embedded, swapped in."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import structlog
from yarl import URL

from retrieval_sidecar.database import Connection, connected, translated_errors
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.embeddings.collection import StrictestLimit
from retrieval_sidecar.errors import NotFound, SidecarError
from retrieval_sidecar.extraction.outcome import ExtractionFailed, Reason
from retrieval_sidecar.ingest.documents import put_document
from retrieval_sidecar.ingest.imports import import_lines
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.kept_vectors import forget_unused, sample_vectors
from retrieval_sidecar.ingest.passages import MAX_CHARACTERS, split
from retrieval_sidecar.ingest.plan import RECIPE
from retrieval_sidecar.ingest.spaces import read_spaces
from retrieval_sidecar.ingest.tokens import TokenLimit
from retrieval_sidecar.jobs import runs
from retrieval_sidecar.jobs.failures import WORKER_DIED, TooMuch, failure_of, pause_s
from retrieval_sidecar.jobs.reading import Reader, Text
from retrieval_sidecar.jobs.runs import Busy, Ended, Found, Run
from retrieval_sidecar.metrics import ATTEMPTS
from retrieval_sidecar.scope.folder_keys import FolderKey
from retrieval_sidecar.sources import contents
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.sources import page_name
from retrieval_sidecar.text.languages import detect
from retrieval_sidecar.text.normalize import for_embedding

MOST_DEATHS = 20
_MAX_TITLE = 300
_LANGUAGE_FROM = 20_000  # characters
BUSY_S = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Workshop:
    """What the jobs of a process share.

    Attributes:
        conninfo: of the role that manages knowledge.
        embedders: started.
        progress_s: how often it is written how far a job is, at most.
    """

    conninfo: str
    embedders: Embedders
    limits: SourceLimits
    reader: Reader
    progress_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Again:
    """It did not work out this time, and the next time is in so many seconds."""

    in_s: float
    failures: int


async def process_source(
    workshop: Workshop, organization_id: UUID, source_id: UUID, *, failures: int = 0, deaths: int = 0
) -> Again | None:
    """Bring a source to where it is ready or has failed; None once it is, or has nothing to be done.

    Args:
        workshop: what the process has for it.
        organization_id, source_id: what is to be done stands there.
        failures, deaths: how often this was tried before and failed, or ended with its worker.
    """
    bound = log.bind(organization_id=str(organization_id), source_id=str(source_id))
    try:
        async with connected(workshop.conninfo) as connection:
            try:
                run = await runs.begin(connection, organization_id, source_id)
            except Busy:
                return Again(BUSY_S, failures)
            if run is None:
                return None
            try:
                return await _attempt(workshop, connection, run, failures, deaths)
            except (Ended, NotFound):
                bound.info("no longer wanted")
        async with connected(workshop.conninfo) as connection:
            await _tidy(workshop, connection, organization_id)
    except SidecarError as error:  # the database
        failure = failure_of(error)
        bound.warning("not processed", code=failure.code, cause=type(error.__cause__).__name__)
        return Again(pause_s(failures + 1), failures + 1)
    return None


async def _attempt(workshop: Workshop, connection: Connection, run: Run, failures: int, deaths: int) -> Again | None:
    bound = log.bind(organization_id=str(run.organization_id), source_id=str(run.source_id))
    if deaths > MOST_DEATHS:
        await runs.fail(connection, run, WORKER_DIED)
        return None
    began, outcome = time.perf_counter(), "stopped"
    try:
        async with translated_errors():
            await _process(workshop, connection, run)
    except (Ended, NotFound):
        raise
    except Exception as error:  # whatever it is, the source's owner must hear of it
        failure = failure_of(error)
        if failure.is_ours:
            bound.warning("not processed", code=failure.code, exc_info=error)
        if connection.closed:
            raise
        if failures + 1 < failure.attempts:
            outcome = "again"
            await runs.note(connection, run, failure)
            return Again(pause_s(failures + 1), failures + 1)
        outcome = "failed"
        await runs.fail(connection, run, failure)
        bound.info("failed", code=failure.code)
    else:
        outcome = "ready"
        bound.info("ready")
    finally:
        ATTEMPTS.labels(outcome).observe(time.perf_counter() - began)
    return None


async def _process(workshop: Workshop, connection: Connection, run: Run) -> None:
    async with runs.watched(workshop.conninfo, run, every_s=workshop.progress_s) as progress:
        if run.kind == "jsonl":
            await _import(connection, run)
            found = Found(content_type="application/jsonl")
        else:
            found = await _read(workshop, connection, run)
        await _index(workshop, connection, run, found, progress)
    if run.url and found.title and run.name == page_name(run.url):
        await runs.name_page(connection, run, found.title)


async def _import(connection: Connection, run: Run) -> None:
    content = contents.read(connection, run.organization_id, run.source_id)
    await import_lines(connection, run.organization_id, run.source_id, run.run_id, content)


async def _read(workshop: Workshop, connection: Connection, run: Run) -> Found:
    """Write what a document says, unless it is too much."""
    text = await workshop.reader.read(connection, run)
    await _check_passages(workshop, text, run)
    await _put(connection, run, text)
    return text.found


async def _put(connection: Connection, run: Run, text: Text) -> None:
    sample = text.markdown[:_LANGUAGE_FROM]
    host = URL(run.url).host if run.url else None
    await put_document(
        connection,
        run.organization_id,
        run.source_id,
        title=_title(text.found, run),
        content=text.markdown,
        language=await asyncio.to_thread(detect, sample, default=run.language),
        folder_key=str(FolderKey("website", (host,)) if host else FolderKey("upload", (run.name,))),
        source_url=run.url,
        content_hash=text.content_hash,
    )


def _title(found: Found, run: Run) -> str:
    title = " ".join((found.title or "").split())[:_MAX_TITLE]
    return title if for_embedding(title) else run.name


async def _check_passages(workshop: Workshop, text: Text, run: Run) -> None:
    """Hold a document to its limit before anything of it is written. Raises TooMuch."""
    most = workshop.limits.passages
    count = len(text.markdown) // MAX_CHARACTERS
    if count <= most:
        limit = TokenLimit(StrictestLimit(list(workshop.embedders)))
        count = len(await asyncio.to_thread(split, _title(text.found, run), text.markdown, limit))
    if count == 0:
        raise ExtractionFailed(Reason.NO_TEXT, "There is no text in it. Check the source, and add it again.")
    if count > most:
        raise TooMuch(
            "too_many_passages",
            f"It makes {count:,} passages or more; at most {most:,} are allowed.",
            "ANSWERLINE_MAX_PASSAGES",
        )


async def _index(
    workshop: Workshop, connection: Connection, run: Run, found: Found, progress: Callable[[int, int], None]
) -> None:
    texts = run.texts

    def count(done: int, total: int) -> None:
        # What an interrupted attempt has swapped in is not counted by this one: it is done as well.
        nonlocal texts
        texts = max(texts, total)
        progress(texts - total + done, texts)

    await index_organization(
        connection,
        workshop.embedders,
        run.organization_id,
        source_id=run.source_id,
        complete=lambda connection: runs.make_searchable(connection, run),
        progress=count,
    )
    await runs.complete(connection, run, found, texts)


async def _tidy(workshop: Workshop, connection: Connection, organization_id: UUID) -> None:
    """Remove what was embedded for passages that will never be, unless another document waits for its own."""
    for space in await read_spaces(connection, organization_id):
        embedder = workshop.embedders.get(space.model)
        if embedder is not None:
            scope = {"organization_id": organization_id, "space_id": space.space_id}
            samples = await sample_vectors(connection, scope, embedder)
            await forget_unused(connection, scope, samples, RECIPE)
