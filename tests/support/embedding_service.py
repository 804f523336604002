"""A service that speaks OpenAI's embeddings API, with the fake embedder behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from retrieval_sidecar.embeddings.fake import FakeEmbedder


@dataclass
class EmbeddingService:
    """A running service.

    Attributes:
        url: what the embedder's base URL is set to.
        status: what every request is answered with.
        requests: the texts of each.
    """

    url: str = ""
    status: int = 200
    requests: list[list[str]] = field(default_factory=list)

    async def embeddings(self, request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        self.requests.append(body["input"])
        if self.status != 200:
            return web.json_response({"error": {"message": "Told to fail."}}, status=self.status)
        rows = await FakeEmbedder(dimensions=body["dimensions"]).embed_queries(body["input"])
        return web.json_response(
            {"data": [{"index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]}
        )


@asynccontextmanager
async def embedding_service() -> AsyncIterator[EmbeddingService]:
    """A service on a free port."""
    service = EmbeddingService()
    app = web.Application()
    app.add_routes([web.post("/v1/embeddings", service.embeddings)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield service
    finally:
        await runner.cleanup()
