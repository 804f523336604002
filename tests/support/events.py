"""A client of server-sent events, as a browser's EventSource is one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from contracts import management as wire
from contracts.model import ContractModel
from tests.support.management import ManagementClient

_MODELS: dict[str, type[ContractModel]] = {
    "source": wire.Source,
    "progress": wire.SourceProgress,
    "removed": wire.SourceRemoved,
}

Event = tuple[str, Any]


@dataclass
class Stream:
    """An open stream.

    Attributes:
        response: as it came, nothing read of it.
        heartbeats: signs of life that have been read.
    """

    response: aiohttp.ClientResponse
    heartbeats: int = 0

    async def next(self) -> Event | None:
        """The next event, its data read and held against the contract; None after the last."""
        name = ""
        async for line in self.response.content:
            field, _, value = line.decode("utf-8").rstrip("\r\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                _MODELS[name].from_wire(value)
                return name, json.loads(value)
            elif field == "" and value:
                self.heartbeats += 1
        return None

    async def heartbeat(self) -> None:
        """Wait for one more sign of life; there must be no event before it."""
        line = b"\n"
        while line.strip() == b"":
            line = await self.response.content.readline()
        assert line.startswith(b": "), line

    async def ends(self) -> bool:
        """Whether nothing but signs of life comes before it ends."""
        return await self.next() is None


@asynccontextmanager
async def following(client: ManagementClient, base: str) -> AsyncIterator[Stream]:
    """The events of a base; the response may also be a refusal."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_read=60)) as http,
        http.get(f"{client.url}{base}/events", headers={"X-API-Key": client.key}) as response,
    ):
        yield Stream(response)
