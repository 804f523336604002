"""`python -m worker check`, and the check that it and `start` make."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import unused_port

from contracts import pins
from tests.support.contract_exchange import broken_on_purpose
from tests.support.fake_sidecar import TOKEN, FakeSidecar, answering, in_turn, readiness
from worker.contract_check import check_sidecar
from worker.errors import (
    ContractMismatchError,
    SidecarRefusedError,
    SidecarUnavailableError,
    UnauthorizedError,
)
from worker.sidecar_client import SidecarClient

ROOT = Path(__file__).parents[3]
MAJOR, MINOR, PATCH = pins.semantic(pins.voice().version)
SECRETS = ("livekit-secret-value", "openai-key-value", TOKEN)


async def test_the_sidecar_of_this_release_is_right(client: SidecarClient, sidecar: FakeSidecar) -> None:
    assert (await check_sidecar(client, 0)).contract_version == pins.voice().version
    assert sidecar.ends == []


@pytest.mark.parametrize("version", [f"{MAJOR}.{MINOR + 1}.0", f"{MAJOR}.{MINOR}.{PATCH + 1}"])
async def test_a_newer_sidecar_of_the_same_major_is_right_whatever_its_digest(
    client: SidecarClient, sidecar: FakeSidecar, version: str
) -> None:
    sidecar.ready = answering(200, readiness(version=version, sha256="0" * 64).to_wire())
    assert (await check_sidecar(client, 0)).contract_version == version


@pytest.mark.parametrize("version", [f"{MAJOR + 1}.0.0", f"{MAJOR - 1}.9.0"])
async def test_another_major_is_refused_at_once(client: SidecarClient, sidecar: FakeSidecar, version: str) -> None:
    sidecar.ready = answering(200, readiness(version=version).to_wire())
    with pytest.raises(ContractMismatchError, match="Deploy a sidecar of this release"):
        await check_sidecar(client, 60)


async def test_an_older_minor_is_refused(
    client: SidecarClient, sidecar: FakeSidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = pins.Pin(f"{MAJOR}.{MINOR + 1}.0", "0" * 64)
    monkeypatch.setattr(pins, "voice", lambda: newer)
    with pytest.raises(ContractMismatchError, match=newer.version):
        await check_sidecar(client, 60)


async def test_the_same_version_with_another_document_is_refused(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.ready = answering(200, readiness(sha256="0" * 64).to_wire())
    with pytest.raises(ContractMismatchError, match="different documents"):
        await check_sidecar(client, 60)


async def test_a_sidecar_that_is_not_ready_yet_is_waited_for(client: SidecarClient, sidecar: FakeSidecar) -> None:
    not_yet = answering(503, readiness(ready=False).to_wire())
    sidecar.ready = in_turn(not_yet, not_yet, answering(200, readiness().to_wire()))
    assert (await check_sidecar(client, 30)).status == "ready"


async def test_waiting_ends(client: SidecarClient, sidecar: FakeSidecar) -> None:
    sidecar.ready = answering(503, readiness(ready=False).to_wire())
    with pytest.raises(SidecarUnavailableError, match="not_ready"):
        await check_sidecar(client, 0)


async def test_a_token_that_is_not_known_is_refused_at_once(sidecar: FakeSidecar) -> None:
    async with SidecarClient.connect(sidecar.url, "another-token") as stranger:
        with pytest.raises(UnauthorizedError):
            await check_sidecar(stranger, 60)


async def test_another_kind_of_server_is_refused_at_once(client: SidecarClient, sidecar: FakeSidecar) -> None:
    async def other(_request: web.Request) -> web.Response:
        return broken_on_purpose(web.Response(status=404, text="no such page"))

    sidecar.ready = other
    with pytest.raises(Exception, match="http_404") as raised:
        await check_sidecar(client, 60)
    assert not isinstance(raised.value, SidecarUnavailableError | SidecarRefusedError)


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    status: int | None
    out: str
    err: str


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Awaitable[Ran]]:
    """Run `python -m worker`, with a whole set of settings some of which are replaced."""

    async def run_worker(*arguments: str, **variables: str) -> Ran:
        environment = {
            "PATH": os.environ["PATH"],
            "LIVEKIT_URL": "ws://127.0.0.1:1",
            "LIVEKIT_API_KEY": "key",
            "LIVEKIT_API_SECRET": SECRETS[0],
            "OPENAI_API_KEY": SECRETS[1],
            "ANSWERLINE_SIDECAR_TOKEN": TOKEN,
            **variables,
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "worker",
            *arguments,
            cwd=ROOT,
            env={name: value for name, value in environment.items() if value},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        ran = Ran(process.returncode, out.decode(), err.decode())
        assert not any(secret in ran.out + ran.err for secret in SECRETS)
        assert "Traceback" not in ran.err
        return ran

    return run_worker


Run = Callable[..., Awaitable[Ran]]


async def test_check_succeeds_and_says_the_version(run: Run, sidecar: FakeSidecar) -> None:
    ran = await run("check", ANSWERLINE_SIDECAR_URL=sidecar.url)
    assert ran.status == 0, ran.err
    assert pins.voice().version in ran.out


@pytest.mark.parametrize("command", ["check", "start"])
async def test_a_sidecar_of_another_major_stops_both_commands(run: Run, sidecar: FakeSidecar, command: str) -> None:
    sidecar.ready = answering(200, readiness(version=f"{MAJOR + 1}.0.0").to_wire())
    ran = await run(command, ANSWERLINE_SIDECAR_URL=sidecar.url)
    assert ran.status == 1
    assert "Deploy a sidecar of this release" in ran.err


async def test_a_wrong_token_says_which_variable_is_wrong(run: Run, sidecar: FakeSidecar) -> None:
    ran = await run("check", ANSWERLINE_SIDECAR_URL=sidecar.url, ANSWERLINE_SIDECAR_TOKEN="unknown")
    assert ran.status == 1
    assert "ANSWERLINE_SIDECAR_TOKEN" in ran.err


@pytest.mark.parametrize("command", ["check", "start"])
async def test_a_sidecar_that_never_comes_up_stops_both_commands(run: Run, command: str) -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    ran = await run(command, ANSWERLINE_SIDECAR_URL=url, ANSWERLINE_SIDECAR_WAIT_S="0.4")
    assert ran.status == 1
    assert url in ran.err
    assert ("waiting_for_sidecar" in ran.err) == (command == "start")


async def test_missing_settings_have_an_exit_status_of_their_own(run: Run) -> None:
    ran = await run("check", LIVEKIT_URL="", OPENAI_API_KEY="")
    assert ran.status == 2
    assert "LIVEKIT_URL" in ran.err
    assert "OPENAI_API_KEY" in ran.err


async def test_help_and_the_table_need_no_settings(run: Run) -> None:
    for arguments in (("--help",), ("settings",)):
        ran = await run(*arguments, LIVEKIT_URL="", ANSWERLINE_SIDECAR_TOKEN="")
        assert ran.status == 0
    assert "| `ANSWERLINE_SIDECAR_TOKEN` | required |" in ran.out
