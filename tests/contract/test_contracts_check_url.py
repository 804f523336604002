"""`python -m contracts check --url` against a server that serves what each case says."""

import asyncio
import sys
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from contracts import management, pins
from contracts.documents import digest
from contracts.voice import Checks, Readiness

ROOT = Path(__file__).parents[2]


async def asked(readiness: object, served: bytes = pins.document()) -> tuple[int, str]:
    async def readyz(_request: web.Request) -> web.Response:
        if isinstance(readiness, Readiness):
            return web.Response(text=readiness.to_wire(), status=503)
        return web.json_response(readiness)

    async def document(_request: web.Request) -> web.Response:
        return web.Response(body=served, content_type="application/yaml")

    app = web.Application()
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/internal/voice/v1/openapi.yaml", document)
    async with TestServer(app) as server:
        return await check_url(str(server.make_url("/")))


def readiness_of(**changed: str) -> Readiness:
    pin = pins.voice()
    return Readiness(
        status="not_ready",
        contract_version=changed.get("version", pin.version),
        contract_sha256=changed.get("sha256", pin.sha256),
        checks=Checks(database="ok", migrations="ok", embedder="failing"),
    )


async def test_the_same_contract_passes() -> None:
    status, told = await asked(readiness_of())
    assert status == 0, told
    assert f"speaks the contract, {pins.voice().version}" in told
    assert "is not ready" in told


async def test_a_newer_minor_passes() -> None:
    version, served = newer(minors=1)
    ahead = readiness_of(version=version, sha256=digest(served))
    assert (await asked(ahead, served))[0] == 0


async def test_another_major_fails() -> None:
    version, served = newer(majors=1)
    ahead = readiness_of(version=version, sha256=digest(served))
    status, told = await asked(ahead, served)
    assert status == 1
    assert "same major version" in told


async def test_other_bytes_under_the_same_version_fail() -> None:
    status, told = await asked(readiness_of(), pins.document() + b"\n")
    assert status == 1
    assert "another digest than /readyz reports" in told
    assert "byte for byte" in told


async def test_another_digest_fails() -> None:
    status, told = await asked(readiness_of(sha256="0" * 64))
    assert status == 1
    assert "reports another digest" in told


async def test_a_document_of_another_version_fails() -> None:
    _, served = newer(minors=1)
    status, told = await asked(readiness_of(sha256=digest(served)), served)
    assert status == 1
    assert "another version than /readyz reports" in told


async def test_something_else_than_a_sidecar_fails() -> None:
    status, told = await asked({"status": "UP"})
    assert status == 1
    assert "did not answer as a retrieval sidecar does" in told


async def test_a_sidecar_that_is_down_fails() -> None:
    async with TestServer(web.Application()) as server:
        down = str(server.make_url("/"))
        status, told = await check_url(down)
        assert status == 1
        assert "answered 404" in told
    status, told = await check_url(down)
    assert status == 1
    assert "is the sidecar up?" in told
    assert (await check_url("localhost:8090"))[0] == 1


@pytest.mark.parametrize(
    ("ours", "theirs", "fits"),
    [
        ("1.2.0", "1.2.0", True),
        ("1.2.3", "1.2.0", True),
        ("1.2.0", "1.10.0", True),
        ("1.2.0", "1.1.9", False),
        ("1.2.0", "2.2.0", False),
        ("2.0.0", "1.9.0", False),
    ],
)
def test_a_client_needs_the_same_major_and_at_least_its_minor(ours: str, theirs: str, *, fits: bool) -> None:
    assert pins.compatible(ours, theirs) is fits


@pytest.mark.parametrize("version", ["1.0", "1.0.0-rc", "one", "", "1.0.0.0"])
def test_a_version_has_three_numbers(version: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        pins.compatible("1.0.0", version)


async def test_the_management_api_is_asked_for_its_own_contract() -> None:
    pin = pins.management()
    ready = management.Readiness(
        status="ready",
        contract_version=pin.version,
        contract_sha256=pin.sha256,
        checks=management.Checks(database="ok", migrations="ok", embedder="ok"),
    )

    async def readyz(_request: web.Request) -> web.Response:
        return web.Response(text=ready.to_wire())

    async def document(_request: web.Request) -> web.Response:
        return web.Response(body=pins.document("management"), content_type="application/yaml")

    app = web.Application()
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/api/v1/openapi.yaml", document)
    async with TestServer(app) as server:
        url = str(server.make_url("/"))
        status, told = await check_url(url, "--document", "management")
        assert (status, f"speaks the contract, {pin.version}" in told) == (0, True), told
        status, told = await check_url(url)
        assert (status, "did not answer as a retrieval sidecar does" in told) == (1, True), told


def newer(*, majors: int = 0, minors: int = 0) -> tuple[str, bytes]:
    """The version and the bytes of a document that is ahead of ours."""
    ours = pins.voice().version
    major, minor, patch = pins.semantic(ours)
    version = f"{major + majors}.{minor + minors}.{patch}"
    return version, pins.document().replace(f"  version: {ours}".encode(), f"  version: {version}".encode(), 1)


async def check_url(url: str, *more: str) -> tuple[int, str]:
    """The exit status of `check --url`, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "contracts", "check", "--url", url, *more),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, told.decode()
