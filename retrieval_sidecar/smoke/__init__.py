"""The organization that a running sidecar is tried out on: its own, made for that and removed afterwards."""

from importlib.resources import as_file, files
from uuid import UUID

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import load_organization
from retrieval_sidecar.sql import load as load_sql
from retrieval_sidecar.voice.tokens import create_token

ORGANIZATION_ID = UUID("5a0c7e57-0000-4000-8000-0000005a0c7e")
_TOKEN_NAME = "smoke test"  # noqa: S105 - a name, no token
_SQL = load_sql("retrieval_sidecar.smoke")


async def set_up(manage: Connection, owner: Connection, embedders: Embedders) -> tuple[int, str]:
    """Load it in the place of what an earlier try left; how many passages there are, and a token for its calls."""
    await remove(owner)
    with as_file(files("retrieval_sidecar.smoke")) as folder:
        await load_organization(manage, folder / "organization.yaml", folder / "items.jsonl")
    passages = await index_organization(manage, embedders, ORGANIZATION_ID)
    return passages, await create_token(owner, _TOKEN_NAME, [ORGANIZATION_ID])


async def remove(owner: Connection) -> bool:
    """Remove the organization with all that came of it, its calls and its tokens; False where there was none."""
    async with owner.transaction():
        for statement in ("delete_tokens", "delete_items"):
            await owner.execute(_SQL[statement], {"organization_id": ORGANIZATION_ID})
        cursor = await owner.execute(_SQL["delete_organization"], {"organization_id": ORGANIZATION_ID})
        return await cursor.fetchone() is not None
