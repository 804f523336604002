"""`python -m deploy.smoke`: holds for a sidecar that is right, and fails for each way of being wrong."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from deploy import smoke as command
from deploy.smoke import CODE, KNOWN, ORGANIZATION, Check, smoke
from retrieval_sidecar import smoke as organization
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.local_database import LocalServer
from tests.support.database import TestDatabase, clone
from tests.support.inspection import rows
from tests.support.sidecar import VoiceClient, connected, running_sidecar

SENTINEL = "sentinel-secret"


@pytest_asyncio.fixture(scope="module")
async def database(postgres: LocalServer, empty_template: str) -> AsyncIterator[TestDatabase]:
    with clone(postgres, empty_template) as made:
        yield made


@pytest_asyncio.fixture(scope="module")
async def sidecar(database: TestDatabase) -> AsyncIterator[VoiceClient]:
    """A sidecar with the smoke test's organization, and the embedder that decides what is not known."""
    embedders = Embedders(LocalEmbedder())
    await embedders.start()
    async with connected(database, "manage") as manage, connected(database, "owner") as owner:
        _, token = await organization.set_up(manage, owner, embedders)
    async with running_sidecar(database, token, embedder=embedders) as client:
        yield client


@dataclass(frozen=True)
class Seen:
    """An exchange, and what comes of it for who asks."""

    path: str
    asked: str
    status: int
    body: str
    headers: dict[str, str]


Tamper = Callable[[Seen], Seen]


@asynccontextmanager
async def tampered(sidecar: VoiceClient, tamper: Tamper) -> AsyncIterator[str]:
    """The sidecar behind a proxy that changes its answers."""

    async def forward(request: web.Request) -> web.Response:
        asked = await request.read()
        passed = {name: value for name, value in request.headers.items() if name in {"Authorization", "Content-Type"}}
        url = sidecar.url + request.path
        async with http.request(request.method, url, data=asked or None, headers=passed) as answer:
            seen = Seen(request.path, asked.decode(), answer.status, await answer.text(), {})
            changed = tamper(seen)
            content_type = answer.content_type
        return web.Response(
            status=changed.status, text=changed.body, headers=changed.headers, content_type=content_type
        )

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", forward)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        async with aiohttp.ClientSession() as http:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
def one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another check is looked at: one search is timed, and not ten."""
    monkeypatch.setattr(command, "SEARCHES", 1)


def failed(checks: list[Check]) -> set[str]:
    return {check.name for check in checks if not check.ok}


async def test_all_holds_for_a_sidecar_that_is_right(sidecar: VoiceClient) -> None:
    checks = await smoke(sidecar.url, sidecar.token, 10_000)
    assert failed(checks) == set(), [check for check in checks if not check.ok]
    assert len(checks) == 14


def on(where: str, change: Callable[[Seen], Seen]) -> Tamper:
    return lambda seen: change(seen) if where in seen.path else seen


def status(number: int) -> Callable[[Seen], Seen]:
    return lambda seen: replace(seen, status=number)


def body(**fields: object) -> Callable[[Seen], Seen]:
    return lambda seen: replace(seen, body=json.dumps(json.loads(seen.body) | fields))


RESULT = {"type": "knowledge", "id": "1", "chunkIndex": 0, "title": "t", "content": f"Enter {CODE}", "sourceUrl": None}
SEARCH = "knowledge-search"
WRONG: list[tuple[str, Tamper, set[str]]] = [
    ("not ready", on("/readyz", body(status="not_ready")), {"ready"}),
    ("another contract", on("/readyz", body(contractSha256="0" * 64)), {"contract"}),
    ("another document", on("/openapi.yaml", lambda seen: replace(seen, body=seen.body + "\n")), {"contract"}),
    (
        "open to all",
        lambda seen: replace(seen, status=201) if seen.status == 401 else seen,
        {"no token is refused"},
    ),
    (
        "every number is answered",
        lambda seen: replace(seen, status=201) if "+15555550194" in seen.asked else seen,
        {"an unknown number is refused"},
    ),
    (
        "nothing is found",
        on(SEARCH, body(status="no_match", results=[])),
        {"a known answer is found", "a restricted agent finds its own alone", "a scope of nothing finds nothing"},
    ),
    (
        "by words alone",
        lambda seen: body(degraded=True)(seen) if KNOWN in seen.asked and seen.status == 200 else seen,
        {"a known answer is found"},
    ),
    (
        "all is found",
        lambda seen: body(status="ok", results=[RESULT])(seen) if SEARCH in seen.path and seen.status == 200 else seen,
        {
            "what is not known is not found",
            "a restricted agent finds its own alone",
            "a scope of nothing finds nothing",
        },
    ),
    (
        "foreign ids are answered",
        lambda seen: replace(seen, status=200) if SEARCH in seen.path and seen.status == 404 else seen,
        {"foreign ids are refused"},
    ),
    (
        "a blank query is answered",
        lambda seen: replace(seen, status=200) if SEARCH in seen.path and seen.status == 400 else seen,
        {"a blank query is refused"},
    ),
    ("calls do not end", on("/end", status(503)), {"calls end"}),
    (
        "an error shows the database",
        lambda seen: replace(seen, body='{"detail": "postgresql://voice@db.test/a"}') if seen.status == 404 else seen,
        {"no secret in any answer"},
    ),
]


@pytest.mark.usefixtures("one_search")
@pytest.mark.parametrize(("tamper", "named"), [each[1:] for each in WRONG], ids=[each[0] for each in WRONG])
async def test_each_way_of_being_wrong_is_named(sidecar: VoiceClient, tamper: Tamper, named: set[str]) -> None:
    async with tampered(sidecar, tamper) as url:
        assert failed(await smoke(url, sidecar.token, 10_000)) == named


@pytest.mark.usefixtures("one_search")
async def test_a_token_that_comes_back_is_a_secret_told(sidecar: VoiceClient) -> None:
    secret = sidecar.token.split("_", 2)[2]
    async with tampered(sidecar, lambda seen: replace(seen, headers={"X-Seen": f"a{secret}b"})) as url:
        checks = await smoke(url, sidecar.token, 10_000)
    assert failed(checks) == {"no secret in any answer"}
    assert not [check for check in checks if secret in check.found], "nor is it told on"


@pytest.mark.usefixtures("one_search")
async def test_a_slow_sidecar_is_named(sidecar: VoiceClient) -> None:
    assert failed(await smoke(sidecar.url, sidecar.token, 0.001)) == {"fast enough"}


async def test_where_nothing_answers_all_fails_and_nothing_is_raised() -> None:
    checks = await smoke("http://127.0.0.1:1", f"alv_x_{SENTINEL}", 1000)
    assert failed(checks) >= {"ready", "contract", "bootstrap", "a known answer is found", "calls end"}
    assert not [check for check in checks if SENTINEL in check.found]


@pytest.mark.usefixtures("one_search")
async def test_another_organization_at_that_number_is_not_asked(sidecar: VoiceClient) -> None:
    other = json.dumps("6f0d2c1e-58a4-4b0e-9d63-2b7c41d8e905")
    async with tampered(
        sidecar, lambda seen: replace(seen, body=seen.body.replace(json.dumps(ORGANIZATION), other))
    ) as url:
        checks = {check.name: check for check in await smoke(url, sidecar.token, 10_000)}
    assert not checks["bootstrap"].ok
    assert not checks["a known answer is found"].ok


async def test_the_command_prints_a_line_each_or_one_object(sidecar: VoiceClient, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(sidecar.token + "\n")
    argv = [sys.executable, "-m", "deploy.smoke", "--token-file", str(token), "--slowest-ms", "10000"]

    async def run(*arguments: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(*argv, *arguments, stdout=subprocess.PIPE)
        said, _ = await process.communicate()
        assert sidecar.token not in said.decode()
        return process.returncode, said.decode()

    status, lines = await run(sidecar.url)
    assert (status, [line[:6] for line in lines.splitlines()]) == (0, ["ok    "] * 14)
    status, machine = await run("http://127.0.0.1:1", "--json")
    told = json.loads(machine)
    assert (status, told["passed"], len(told["checks"])) == (1, False, 14)


async def test_it_goes_as_it_came(empty_database: TestDatabase) -> None:
    tables = (
        "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'"
    )

    async def filled() -> list[str]:
        names = [row[0] for row in await rows(empty_database, tables)]
        return [name for name in names if await rows(empty_database, f"select from {name} limit 1")]

    before = await filled()
    embedders = Embedders(FakeEmbedder())
    async with connected(empty_database, "manage") as manage, connected(empty_database, "owner") as owner:
        await organization.set_up(manage, owner, embedders)
        _, token = await organization.set_up(manage, owner, embedders)
        async with running_sidecar(empty_database, token, embedder=embedders) as client:
            # What is found by this embedder is not looked at here; that calls and searches were made is.
            assert not failed(await smoke(client.url, token, 10_000)) & {"ready", "bootstrap", "calls end"}
        assert await organization.remove(owner)
        assert not await organization.remove(owner)
    assert await filled() == before
