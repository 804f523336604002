"""Connections to public addresses only, decided on the address that is connected to.

A name is looked up once for a connection, every address of the answer is judged, and the connection goes to one of just
these addresses: nothing looks the name up again, so there is no gap in which it could change. The address is judged
once more when its socket is made, whatever way it came (aiohttp asks no resolver about an address in numbers).
"""

import socket
import ssl

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from retrieval_sidecar.fetching.addresses import WhyRefused, why_text_refused

AddrInfo = tuple[
    int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int]
]


class NotPublic(OSError):
    """An address that is not connected to. An OSError, as aiohttp passes these on with their cause."""

    def __init__(self, why: str) -> None:
        super().__init__("not a public address")
        self.why = why


class PublicResolver(AbstractResolver):
    """Another resolver's answers, if every address of them is public."""

    def __init__(self, resolver: AbstractResolver, rule: WhyRefused) -> None:
        self._resolver = resolver
        self._rule = rule

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look up once. Raises NotPublic if any one address is not, OSError if there is none."""
        found = await self._resolver.resolve(host, port, family)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        for each in found:
            _check(each["host"], self._rule)
        return found

    async def close(self) -> None:
        await self._resolver.close()


def public_connector(
    rule: WhyRefused, resolver: AbstractResolver | None = None, tls: ssl.SSLContext | None = None
) -> TCPConnector:
    """A connector that keeps nothing from one request to the next: no look-up, no connection.

    Args:
        rule: says why an address is refused, None where it is public.
        resolver: None for the system's.
        tls: None for the system's certificates, always verified.
    """

    def open_socket(info: AddrInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        _check(address[0], rule)
        return socket.socket(family, kind, protocol)

    return TCPConnector(
        resolver=PublicResolver(resolver or DefaultResolver(), rule),
        socket_factory=open_socket,
        ssl=tls or True,
        use_dns_cache=False,
        force_close=True,
    )


def _check(address: str, rule: WhyRefused) -> None:
    if why := why_text_refused(address, rule):
        raise NotPublic(why)
