"""An operator who writes items and instructions over the management API, and a call that asks for them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.jobs.documents import index_documents
from retrieval_sidecar.jobs.process import Again
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.jobs import workshop
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import Answer, Session, TestClock, VoiceClient, running_sidecar, token_for
from tests.support.small_organization import ORGANIZATION_ID

ITEMS = "/api/v1/knowledge-items"
INSTRUCTIONS = "/api/v1/instructions"
DIRECTORIES = "/api/v1/instruction-directories"
STALE = '"' + "0" * 64 + '"'


@dataclass(frozen=True)
class Operator:
    """Speaks to the management API, and works on the jobs by hand."""

    client: ManagementClient
    database: TestDatabase
    voice: VoiceClient

    async def base(self, name: str = "Main") -> str:
        """The id of a knowledge base."""
        (found,) = [each["id"] for each in (await self.client.get(BASES)).body["items"] if each["name"] == name]
        return str(found)

    async def directory(self, name: str = "Rules") -> str:
        """The id of a directory."""
        listed = (await self.client.get(DIRECTORIES, limit=100)).body["items"]
        (found,) = [each["id"] for each in listed if each["name"] == name]
        return str(found)

    async def write(self, path: str, **fields: Any) -> str:
        """The path of something new."""
        answer = await self.client.post(path, fields)
        assert answer.status == 201, answer
        return f"{path}/{answer.body['id']}"

    async def item(self, title: str = "Sauna", content: str = "The sauna opens at ten.", **fields: Any) -> str:
        """The path of a new item, published unless told otherwise, and known to searches."""
        fields = {"status": "published", "kb_id": await self.base(), "language": "en"} | fields
        path = await self.write(ITEMS, title=title, content=content, **fields)
        assert await self.index() is None
        return path

    async def instruction(self, title: str = "Complaints", content: str = "Say sorry first.", **fields: Any) -> str:
        """The path of a new instruction, published unless told otherwise, and known to searches."""
        fields = {"status": "published", "directory_id": await self.directory(), "language": "en"} | fields
        path = await self.write(INSTRUCTIONS, title=title, content=content, **fields)
        assert await self.index() is None
        return path

    async def read(self, path: str) -> Any:
        answer = await self.client.get(path)
        assert answer.status == 200, answer
        return answer.body

    async def etag(self, path: str) -> str:
        return (await self.client.get(path)).headers["ETag"]

    async def send(self, method: str, path: str, body: Any = None, *, etag: str | None = None) -> Answer:
        """Change what is there now, or, with an `etag`, what was."""
        return await self.client.send(
            method, path, body, headers={"If-Match": await self.etag(path) if etag is None else etag}
        )

    async def patch(self, path: str, **fields: Any) -> Any:
        answer = await self.send("PATCH", path, fields)
        assert answer.status == 200, answer
        return answer.body

    async def delete(self, path: str) -> None:
        answer = await self.send("DELETE", path)
        assert answer.status == 204, answer

    async def index(self, embedder: Embedder | None = None, **past: int) -> Again | None:
        """What a worker does when it comes to it."""
        return await index_documents(workshop(self.database, embedder), ORGANIZATION_ID, **past)


@asynccontextmanager
async def operating(database: TestDatabase, clock: TestClock, **settings: Any) -> AsyncIterator[Operator]:
    """Both APIs on one database: who edits, and who is called."""
    key = await key_for(database, ORGANIZATION_ID, "agents.edit")
    token = await token_for(database, ORGANIZATION_ID)
    async with (
        running_management(database, key, clock=clock, **settings) as client,
        running_sidecar(database, token, clock=clock) as voice,
    ):
        yield Operator(client, database, voice)


async def told(session: Session, query: str) -> list[str]:
    """The titles of what a call is given."""
    return [each["title"] for each in (await session.search(query))["results"]]


async def vectors(database: TestDatabase, path: str) -> list[tuple[Any, ...]]:
    """What searches read of the passages of an item or an instruction, whatever its own row says."""
    document_id = UUID(path.rpartition("/")[2])
    return await rows(
        database,
        "select v.servable, v.segment_ids, isfinite(v.valid_from), isfinite(v.valid_to), v.open_minutes::text,"
        " v.region_code, (select folder_key from folder f where f.organization_id = v.organization_id"
        " and f.folder_id = v.folder_id) from passage_vector v join passage p using (organization_id, passage_id)"
        " where %s in (p.item_id, p.instruction_id) order by p.chunk_index",
        [document_id],
    )
