"""Another model for what an organization knows, while the old one answers."""

from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.ingest.indexing import Progress, index_organization
from retrieval_sidecar.ingest.spaces import switch_to


async def reembed(
    connection: Connection,
    embedders: Embedders,
    organization_id: UUID,
    *,
    switch: bool = True,
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Make the preferred embedder's space complete and have the organization searched by it; its passages.

    Calls and loads go on meanwhile: what is loaded before the space is complete is put into it too, what is loaded
    after that is written to both. Interrupted or repeated, it embeds only what is missing.

    Args:
        switch: whether the space is to answer from then on, or only to be ready.

    Raises what `index_organization` and `switch_to` do.
    """
    target = embedders.preferred
    passages = await index_organization(connection, embedders, organization_id, into=target, progress=progress)
    if switch:
        await switch_to(connection, organization_id, target.model)
    return passages
