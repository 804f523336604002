"""Fetching from a server on this machine: what arrives, and each way in which it does not."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retrieval_sidecar.fetching import Fetched, FetchLimits, PageFailure, Reason, fetch_page
from retrieval_sidecar.fetching.content import MediaType
from tests.support.page_server import (
    HERE,
    HTML,
    LocalResolver,
    PageServer,
    answer,
    gzip_bomb,
    here_is_public,
    left_in,
    page_server,
    redirect,
)

LIMITS = FetchLimits(max_bytes=100_000, redirects=3)
BRIEF = FetchLimits(seconds=0.2)  # for servers that never come to an end


@pytest.fixture
async def server() -> AsyncIterator[PageServer]:
    async with page_server() as running:
        yield running


async def fetch(
    server: PageServer, directory: Path, url: str = "http://site.example/", limits: FetchLimits = LIMITS
) -> Fetched:
    resolver = LocalResolver({80: server.port}, site_example=[[HERE]], other_example=[[HERE]])
    return await fetch_page(url, directory, limits, resolver=resolver, rule=here_is_public)


async def failure(
    server: PageServer, directory: Path, url: str = "http://site.example/", limits: FetchLimits = LIMITS
) -> PageFailure:
    """The failure of a fetch; it must leave nothing on the disk."""
    with pytest.raises(PageFailure) as caught:
        await fetch(server, directory, url, limits)
    assert left_in(directory) == []
    return caught.value


async def test_a_page_arrives(server: PageServer, tmp_path: Path) -> None:
    server.pages["/a?b=c"] = answer(HTML, "Content-Type: text/html; charset=utf-8")
    fetched = await fetch(server, tmp_path, "http://site.example/a?b=c#part")
    assert fetched.path.read_bytes() == HTML
    assert fetched.path.parent == tmp_path
    assert fetched.path.suffix == ".html"
    assert (fetched.url, fetched.media_type, fetched.charset, fetched.size) == (
        "http://site.example/a?b=c",
        MediaType.HTML,
        "utf-8",
        len(HTML),
    )


@pytest.mark.parametrize(
    ("body", "header", "path", "expected"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "application/pdf", "/a", MediaType.PDF),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "text/html", "/a.html", MediaType.PDF),
        (b"# Hours\n\n- 9 to 17\n", "text/markdown; charset=utf-8", "/a", MediaType.MARKDOWN),
        (b"# Hours\n\n- 9 to 17\n", "text/plain", "/hours.md", MediaType.MARKDOWN),
        (b"We are open.\n", "text/plain", "/a", MediaType.TEXT),
    ],
)
async def test_other_types_arrive(
    server: PageServer, tmp_path: Path, body: bytes, header: str, path: str, expected: MediaType
) -> None:
    server.pages[path] = answer(body, f"Content-Type: {header}")
    fetched = await fetch(server, tmp_path, f"http://site.example{path}")
    assert fetched.media_type is expected
    assert fetched.path.suffix == expected.suffix
    assert fetched.path.read_bytes() == body


async def test_a_page_without_a_type_is_told_by_its_bytes(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(HTML)
    assert (await fetch(server, tmp_path)).media_type is MediaType.HTML


@pytest.mark.parametrize("packed", [gzip.compress(HTML), zlib.compress(HTML)])
async def test_a_compressed_page_arrives_unpacked(server: PageServer, tmp_path: Path, packed: bytes) -> None:
    encoding = "gzip" if packed[0] == 0x1F else "deflate"
    server.pages["/"] = answer(packed, f"Content-Encoding: {encoding}")
    fetched = await fetch(server, tmp_path)
    assert fetched.path.read_bytes() == HTML


async def test_two_fetches_into_one_directory_are_two_files(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer()
    one, other = await fetch(server, tmp_path), await fetch(server, tmp_path)
    assert one.path != other.path


# What is asked.


async def test_the_request_says_who_asks_and_nothing_else(
    server: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine site.example login ada password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:1")
        monkeypatch.setenv(name.upper(), "http://proxy.example:1")
    (tmp_path / "pages").mkdir()
    server.pages["/"] = answer()
    await fetch(server, tmp_path / "pages")
    (head,) = server.requests
    first, *lines = head.strip().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    assert first == "GET / HTTP/1.1"
    assert set(headers) == {"host", "accept", "accept-encoding", "user-agent", "connection"} - (
        set() if "connection" in headers else {"connection"}
    )
    assert headers["host"] == "site.example"
    assert headers["user-agent"].startswith("answerline/")
    assert headers["accept-encoding"] == "gzip, deflate"


async def test_no_cookie_is_carried_along(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(b"", "Location: /b", "Set-Cookie: id=sentinel; Path=/", status="302 Found")
    server.pages["/b"] = answer()
    await fetch(server, tmp_path)
    assert len(server.requests) == 2
    assert "cookie" not in server.requests[1].lower()
    assert "referer" not in server.requests[1].lower()


async def test_no_link_of_the_page_is_followed(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(
        b'<!doctype html><meta http-equiv="refresh" content="0;url=/b"><link rel=stylesheet href="/c">'
        b'<img src="/d"><script src="/e"></script><a href="/f">f</a>',
        "Link: </g>; rel=preload",
        "Refresh: 0;url=/h",
    )
    await fetch(server, tmp_path)
    assert len(server.requests) == 1


# Redirects.


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
)
async def test_redirects_are_followed_and_the_last_address_is_told(
    server: PageServer, tmp_path: Path, status: str
) -> None:
    server.pages["/"] = redirect("/b/c#part", status)
    server.pages["/b/c"] = redirect("d", status)  # seen from where it is said
    server.pages["/b/d"] = redirect("http://other.example/e", status)
    server.pages["/e"] = answer()
    assert (await fetch(server, tmp_path)).url == "http://other.example/e"


async def test_as_many_redirects_as_the_limit_are_followed(server: PageServer, tmp_path: Path) -> None:
    for number in range(4):
        server.pages[f"/{number}"] = redirect(f"/{number + 1}")
    server.pages["/4"] = answer()
    assert (await fetch(server, tmp_path, "http://site.example/1")).url == "http://site.example/4"
    assert (await failure_of_hops(server, tmp_path)).reason is Reason.TOO_MANY_REDIRECTS


async def failure_of_hops(server: PageServer, directory: Path) -> PageFailure:
    (empty := directory / "empty").mkdir()
    return await failure(server, empty, "http://site.example/0")


async def test_endless_redirects_end(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = redirect("/")
    assert (await failure(server, tmp_path)).reason is Reason.TOO_MANY_REDIRECTS
    assert len(server.requests) == LIMITS.redirects + 1


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("ftp://site.example/", Reason.SCHEME_REFUSED),
        ("file:///etc/passwd", Reason.SCHEME_REFUSED),
        ("data:text/html,x", Reason.SCHEME_REFUSED),
        ("http://site.example:8080/", Reason.PORT_REFUSED),
        ("http://ada:secret@site.example/", Reason.CREDENTIALS_REFUSED),
        ("http://169.254.169.254/latest/meta-data/", Reason.ADDRESS_REFUSED),
        ("//[::ffff:10.0.0.1]/", Reason.ADDRESS_REFUSED),
        ("http://2130706433/", Reason.ADDRESS_REFUSED),
        ("http://nowhere.example/", Reason.NAME_NOT_FOUND),
        ("http://a b/", Reason.NOT_A_WEB_ADDRESS),
        ("http://\xff\xfe/", Reason.NOT_A_WEB_ADDRESS),
        ("/" + "a" * 3000, Reason.NOT_A_WEB_ADDRESS),
        ("", Reason.REDIRECT_BROKEN),
    ],
)
async def test_a_redirect_leads_no_further_than_an_address_may(
    server: PageServer, tmp_path: Path, location: str, reason: Reason
) -> None:
    server.pages["/"] = b"HTTP/1.1 302 Found\r\nLocation: " + location.encode("latin-1") + b"\r\n\r\n"
    assert (await failure(server, tmp_path)).reason is reason
    assert len(server.requests) == 1


async def test_a_redirect_without_a_target_is_broken(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(b"", status="302 Found")
    assert (await failure(server, tmp_path)).reason is Reason.REDIRECT_BROKEN


# Size.


async def test_a_page_of_just_the_limit_arrives(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(HTML.ljust(LIMITS.max_bytes))
    assert (await fetch(server, tmp_path)).size == LIMITS.max_bytes


async def test_a_declared_length_over_the_limit_is_refused_unread(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(b"", f"Content-Length: {LIMITS.max_bytes + 1}")
    assert (await failure(server, tmp_path)).reason is Reason.TOO_LARGE


async def test_a_page_without_a_length_is_measured_as_it_comes(server: PageServer, tmp_path: Path) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(b"a" * 50_000)
            await writer.drain()

    server.pages["/"] = endless
    assert (await failure(server, tmp_path)).reason is Reason.TOO_LARGE


async def test_endless_chunks_are_measured_as_they_come(server: PageServer, tmp_path: Path) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"c350\r\n" + b"a" * 50_000 + b"\r\n")
            await writer.drain()

    server.pages["/"] = endless
    assert (await failure(server, tmp_path)).reason is Reason.TOO_LARGE


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_decompression_bomb_is_unpacked_no_further_than_the_limit(
    server: PageServer, tmp_path: Path, encoding: str
) -> None:
    size = 50_000_000
    bomb = gzip_bomb(size) if encoding == "gzip" else zlib.compress(bytes(size), 9)
    server.pages["/"] = answer(bomb, f"Content-Encoding: {encoding}")
    tracemalloc.start()
    try:
        assert (await failure(server, tmp_path)).reason is Reason.TOO_LARGE
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 10


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "x"])
async def test_a_compression_that_was_not_asked_for_is_refused(
    server: PageServer, tmp_path: Path, encoding: str
) -> None:
    server.pages["/"] = answer(gzip.compress(gzip.compress(HTML)), f"Content-Encoding: {encoding}")
    found = await failure(server, tmp_path)
    # Where no library for br or zstd is installed, aiohttp fails before the answer reaches us.
    allowed = (
        {Reason.ENCODING_REFUSED, Reason.BROKEN_ANSWER} if encoding in {"br", "zstd"} else {Reason.ENCODING_REFUSED}
    )
    assert found.reason in allowed


# Time.


async def test_a_server_that_never_answers_is_left_in_time(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = server.holds
    found = await failure(server, tmp_path, limits=BRIEF)
    assert (found.reason, found.retryable) == (Reason.TOO_SLOW, True)


async def test_a_server_that_never_ends_its_page_is_left_in_time(server: PageServer, tmp_path: Path) -> None:
    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + HTML)
        await server.holds(writer)

    server.pages["/"] = half
    assert (await failure(server, tmp_path, limits=BRIEF)).reason is Reason.TOO_SLOW


async def test_a_server_that_drips_without_end_is_left_in_time(server: PageServer, tmp_path: Path) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not server.gone.is_set():
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0)

    server.pages["/"] = drip
    assert (await failure(server, tmp_path, limits=BRIEF)).reason is Reason.TOO_SLOW


async def test_the_time_is_that_of_all_redirects_together(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = redirect("/b")
    server.pages["/b"] = server.holds
    # A busy machine may need longer than the first of these for the first hop.
    for seconds in (0.2, 2, 20):
        assert (await failure(server, tmp_path, limits=FetchLimits(seconds=seconds))).reason is Reason.TOO_SLOW
        if server.requests and server.requests[-1].startswith("GET /b "):
            return
    pytest.fail("the second hop was never reached")


async def test_a_name_service_that_never_answers_is_left_in_time(tmp_path: Path) -> None:
    class Silent(LocalResolver):
        async def resolve(self, *_: object, **__: object) -> list[object]:  # type: ignore[override]
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(PageFailure) as caught:
        await fetch_page("http://site.example/", tmp_path, BRIEF, resolver=Silent({}))
    assert caught.value.reason is Reason.TOO_SLOW


async def test_a_fetch_can_be_cancelled(server: PageServer, tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def hold(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + HTML)
        asked.set()
        await server.holds(writer)

    server.pages["/"] = hold
    task = asyncio.create_task(fetch(server, tmp_path))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.gone.wait()  # the connection is closed with it
    assert left_in(tmp_path) == []


# Answers that are none.


@pytest.mark.parametrize(
    ("status", "reason", "retryable"),
    [
        ("404 Not Found", Reason.PAGE_NOT_FOUND, False),
        ("410 Gone", Reason.PAGE_NOT_FOUND, False),
        ("401 Unauthorized", Reason.ACCESS_DENIED, False),
        ("403 Forbidden", Reason.ACCESS_DENIED, False),
        ("429 Too Many Requests", Reason.SERVER_ERROR, True),
        ("500 Internal Server Error", Reason.SERVER_ERROR, True),
        ("503 Service Unavailable", Reason.SERVER_ERROR, True),
        ("204 No Content", Reason.STATUS_UNEXPECTED, False),
        ("206 Partial Content", Reason.STATUS_UNEXPECTED, False),
        ("304 Not Modified", Reason.STATUS_UNEXPECTED, False),
        ("418 I'm a teapot", Reason.STATUS_UNEXPECTED, False),
    ],
)
async def test_other_statuses_say_what_they_mean(
    server: PageServer, tmp_path: Path, status: str, reason: Reason, *, retryable: bool
) -> None:
    server.pages["/"] = f"HTTP/1.1 {status}\r\nConnection: close\r\n\r\n".encode()
    found = await failure(server, tmp_path)
    assert (found.reason, found.retryable) == (reason, retryable)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: a\r\n" % n for n in range(40_000)) + b"\r\n",
    ],
    ids=lambda said: repr(said[:60]),
)
async def test_a_garbled_answer_is_a_broken_one(server: PageServer, tmp_path: Path, said: bytes) -> None:
    server.pages["/"] = said
    assert (await failure(server, tmp_path)).reason is Reason.BROKEN_ANSWER


async def test_what_comes_after_the_declared_length_is_not_part_of_the_page(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(HTML + b"smuggled", f"Content-Length: {len(HTML)}")
    # Broken where it came in one piece with the page.
    assert await outcome(server, tmp_path) in {HTML, Reason.BROKEN_ANSWER}


async def outcome(server: PageServer, directory: Path) -> bytes | Reason:
    try:
        return (await fetch(server, directory)).path.read_bytes()
    except PageFailure as found:
        return found.reason


async def test_an_empty_page_is_a_failure(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(b" \r\n")
    assert (await failure(server, tmp_path)).reason is Reason.EMPTY


async def test_a_picture_is_no_page(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "Content-Type: text/html")
    assert (await failure(server, tmp_path)).reason is Reason.TYPE_REFUSED


async def test_a_server_that_is_not_there_is_not_reachable(tmp_path: Path) -> None:
    async with page_server() as server:
        pass  # its port is free again
    found = await failure(server, tmp_path)
    assert (found.reason, found.retryable) == (Reason.NOT_REACHABLE, True)


async def test_a_directory_that_is_not_there_fails_as_such(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = answer()
    with pytest.raises(FileNotFoundError):
        await fetch(server, tmp_path / "missing")
