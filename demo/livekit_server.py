"""A LiveKit server of our own on loopback."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import yaml

from demo.processes import DemoError

_NAME: Final = "livekit-server"
_BUILT: Final = Path(__file__).parents[1] / ".cache" / "bin" / _NAME  # by `make livekit-server`
_LOOPBACK: Final = "127.0.0.1"
_START_S: Final = 20.0
_STOP_S: Final = 5.0
_POLL_S: Final = 0.05
_ATTEMPTS: Final = 3  # a port that was free may be taken before the server has it


class LiveKitServerError(DemoError):
    """The server that was named does not exist, or it did not start."""


@dataclass(frozen=True)
class LiveKitServer:
    """Where a server answers, and what signs its tokens."""

    url: str
    key: str
    secret: str = field(repr=False)


def find() -> Path | None:
    """The server's program: LIVEKIT_SERVER_BIN, else on PATH, else what `make livekit-server` built.

    Raises:
        LiveKitServerError: LIVEKIT_SERVER_BIN names no program.
    """
    if named := os.environ.get("LIVEKIT_SERVER_BIN"):
        if not _is_program(Path(named)):
            raise LiveKitServerError("LIVEKIT_SERVER_BIN names no program.")
        return Path(named)
    if on_path := shutil.which(_NAME):
        return Path(on_path)
    return _BUILT if _is_program(_BUILT) else None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


@asynccontextmanager
async def running(program: Path, *, log: Path) -> AsyncIterator[LiveKitServer]:
    """A server on loopback while the block runs, on free ports and with a key of its own.

    Args:
        program: as `find` gives it.
        log: a file that the server's output is appended to.

    Raises:
        LiveKitServerError: it ended, or did not answer in 20 s.
    """
    with tempfile.TemporaryDirectory(prefix="livekit-") as folder:
        for attempt in range(1, _ATTEMPTS + 1):
            server, process = await _start(program, Path(folder) / "livekit.yaml", log)
            try:
                await _wait_until_ready(server, process, log)
            except LiveKitServerError:
                await _stop(process)
                if attempt == _ATTEMPTS:
                    raise
                continue
            try:
                yield server
            finally:
                await _stop(process)
            return


async def _start(program: Path, config: Path, log: Path) -> tuple[LiveKitServer, asyncio.subprocess.Process]:
    port = _free_port(socket.SOCK_STREAM)
    server = LiveKitServer(f"ws://{_LOOPBACK}:{port}", f"API{secrets.token_hex(6)}", secrets.token_urlsafe(32))
    _write(config, _config(server, port))
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            program, "--config", config, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
        )
    return server, process


def _write(path: Path, config: dict[str, Any]) -> None:
    path.touch(mode=0o600)  # it holds the secret
    path.write_text(yaml.safe_dump(config), encoding="utf-8")


def _config(server: LiveKitServer, port: int) -> dict[str, Any]:
    """Everything on 127.0.0.1, also what clients are told.

    Without STUN servers of our own the server sends its clients to public ones; its own TURN listener answers STUN.
    """
    turn_port = _free_port(socket.SOCK_DGRAM)
    return {
        "port": port,
        "bind_addresses": [_LOOPBACK],
        "keys": {server.key: server.secret},
        "logging": {"level": "info", "json": True},
        "rtc": {
            "udp_port": _free_port(socket.SOCK_DGRAM),
            "tcp_port": 0,
            "use_external_ip": False,
            "node_ip": _LOOPBACK,
            "enable_loopback_candidate": True,
            "interfaces": {"includes": ["lo"]},
            "ips": {"includes": [f"{_LOOPBACK}/32"]},
            "stun_servers": [f"{_LOOPBACK}:{turn_port}"],
        },
        "turn": {"enabled": True, "udp_port": turn_port, "bind_addresses": [_LOOPBACK]},
        # a worker on a busy machine would be offered no call: the caller would hear it ring, and no more
        "agents": {"target_load": 0.99},
    }


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])


async def _wait_until_ready(server: LiveKitServer, process: asyncio.subprocess.Process, log: Path) -> None:
    address = server.url.replace("ws://", "http://")
    try:
        async with asyncio.timeout(_START_S), aiohttp.ClientSession() as session:
            while process.returncode is None:
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(address) as response:
                        if response.ok:
                            return
                await asyncio.sleep(_POLL_S)
    except TimeoutError:
        raise LiveKitServerError(f"The LiveKit server gave no answer in {_START_S:.0f} s; its log is {log}") from None
    raise LiveKitServerError(f"The LiveKit server ended with status {process.returncode}; its log is {log}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
