"""A call whose worker is in a network namespace of its own, with routes to LiveKit, voice API and model provider alone.

Run as a process of its own, in a namespace that is only its (`demo.netns`): `python -m tests.support.isolated_worker`,
with a plan and a report. All other parts stand there, "the site", each at an address of its own; the worker is behind
a cable (veth).
"""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from pydantic import BaseModel, ConfigDict

from demo import livekit_server
from demo.conversation import Plan, Server, bring_up_services, hold_call, worker_environment
from demo.held import HeldCall
from demo.livekit_server import LiveKitServer
from demo.processes import answers, running
from demo.scenario import Scenario

# The site's end of the cable, the worker's, and the site's services.
GATE, WORKER = "10.77.0.1", "10.77.0.2"
LIVEKIT, VOICE, MODELS, PRIVATE = "10.77.1.1", "10.77.1.2", "10.77.1.3", "10.77.1.4"
VOICE_PORT, MODELS_PORT, DATABASE_PORT, MANAGEMENT_PORT = 8090, 8095, 5432, 8080
OUTSIDE: Final = ("192.0.2.1", 443)  # an address of the internet, as documentation writes it

_PROBE: Final = """
import errno, json, socket, sys
found = {}
for name, (host, port) in json.loads(sys.argv[1]).items():
    try:
        socket.create_connection((host, port), timeout=3).close()
        found[name] = "open"
    except TimeoutError:
        found[name] = "silent"
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno or 0, "?")
print(json.dumps(found))
"""


class IsolatedReport(BaseModel):
    """What came of it: the call, and what could be reached from where."""

    model_config = ConfigDict(frozen=True)

    call: HeldCall
    from_worker: dict[str, str]
    from_site: dict[str, str]
    routes: list[str]
    same_namespace: bool
    sees_socket: bool


async def hold(plan: Plan, scenario: Scenario) -> IsolatedReport:
    """Bring all up, hold the first question of the first call, and try every door from both sides."""
    async with AsyncExitStack() as parts:
        folder = _socket_folder(plan)
        cable = await parts.enter_async_context(_worker_namespace(folder))
        providers = await bring_up_services(plan, scenario, parts)
        await parts.enter_async_context(_forwarding((MODELS, MODELS_PORT), ("127.0.0.1", MODELS_PORT)))
        await parts.enter_async_context(_forwarding((PRIVATE, DATABASE_PORT), folder / f".s.PGSQL.{DATABASE_PORT}"))
        await parts.enter_async_context(
            running(
                "the management API",
                [sys.executable, "-m", "retrieval_sidecar", "manage"],
                log=plan.folder / "management.log",
                environment=plan.environment | {"ANSWERLINE_MANAGEMENT_HOST": PRIVATE},
                is_ready=lambda: answers(f"http://{PRIVATE}:{MANAGEMENT_PORT}/readyz"),
            )
        )
        livekit = await parts.enter_async_context(_livekit(plan))
        server = Server(url=livekit.url, key=livekit.key, secret=livekit.secret)
        log = plan.folder / "worker.log"

        async def registered() -> bool:
            return "registered worker" in log.read_text(encoding="utf-8", errors="replace")

        worker = await parts.enter_async_context(
            running(
                "the worker",
                [*cable.enter, sys.executable, "-m", "worker", "start"],
                log=log,
                environment=worker_environment(plan, server, providers)
                | {
                    "ANSWERLINE_SIDECAR_URL": f"http://{VOICE}:{VOICE_PORT}",
                    "OPENAI_BASE_URL": f"http://{MODELS}:{MODELS_PORT}/v1",
                    "ANSWERLINE_IDLE_PROCESSES": "1",
                    "NO_PROXY": "*",
                },
                is_ready=registered,
            )
        )
        planned = scenario.calls[0]
        call = await hold_call(
            server, planned.model_copy(update={"questions": planned.questions[:1]}), plan.folder / "call.wav"
        )
        doors = {
            "livekit": (LIVEKIT, urlsplit(server.url).port),
            "voice": (VOICE, VOICE_PORT),
            "models": (MODELS, MODELS_PORT),
            "database": (PRIVATE, DATABASE_PORT),
            "management": (PRIVATE, MANAGEMENT_PORT),
            "management beside voice": (VOICE, MANAGEMENT_PORT),
            "database beside livekit": (LIVEKIT, DATABASE_PORT),
            "outside": OUTSIDE,
        }
        probe = [sys.executable, "-c", _PROBE, json.dumps(doors)]
        return IsolatedReport(
            call=call,
            from_worker=json.loads(await _said(*cable.enter, *probe)),
            from_site=json.loads(await _said(*probe)),
            routes=(await _said(*cable.enter, "ip", "route")).split("\n"),
            same_namespace=_namespace(worker.pid) == _namespace(cable.pid),
            sees_socket=await _said(*cable.enter, "ls", "-A", str(folder)) != "",
        )


class _Cable:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.enter = ["nsenter", "--target", str(pid), "--net", "--mount", "--"]


@asynccontextmanager
async def _worker_namespace(hidden: Path) -> AsyncIterator[_Cable]:
    """A namespace at the other end of a cable, where three hosts can be reached and a folder is empty."""
    holder = await asyncio.create_subprocess_exec(
        *("unshare", "--net", "--mount", "--propagation", "private", "--"),
        *("sh", "-c", f"mount -t tmpfs none '{hidden}' && echo ready && exec cat"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"ready\n"
        cable = _Cable(holder.pid)
        await _said("ip", "link", "add", "site", "type", "veth", "peer", "name", "worker", "netns", str(holder.pid))
        await _said("ip", "addr", "add", f"{GATE}/30", "dev", "site")
        for address in (LIVEKIT, VOICE, MODELS, PRIVATE):
            await _said("ip", "addr", "add", f"{address}/32", "dev", "site")
        await _said("ip", "link", "set", "site", "up")
        await _said(*cable.enter, "ip", "link", "set", "lo", "up")
        await _said(*cable.enter, "ip", "addr", "add", f"{WORKER}/30", "dev", "worker")
        await _said(*cable.enter, "ip", "link", "set", "worker", "up")
        for address in (LIVEKIT, VOICE, MODELS):
            await _said(*cable.enter, "ip", "route", "add", f"{address}/32", "via", GATE)
        yield cable
    finally:
        holder.terminate()
        await holder.wait()


@asynccontextmanager
async def _livekit(plan: Plan) -> AsyncIterator[LiveKitServer]:
    """As in the demo, but at an address that both sides reach."""
    assert plan.livekit_program is not None
    turn = livekit_server._free_port(socket.SOCK_DGRAM)
    server = LiveKitServer(f"ws://{LIVEKIT}:7880", "APIisolated", "secret-of-a-test-with-32-characters")
    config: dict[str, Any] = livekit_server._config(server, 7880) | {"bind_addresses": [LIVEKIT]}
    config["rtc"] |= {
        "node_ip": LIVEKIT,
        "interfaces": {"includes": ["site"]},
        "ips": {"includes": [f"{LIVEKIT}/32"]},
        "stun_servers": [f"{LIVEKIT}:{turn}"],
    }
    config["turn"] |= {"udp_port": turn, "bind_addresses": [LIVEKIT]}
    path, log = plan.folder / "livekit.yaml", plan.folder / "livekit.log"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            plan.livekit_program, "--config", path, stdout=output, stderr=output
        )
    try:
        await livekit_server._wait_until_ready(server, process, log)
        yield server
    finally:
        await livekit_server._stop(process)


@asynccontextmanager
async def _forwarding(at: tuple[str, int], to: tuple[str, int] | Path) -> AsyncIterator[None]:
    """Whoever connects here is connected to there."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened = asyncio.open_unix_connection(to) if isinstance(to, Path) else asyncio.open_connection(*to)
        there, back = await opened
        await asyncio.gather(pump(reader, back), pump(there, writer))

    async with await asyncio.start_server(connect, *at):
        yield


def _socket_folder(plan: Plan) -> Path:
    url = urlsplit(plan.environment["DATABASE_URL"])
    return Path(unquote(parse_qs(url.query)["host"][0]))


def _namespace(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


async def _said(*argv: str) -> str:
    process = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE)
    said, _ = await process.communicate()
    assert process.returncode == 0, argv
    return said.decode().strip()


if __name__ == "__main__":
    held = asyncio.run(hold(Plan.model_validate_json(Path(sys.argv[1]).read_text("utf-8")), Scenario.read()))
    Path(sys.argv[2]).write_text(held.model_dump_json(), encoding="utf-8")
