"""A web server for tests of fetching, that says just the bytes it is told, and a resolver that leads names to it."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from aiohttp.abc import AbstractResolver, ResolveResult

from retrieval_sidecar.fetching.addresses import Address, why_refused

HERE: Final = "127.0.0.1"
HTML: Final = b"<!doctype html><title>Opening hours</title><p>We are open Monday to Friday, 9 to 17.</p>"
TLS_HANDSHAKE: Final = b"\x16"

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes = HTML, *headers: str, status: str = "200 OK") -> bytes:
    """A whole response, with an honest length unless a header gives another one."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if not any(each.lower().startswith("content-length:") for each in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """A response that leads elsewhere."""
    return answer(b"", f"Location: {location}", status=status)


def gzip_bomb(size: int) -> bytes:
    """A small body that unpacks to so many zeros."""
    return gzip.compress(bytes(size), compresslevel=9)


@dataclass
class PageServer:
    """Listens on 127.0.0.1; plain, or with TLS.

    Attributes:
        port: where it listens.
        pages: by path with query; what is not there is 404.
        requests: the head of each request, as text.
        connections: how many were opened, whether or not anything was asked over them.
        gone: set when a client has left before its answer was complete.
    """

    port: int = 0
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def holds(self, writer: asyncio.StreamWriter) -> None:
        """An answer that never comes: waits until the client has left."""
        del writer
        await self.gone.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        self.connections += 1
        try:
            if (first := await reader.readexactly(1)) == TLS_HANDSHAKE:  # asked for what it does not speak
                writer.write(answer(b"", status="400 Bad Request"))
                return
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            page = self.pages.get(head.split(" ", 2)[1], answer(b"", status="404 Not Found"))
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                leaving = asyncio.create_task(self._watch(reader))
                await page(writer)
                leaving.cancel()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            await reader.read()
        self.gone.set()


@asynccontextmanager
async def page_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[PageServer]:
    """A running server; all its connections are over when it leaves."""
    running = PageServer()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(running.serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, HERE, 0, ssl=tls)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class LocalResolver(AbstractResolver):
    """Answers from a list, in turn; the last answer stays. Whatever the port asked for, it leads to the given one.

    Attributes:
        looked_up: every name that was asked for.
    """

    def __init__(self, ports: dict[int, int], **names: Sequence[Sequence[str]]) -> None:
        """With `ports` from web port to the server's; names have `_` for `.`, each with its answers in turn."""
        self._ports = ports
        self._answers = {name.replace("_", "."): list(turns) for name, turns in names.items()}
        self.looked_up: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.looked_up.append(host)
        turns = self._answers.get(host)
        if turns is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = turns.pop(0) if len(turns) > 1 else turns[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=self._ports.get(port, port),
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        pass


def left_in(directory: Path) -> list[str]:
    """What a fetch has left behind."""
    return [each.name for each in directory.iterdir()]


def here_is_public(address: Address) -> str | None:
    """The real rule, but for the one address that the test's server listens on."""
    return None if address == ip_address(HERE) else why_refused(address)
