"""Working on sources in tests: with the fake embedder, and pages from a server of the test's own."""

from pathlib import Path
from typing import Any
from uuid import UUID

from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.fetching.fetch import Fetched, fetch_page
from retrieval_sidecar.fetching.limits import FetchLimits
from retrieval_sidecar.jobs.process import Again, Workshop, process_source
from retrieval_sidecar.jobs.reading import Fetch, Reader
from retrieval_sidecar.sources.limits import SourceLimits
from tests.support.added import FIRST
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.page_server import HERE, LocalResolver, PageServer, here_is_public

PAGE = "https://help.example.com/returns"


def workshop(
    database: TestDatabase,
    embedder: Embedder | None = None,
    *,
    limits: SourceLimits | None = None,
    fetch: Fetch = fetch_page,
) -> Workshop:
    """What jobs need, on a test's database."""
    limits = limits or SourceLimits()
    return Workshop(database.url("manage"), Embedders(embedder or FakeEmbedder()), limits, Reader(limits, fetch))


def fetching_from(server: PageServer) -> Fetch:
    """Fetches http://help.example.com from this server."""

    async def fetch(url: str, directory: Path, limits: FetchLimits) -> Fetched:
        resolver = LocalResolver({80: server.port}, help_example_com=[[HERE]])
        return await fetch_page(url, directory, limits, resolver=resolver, rule=here_is_public)

    return fetch


async def process(shop: Workshop, source_id: UUID, organization_id: UUID = FIRST, **past: int) -> Again | None:
    return await process_source(shop, organization_id, source_id, **past)


async def source_row(database: TestDatabase, source_id: UUID) -> dict[str, Any]:
    """What is stored of a source."""
    ((found,),) = await rows(database, "select to_jsonb(s) from source s where source_id = %s", [source_id])
    assert isinstance(found, dict)
    return found


async def passages(database: TestDatabase, *, servable: bool = True) -> list[str]:
    """The contents of the passages that a search may find, or may not, in order."""
    found = await rows(
        database,
        "select p.content from passage p join passage_vector v using (organization_id, passage_id)"
        " where v.servable = %s order by p.item_id, p.chunk_index",
        [servable],
    )
    return [content for (content,) in found]
