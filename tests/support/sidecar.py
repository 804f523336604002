"""A real sidecar on a free port, and a client that holds each exchange against the contract."""

import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import aiohttp
import psycopg
import yaml
from aiohttp import web
from pgvector.psycopg import register_vector_async
from psycopg.rows import TupleRow

from retrieval_sidecar.embeddings import Embedder, Embedders
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import Loaded, load_organization
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.voice.app import create_app
from retrieval_sidecar.voice.tokens import create_token
from tests.support.contract_exchange import contract_checked_client_middleware
from tests.support.database import TestDatabase

SESSIONS = "/internal/voice/v1/sessions"


@dataclass
class TestClock:
    """A clock that stands still until it is told to move."""

    __test__ = False

    now: datetime = field(default_factory=lambda: datetime(2026, 12, 1, 12, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **delta: float) -> None:
        self.now += timedelta(**delta)


@dataclass(frozen=True)
class Answer:
    """A response, read."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass
class Session:
    """A call that was opened."""

    client: "VoiceClient"
    body: dict[str, Any]

    @property
    def identity(self) -> dict[str, str]:
        return {"orgId": self.body["orgId"], "agentId": self.body["agent"]["agentId"]}

    @property
    def path(self) -> str:
        return f"{SESSIONS}/{self.body['sessionId']}"

    async def search(self, query: str, *, expect: int = 200, **fields: Any) -> Any:
        answer = await self.client.post(
            f"{self.path}/tools/knowledge-search", self.identity | {"query": query} | fields
        )
        assert answer.status == expect, answer
        return answer.body

    async def end(self, status: str = "completed", reason: str = "caller_hung_up") -> Answer:
        return await self.client.post(f"{self.path}/end", self.identity | {"status": status, "reason": reason})


@dataclass
class VoiceClient:
    """Speaks to the voice API as a worker does."""

    url: str
    token: str
    http: aiohttp.ClientSession

    async def post(
        self, path: str, body: Any, *, headers: dict[str, str] | None = None, raw: bytes | None = None
    ) -> Answer:
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = raw if raw is not None else json.dumps(body).encode()
        async with self.http.post(self.url + path, data=io.BytesIO(data), headers=sent | (headers or {})) as response:
            return await read_answer(response)

    async def get(self, path: str) -> Answer:
        async with self.http.get(self.url + path) as response:
            return await read_answer(response)

    async def open(self, called: str, caller: str | None = None, **fields: Any) -> Session:
        """Bootstrap a call; fails the test unless a session comes of it."""
        request = {"calledNumber": called, "roomName": "room", "callId": str(uuid4())} | fields
        if caller is not None:
            request["callerNumber"] = caller
        answer = await self.post(SESSIONS, request)
        assert answer.status == 201, answer
        return Session(self, answer.body)


async def read_answer(response: aiohttp.ClientResponse) -> Answer:
    is_json = response.content_type.endswith("json")
    body = await response.json(content_type=None) if is_json else await response.text()
    return Answer(response.status, body, response.headers)


@asynccontextmanager
async def connected(database: TestDatabase, role: str) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
    """A connection of a role, which knows pgvector's types."""
    async with await psycopg.AsyncConnection.connect(database.url(role), autocommit=True) as connection:
        await register_vector_async(connection)
        yield connection


async def load(
    database: TestDatabase,
    folder: Path,
    organization: dict[str, Any],
    items: list[dict[str, Any]],
    embedder: Embedder | Embedders | None = None,
) -> Loaded:
    """Load an organization from what its two files would hold, and make it searchable."""
    files = write_files(folder, organization, items)
    async with connected(database, "manage") as connection:
        loaded = await load_organization(connection, *files)
        await index_organization(connection, embedder or FakeEmbedder(), loaded.organization_id)
    return loaded


def write_files(folder: Path, organization: dict[str, Any], items: list[dict[str, Any]]) -> tuple[Path, Path]:
    """The two files of an organization, as paths, in a folder that is made when it is not there."""
    folder.mkdir(exist_ok=True)
    (folder / "organization.yaml").write_text(yaml.safe_dump(organization), encoding="utf-8")
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    return folder / "organization.yaml", folder / "items.jsonl"


async def token_for(database: TestDatabase, *organization_ids: UUID) -> str:
    """A voice token for calls of these organizations."""
    async with connected(database, "owner") as connection:
        return await create_token(connection, "test", list(organization_ids))


@asynccontextmanager
async def running_sidecar(
    database: TestDatabase,
    token: str,
    *,
    clock: TestClock | None = None,
    embedder: Embedder | Embedders | None = None,
    pool_size: int = 2,
    pool_queue: int = 64,
    until_ready: bool = True,
) -> AsyncIterator[VoiceClient]:
    """The application on a real port, ready unless told not to wait for that, and a client of it."""
    urls = {"DATABASE_URL": database.url("owner"), "voice_database_url": database.url("voice")}
    settings = Settings.model_validate(urls | {"pool_size": pool_size, "pool_queue": pool_queue})
    app = create_app(settings, embedder=embedder or FakeEmbedder(), clock=clock or TestClock())
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        async with aiohttp.ClientSession(middlewares=[contract_checked_client_middleware()]) as http:
            client = VoiceClient(f"http://127.0.0.1:{port}", token, http)
            if until_ready:
                await _until_ready(client)
            yield client
    finally:
        await runner.cleanup()


async def _until_ready(client: VoiceClient) -> None:
    while (await client.get("/readyz")).status != 200:
        pass
