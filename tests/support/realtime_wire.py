"""A client of the realtime wire that believes nothing: each event must be one that OpenAI's types know."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from demo.audio import Samples

EVENTS: Final[TypeAdapter[Any]] = TypeAdapter(RealtimeServerEvent)
_PATIENCE_S: Final = 30.0
_CHUNK: Final = 4800
Event = dict[str, Any]


@dataclass
class WireClient:
    """One connection, and all that came over it.

    Attributes:
        events: in their order.
        ended: set when the server has closed the connection.
    """

    socket: aiohttp.ClientWebSocketResponse
    events: list[Event] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def send(self, kind: str, **fields: Any) -> None:
        """Send one event."""
        await self.socket.send_json({"type": kind, **fields})

    async def say(self, samples: Samples) -> None:
        """Append sound, piece by piece as a microphone gives it."""
        for start in range(0, len(samples), _CHUNK):
            audio = base64.b64encode(samples[start : start + _CHUNK].tobytes()).decode()
            await self.send("input_audio_buffer.append", audio=audio)

    async def next(self, kind: str, *, after: int = 0) -> Event:
        """The first event of that type, of those from number `after` on; waits for it."""

        def found() -> Event | None:
            return next((event for event in self.events[after:] if event["type"] == kind), None)

        async with asyncio.timeout(_PATIENCE_S), self._news:
            await self._news.wait_for(found)
        event = found()
        assert event
        return event

    def types(self) -> list[str]:
        """The types of what came, each once where it came several times in a row."""
        kinds = [event["type"] for event in self.events]
        return [kind for kind, before in zip(kinds, [None, *kinds], strict=False) if kind != before]

    async def read(self) -> None:
        """Take in what comes, until the connection ends."""
        async for message in self.socket:
            event = message.json()
            EVENTS.validate_python(event)
            async with self._news:
                self.events.append(event)
                self._news.notify_all()
        self.ended.set()


@asynccontextmanager
async def connected(url: str, *, key: str = "none", model: str = "standin-realtime") -> AsyncIterator[WireClient]:
    """A connection to the realtime endpoint under a base URL."""
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession() as http, http.ws_connect(f"{url}/realtime?model={model}", headers=headers) as ws:
        client = WireClient(ws)
        reading = asyncio.create_task(client.read())
        try:
            yield client
        finally:
            await ws.close()
            await reading  # raises what it found of an event that the types do not know
