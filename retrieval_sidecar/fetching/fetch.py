"""One page from the web to a file, or a sentence that says why not."""

import asyncio
import os
import socket
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from retrieval_sidecar.fetching.addresses import WhyRefused, why_refused
from retrieval_sidecar.fetching.connector import NotPublic, public_connector
from retrieval_sidecar.fetching.content import Content, MediaType, identify
from retrieval_sidecar.fetching.failures import PageFailure, Reason
from retrieval_sidecar.fetching.limits import FetchLimits
from retrieval_sidecar.fetching.urls import parse_url

_HEADERS = {
    "User-Agent": f"Answerline/{version('answerline')}",
    "Accept": "text/html, application/xhtml+xml, application/pdf;q=0.9, text/markdown;q=0.9, text/plain;q=0.8",
    # Said outright: what aiohttp would say depends on what else is installed.
    "Accept-Encoding": "gzip, deflate",
}
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MISSING = frozenset({404, 410})
_DENIED = frozenset({401, 402, 403, 407, 451})
_BUSY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page on disk, its bytes as the server sent them, unpacked.

    Attributes:
        path: the file; whoever asked for it removes it.
        url: where the page was found after all redirects.
        media_type: told from the bytes.
        charset: the Python codec that decodes them; None for a PDF.
        size: bytes.
    """

    path: Path
    url: str
    media_type: MediaType
    charset: str | None
    size: int


async def fetch_page(
    url: str,
    destination_dir: Path,
    limits: FetchLimits | None = None,
    *,
    resolver: AbstractResolver | None = None,
    rule: WhyRefused = why_refused,
    tls: ssl.SSLContext | None = None,
) -> Fetched:
    """Fetch one address, following nothing but its redirects.

    No cookie, credential or proxy of the environment takes part. May be cancelled at any point. The file is written
    last, when all has been received and judged: a failure leaves nothing behind.

    Args:
        url: as the operator gave it.
        destination_dir: where the file goes, under a name of its own.
        limits: None for the usual ones.
        resolver: None for the system's.
        rule: says why an address is refused, None where it is public.
        tls: None for the system's certificates.

    Raises:
        PageFailure: with its reason.
    """
    limits = limits or FetchLimits()
    try:
        async with (
            asyncio.timeout(limits.seconds),
            aiohttp.ClientSession(
                connector=public_connector(rule, resolver, tls),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=limits.connect_seconds),
                trust_env=False,
            ) as session,
        ):
            final, body, content_type = await _follow(session, url, limits, rule)
            # Guessing a charset takes long enough for the event loop to notice.
            content = await asyncio.to_thread(identify, body, content_type, final.path)
    except TimeoutError:
        raise PageFailure(Reason.TOO_SLOW, detail=f"{limits.seconds:g}") from None
    path = _save(body, content, destination_dir)
    return Fetched(path, str(final), content.media_type, content.charset, len(body))


async def _follow(
    session: aiohttp.ClientSession, text: str, limits: FetchLimits, rule: WhyRefused
) -> tuple[URL, bytes, str]:
    """The address where the redirects end, with the body and the Content-Type found there."""
    url = parse_url(text, max_characters=limits.url_characters, rule=rule)
    for _ in range(limits.redirects + 1):
        with _failures(url):
            async with session.get(url, allow_redirects=False) as response:
                if response.status not in _REDIRECTS:
                    body = await _body(response, limits)
                    return url, body, response.headers.get("Content-Type", "")
                target = response.headers.get("Location")
        if not target:
            raise PageFailure(Reason.REDIRECT_BROKEN, host=url.host)
        url = parse_url(target, base=url, max_characters=limits.url_characters, rule=rule)
    raise PageFailure(Reason.TOO_MANY_REDIRECTS, detail=limits.redirects)


async def _body(response: aiohttp.ClientResponse, limits: FetchLimits) -> bytes:
    """All of it, unpacked; aiohttp unpacks a piece at a time, no further than it is read here."""
    host, status = response.url.host, response.status
    if status in _MISSING:
        raise PageFailure(Reason.PAGE_NOT_FOUND, host=host, detail=status)
    if status in _DENIED:
        raise PageFailure(Reason.ACCESS_DENIED, host=host, detail=status)
    if status >= 500 or status in _BUSY:
        raise PageFailure(Reason.SERVER_ERROR, host=host, detail=status)
    if status != 200:
        raise PageFailure(Reason.STATUS_UNEXPECTED, host=host, detail=status)
    if response.headers.get("Content-Encoding", "").strip().lower() not in _ENCODINGS:
        raise PageFailure(Reason.ENCODING_REFUSED, host=host)
    if (response.content_length or 0) > limits.max_bytes:
        raise PageFailure(Reason.TOO_LARGE, detail=limits.max_bytes)
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > limits.max_bytes:
            raise PageFailure(Reason.TOO_LARGE, detail=limits.max_bytes)
    return bytes(body)


@contextmanager
def _failures(url: URL) -> Iterator[None]:
    """Turn aiohttp's errors into ours. Their texts may hold the whole address, so none is passed on."""
    host = url.host
    try:
        yield
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
        raise PageFailure(Reason.CERTIFICATE_REFUSED, host=host) from None
    except aiohttp.ClientConnectorError as error:
        cause = error.os_error
        if isinstance(cause, NotPublic):
            raise PageFailure(Reason.ADDRESS_REFUSED, host=host, detail=cause.why) from None
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            raise PageFailure(Reason.NAME_NOT_FOUND, host=host) from None
        raise PageFailure(Reason.NOT_REACHABLE, host=host) from None
    except aiohttp.ServerTimeoutError:  # of the connection: reading has no limit of its own
        raise PageFailure(Reason.NOT_REACHABLE, host=host) from None
    except aiohttp.ClientError:
        raise PageFailure(Reason.BROKEN_ANSWER, host=host) from None


def _save(body: bytes, content: Content, directory: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix="page-", suffix=content.media_type.suffix, dir=directory)
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return path
