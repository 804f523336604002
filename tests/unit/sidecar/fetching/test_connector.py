"""That the address which is judged is the one which is connected to, on every hop, and TLS with the name."""

import errno
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
import trustme
from aiohttp.abc import ResolveResult

from retrieval_sidecar.fetching import FetchLimits, PageFailure, Reason, fetch_page
from retrieval_sidecar.fetching.addresses import why_refused
from retrieval_sidecar.fetching.connector import NotPublic, public_connector
from tests.support.page_server import (
    HERE,
    HTML,
    LocalResolver,
    PageServer,
    answer,
    here_is_public,
    left_in,
    page_server,
    redirect,
)
from tests.support.refused_addresses import REFUSED_ADDRESSES

PUBLIC = "93.184.215.14"  # never connected to: each of these tests refuses before
EXAMPLES = [(name, text) for name, texts in REFUSED_ADDRESSES.items() for text in texts]


@pytest.fixture
async def server() -> AsyncIterator[PageServer]:
    async with page_server() as running:
        running.pages["/"] = answer()
        yield running


async def refused(resolver: LocalResolver, directory: Path, *, really: bool = True) -> PageFailure:
    """The refusal of http://site.example/, by the real rule or by the tests'."""
    rule = why_refused if really else here_is_public
    with pytest.raises(PageFailure) as caught:
        await fetch_page("http://site.example/", directory, resolver=resolver, rule=rule)
    assert left_in(directory) == []
    return caught.value


@pytest.mark.parametrize(("name", "text"), EXAMPLES)
async def test_a_name_of_an_address_that_is_not_public_is_refused(tmp_path: Path, name: str, text: str) -> None:
    found = await refused(LocalResolver({}, site_example=[[text]]), tmp_path)
    assert found.reason is Reason.ADDRESS_REFUSED
    assert f"({name})" in str(found)
    assert text not in str(found)


async def test_the_real_rule_keeps_from_a_server_that_is_there(server: PageServer, tmp_path: Path) -> None:
    resolver = LocalResolver({80: server.port}, site_example=[[HERE]])
    assert (await refused(resolver, tmp_path)).reason is Reason.ADDRESS_REFUSED
    assert server.connections == 0


@pytest.mark.parametrize("addresses", [[PUBLIC, "127.0.0.2"], ["127.0.0.2", PUBLIC], [HERE, "fd00:ec2::254"]])
async def test_a_name_of_several_addresses_is_refused_for_any_one(
    server: PageServer, tmp_path: Path, addresses: list[str]
) -> None:
    resolver = LocalResolver({80: server.port}, site_example=[addresses])
    assert (await refused(resolver, tmp_path, really=False)).reason is Reason.ADDRESS_REFUSED
    assert server.connections == 0


async def test_a_name_is_looked_up_once_and_that_address_is_connected_to(server: PageServer, tmp_path: Path) -> None:
    resolver = LocalResolver({80: server.port}, site_example=[[HERE], ["169.254.169.254"]])
    fetched = await fetch_page("http://site.example/", tmp_path, resolver=resolver, rule=here_is_public)
    assert fetched.path.read_bytes() == HTML
    assert resolver.looked_up == ["site.example"]


async def test_a_name_that_changes_between_two_hops_is_judged_anew(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = redirect("/b")
    server.pages["/b"] = answer()
    resolver = LocalResolver({80: server.port}, site_example=[[HERE], ["127.0.0.2"]])
    assert (await refused(resolver, tmp_path, really=False)).reason is Reason.ADDRESS_REFUSED
    assert resolver.looked_up == ["site.example", "site.example"]
    assert server.connections == 1


async def test_a_redirect_to_a_name_that_is_not_public_is_refused(server: PageServer, tmp_path: Path) -> None:
    server.pages["/"] = redirect("http://inside.example/")
    resolver = LocalResolver({80: server.port}, site_example=[[HERE]], inside_example=[["10.0.0.1"]])
    found = await refused(resolver, tmp_path, really=False)
    assert found.reason is Reason.ADDRESS_REFUSED
    assert str(found).startswith("inside.example is not on the public internet (private network)")


class Turning(list[ResolveResult]):
    """An answer that changes after it was judged: to read it a second time is to read something else."""

    def __init__(self, judged: list[ResolveResult], connected: list[ResolveResult]) -> None:
        super().__init__(judged)
        self._turns = [judged, connected]

    def __iter__(self) -> Iterator[ResolveResult]:
        return iter(self._turns.pop(0) if len(self._turns) > 1 else self._turns[0])


async def test_the_address_is_judged_again_when_its_socket_is_made(server: PageServer, tmp_path: Path) -> None:
    class Rebinding(LocalResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            return Turning(await super().resolve(host, port, family), await super().resolve(host, port, family))

    resolver = Rebinding({80: server.port}, site_example=[[PUBLIC], [HERE]])
    assert (await refused(resolver, tmp_path)).reason is Reason.ADDRESS_REFUSED
    assert server.connections == 0


@pytest.mark.parametrize("host", [HERE, "[::1]", "[::ffff:127.0.0.1]"])
async def test_an_address_in_numbers_asks_no_resolver_and_is_judged_all_the_same(server: PageServer, host: str) -> None:
    resolver = LocalResolver({})
    async with aiohttp.ClientSession(connector=public_connector(why_refused, resolver)) as session:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get(f"http://{host}:{server.port}/")
    assert isinstance(caught.value.os_error, NotPublic)
    assert (resolver.looked_up, server.connections) == ([], 0)


async def test_the_system_s_resolver_is_judged_too(server: PageServer) -> None:
    async with aiohttp.ClientSession(connector=public_connector(why_refused)) as session:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await session.get(f"http://localhost:{server.port}/")
    assert isinstance(caught.value.os_error, NotPublic)
    assert server.connections == 0


async def test_a_name_that_nobody_has_is_not_found(tmp_path: Path) -> None:
    found = await refused(LocalResolver({}), tmp_path)
    assert (found.reason, found.retryable) == (Reason.NAME_NOT_FOUND, False)
    assert (await refused(LocalResolver({}, site_example=[[]]), tmp_path)).reason is Reason.NAME_NOT_FOUND


@pytest.mark.parametrize("number", [socket.EAI_AGAIN, errno.ETIMEDOUT])
async def test_a_name_service_in_trouble_is_asked_again_later(tmp_path: Path, number: int) -> None:
    class Failing(LocalResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[ResolveResult]:
            kind = socket.gaierror if number == socket.EAI_AGAIN else OSError
            raise kind(number, "no answer")

    found = await refused(Failing({}), tmp_path)
    assert (found.reason, found.retryable) == (Reason.NOT_REACHABLE, True)


async def test_a_connection_that_is_never_made_is_left_in_time(tmp_path: Path) -> None:
    with socket.create_server((HERE, 0)) as silent:  # takes connections and says nothing to a TLS handshake
        resolver = LocalResolver({443: silent.getsockname()[1]}, site_example=[[HERE]])
        limits = FetchLimits(seconds=60, connect_seconds=0.1)
        with pytest.raises(PageFailure) as caught:
            await fetch_page("https://site.example/", tmp_path, limits, resolver=resolver, rule=here_is_public)
    assert (caught.value.reason, caught.value.retryable) == (Reason.NOT_REACHABLE, True)


# TLS.


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def tls_server(authority: trustme.CA) -> AsyncIterator[PageServer]:
    """A server whose certificate is for site.example."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("site.example").configure_cert(context)
    async with page_server(context) as running:
        running.pages["/"] = answer()
        yield running


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def tls_refusal(resolver: LocalResolver, directory: Path, url: str, tls: ssl.SSLContext | None) -> Reason:
    with pytest.raises(PageFailure) as caught:
        await fetch_page(url, directory, FetchLimits(), resolver=resolver, rule=here_is_public, tls=tls)
    return caught.value.reason


async def test_a_page_arrives_over_tls(tls_server: PageServer, authority: trustme.CA, tmp_path: Path) -> None:
    resolver = LocalResolver({443: tls_server.port}, site_example=[[HERE]])
    fetched = await fetch_page(
        "https://site.example/", tmp_path, resolver=resolver, rule=here_is_public, tls=trusting(authority)
    )
    assert fetched.path.read_bytes() == HTML


async def test_a_certificate_of_another_name_is_refused(
    tls_server: PageServer, authority: trustme.CA, tmp_path: Path
) -> None:
    resolver = LocalResolver({443: tls_server.port}, other_example=[[HERE]])
    reason = await tls_refusal(resolver, tmp_path, "https://other.example/", trusting(authority))
    assert reason is Reason.CERTIFICATE_REFUSED
    assert tls_server.requests == []


async def test_a_certificate_of_an_unknown_authority_is_refused(tls_server: PageServer, tmp_path: Path) -> None:
    resolver = LocalResolver({443: tls_server.port}, site_example=[[HERE]])
    assert await tls_refusal(resolver, tmp_path, "https://site.example/", None) is Reason.CERTIFICATE_REFUSED
    assert tls_server.requests == []


async def test_a_server_without_tls_is_not_trusted(server: PageServer, tmp_path: Path) -> None:
    resolver = LocalResolver({443: server.port}, site_example=[[HERE]])
    assert await tls_refusal(resolver, tmp_path, "https://site.example/", None) is Reason.CERTIFICATE_REFUSED
    assert server.requests == []
