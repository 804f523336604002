"""`python -m demo run`: each part of the product as a process of its own, until it is told to end."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from demo.conversation import AGENT, SIDECAR
from demo.knowledge import organization_id, sidecar
from demo.processes import answers, running

MANAGEMENT = "http://127.0.0.1:8080"
ENVIRONMENT = "environment"
_KEY_DAYS = "1"


@dataclass(frozen=True, slots=True)
class _Part:
    """A process.

    Attributes:
        name: what its trouble is told by.
        argv: after the interpreter's `-m`.
        is_ready: given its log.
        says: what a person is told once it is.
    """

    name: str
    argv: tuple[str, ...]
    is_ready: Callable[[Path], Awaitable[bool]]
    says: str

    @property
    def log(self) -> str:
        return f"{self.argv[-1]}.log"


async def keep_up(environment: Mapping[str, str], folder: Path, console: Console, *, with_worker: bool) -> None:
    """Start the parts on the sample organization and wait for SIGINT or SIGTERM. Raises DemoError.

    Args:
        environment: of the sidecar's parts.
        folder: for the logs, with what `write_environment` wrote.
        console: where it tells what it does.
        with_worker: whether there is a LiveKit server to answer calls of.
    """
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with AsyncExitStack() as parts:
        for part in _parts(with_worker=with_worker):
            log = folder / part.log
            # The worker has no database, and its own token only.
            given = {**environment, "DATABASE_URL": ""} if part.argv[0] == "worker" else environment
            await parts.enter_async_context(
                running(
                    part.name,
                    [sys.executable, "-m", *part.argv],
                    log=log,
                    environment=given,
                    is_ready=lambda part=part, log=log: part.is_ready(log),  # type: ignore[misc]
                )
            )
            console.print(f"{part.says}; its log is {log.name}", markup=False)
        if not with_worker:
            console.print("No worker: set LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET and OPENAI_API_KEY for one.")
        console.print("Ctrl-C ends it.")
        await told.wait()


def write_environment(environment: Mapping[str, str], folder: Path) -> None:
    """Write what a shell needs to use the sidecar's commands, with an API key; for its owner's eyes only.

    Raises DemoError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ENVIRONMENT
    key = sidecar(
        *("key", "create", "make run", "--days", _KEY_DAYS, "--permission", "admin"),
        *("--organization", str(organization_id())),
        environment=environment,
        capture=True,
    )
    lines = {**environment, "ANSWERLINE_API_KEY": key.strip()}
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text("".join(f"{name}={shlex.quote(value)}\n" for name, value in lines.items()), encoding="utf-8")


def _parts(*, with_worker: bool) -> list[_Part]:
    parts = [
        _Part("the voice API", ("retrieval_sidecar", "serve"), _up(SIDECAR), f"The voice API is ready at {SIDECAR}"),
        _Part(
            "the management API",
            ("retrieval_sidecar", "manage"),
            _up(MANAGEMENT),
            f"The console is ready at {MANAGEMENT}/console/ (that API key signs in), its API beside it",
        ),
        _Part("the work on sources", ("retrieval_sidecar", "work"), _says("Starting"), "Sources are worked on"),
    ]
    if with_worker:
        parts.append(
            _Part("the worker", ("worker", "start"), _says("registered worker"), f"The worker answers as {AGENT!r}")
        )
    return parts


def _up(url: str) -> Callable[[Path], Awaitable[bool]]:
    async def is_ready(_log: Path) -> bool:
        return await answers(f"{url}/readyz")

    return is_ready


def _says(words: str) -> Callable[[Path], Awaitable[bool]]:
    async def is_ready(log: Path) -> bool:
        return words in await asyncio.to_thread(log.read_text, encoding="utf-8", errors="replace")

    return is_ready
