"""The real management API on a free port, and a client that holds each exchange against the contract."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import aiohttp
from aiohttp import web

from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.management.app import create_app
from retrieval_sidecar.management.events import Pace
from retrieval_sidecar.management.keys import Permission, create_key
from retrieval_sidecar.settings import Settings
from tests.support.contract_exchange import contract_checked_client_middleware
from tests.support.database import TestDatabase
from tests.support.sidecar import Answer, TestClock, connected, read_answer

BASES = "/api/v1/knowledge-bases"
AT_ONCE = Pace(longest_s=0)
"""A stream of events ends after what it begins with, so that it can be read as any other answer."""
_NUMBERS = count(2_000_000)


@dataclass
class RecordingQueue:
    """Takes requests for jobs, and does none of them."""

    requested: list[tuple[UUID, UUID]] = field(default_factory=list)
    of_documents: list[UUID] = field(default_factory=list)

    async def request(self, organization_id: UUID, source_id: UUID) -> None:
        self.requested.append((organization_id, source_id))

    async def request_documents(self, organization_id: UUID) -> None:
        self.of_documents.append(organization_id)


@dataclass
class ManagementClient:
    """Speaks to the management API as a console or a script does."""

    url: str
    key: str
    http: aiohttp.ClientSession
    queue: RecordingQueue

    def with_key(self, key: str) -> "ManagementClient":
        return ManagementClient(self.url, key, self.http, self.queue)

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        data: Any = None,
        query: Any = None,
        chunked: bool | None = None,
    ) -> Answer:
        sent = {"X-API-Key": self.key}
        if body is not None:
            sent["Content-Type"] = "application/json"
            data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        async with self.http.request(
            method, self.url + path, data=data, params=query, headers=sent | (headers or {}), chunked=chunked
        ) as response:
            return await read_answer(response)

    async def get(self, path: str, **query: Any) -> Answer:
        return await self.send("GET", path, query=query or None)

    async def post(self, path: str, body: Any = None) -> Answer:
        return await self.send("POST", path, body)

    async def delete(self, path: str) -> Answer:
        return await self.send("DELETE", path)

    async def upload(self, path: str, content: bytes, name: str = "prices.txt", **more: Any) -> Answer:
        return await self.send("POST", path, data=form(content, name), **more)

    async def new_base(self, name: str) -> str:
        """The path of a new knowledge base."""
        answer = await self.post(BASES, {"name": name})
        assert answer.status == 201, answer
        return f"{BASES}/{answer.body['id']}"

    async def new_text(self, base: str, name: str = "Parking", text: str = "Three euros an hour.") -> str:
        """The path of a new source."""
        answer = await self.post(f"{base}/sources/text", {"name": name, "text": text})
        assert answer.status == 201, answer
        return f"{base}/sources/{answer.body['id']}"

    async def new(self, name: str, body: Any) -> Any:
        """A new one of a list, as it is answered."""
        answer = await self.post(f"/api/v1/{name}", body)
        assert answer.status == 201, answer
        return answer.body

    async def new_people(self, agent_id: str) -> dict[str, str]:
        """The ids of one of each that an organization has beside its knowledge; the member is in the team."""
        agent = {"agent_id": agent_id, "phone_number": new_number()}
        member = (await self.new("members", {"name": "Kim Osei", "permissions": ["agents.edit"]}))["id"]
        team = (await self.new("teams", {"name": f"Team {uuid4()}"}))["id"]
        assert (await self.send("PUT", f"/api/v1/teams/{team}/members/{member}")).status == 204
        contact = {"phone_number": new_number(), "name": "Robin Vale"}
        return {
            "member_id": member,
            "team_id": team,
            "key_id": (await self.new("api-keys", {"name": "script", "permissions": ["agents.view"]}))["id"],
            "number_id": (await self.new("phone-numbers", agent))["id"],
            "contact_id": (await self.new("contacts", contact))["id"],
            "segment_id": (await self.new("segments", {"key": f"segment-{uuid4()}", "name": "Members"}))["id"],
        }


def new_number() -> str:
    """A number that nobody has."""
    return f"+1555{next(_NUMBERS):07}"


def form(content: bytes, name: str = "prices.txt", field_name: str = "file", **more: Any) -> aiohttp.MultipartWriter:
    """A form with one file."""
    writer = aiohttp.MultipartWriter("form-data")
    part = writer.append(io.BytesIO(content), {"Content-Type": "application/octet-stream"})
    part.set_content_disposition("form-data", name=field_name, filename=name, **more)
    return writer


async def key_for(
    database: TestDatabase,
    organization_id: UUID,
    *permissions: Permission,
    clock: TestClock | None = None,
    **fields: Any,
) -> str:
    """An API key of an organization; for all of it unless told what for."""
    async with connected(database, "owner") as connection:
        now = (clock or TestClock())()
        granted = permissions or ("admin",)
        return str(await create_key(connection, organization_id, "test", granted, now, actor="test", **fields))


@asynccontextmanager
async def running_management(
    database: TestDatabase,
    key: str,
    *,
    clock: TestClock | None = None,
    embedder: Embedder | None = None,
    until_ready: bool = True,
    with_queue: bool = False,
    pace: Pace = AT_ONCE,
    **settings: Any,
) -> AsyncIterator[ManagementClient]:
    """The application on a real port, ready unless told not to wait for that, and a client of it.

    Streams of events end at once unless there is a `pace`. Jobs are requested of the real queue only `with_queue`.
    """
    urls = {"DATABASE_URL": database.url("owner"), "manage_database_url": database.url("manage"), "pool_size": 2}
    queue = RecordingQueue()
    app = create_app(
        Settings.model_validate(urls | settings),
        queue=None if with_queue else queue,
        embedder=embedder or FakeEmbedder(),
        clock=clock or TestClock(),
        pace=pace,
    )
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        async with aiohttp.ClientSession(middlewares=[contract_checked_client_middleware("management")]) as http:
            client = ManagementClient(f"http://127.0.0.1:{port}", key, http, queue)
            while until_ready and (await client.get("/readyz")).status != 200:
                pass
            yield client
    finally:
        await runner.cleanup()
