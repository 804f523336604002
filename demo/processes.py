"""Processes of the demo: started with a log of their own, waited for, ended by the id that was started."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

_POLL_S = 0.2
_STOP_S = 15.0


class DemoError(Exception):
    """Something of the demo did not come up; the text says what and where its log is."""


@asynccontextmanager
async def running(
    name: str,
    argv: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str],
    is_ready: Callable[[], Awaitable[bool]],
    patience_s: float = 60.0,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that is up while the block runs, its output in `log`.

    Raises:
        DemoError: it ended early, or was not ready in time.
    """
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *argv, stdout=output, stderr=output, env=os.environ | dict(environment), start_new_session=True
        )
    try:
        await _wait_ready(name, process, is_ready, patience_s, log)
        yield process
    finally:
        await _stop(process)


async def answers(url: str) -> bool:
    """Whether a GET of this URL is answered with 200."""
    try:
        timeout = aiohttp.ClientTimeout(total=2)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _wait_ready(
    name: str,
    process: asyncio.subprocess.Process,
    is_ready: Callable[[], Awaitable[bool]],
    patience_s: float,
    log: Path,
) -> None:
    try:
        async with asyncio.timeout(patience_s):
            while not await is_ready():
                if process.returncode is not None:
                    raise DemoError(f"{name} ended with status {process.returncode}; its log is {log}")
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise DemoError(f"{name} was not ready within {patience_s:.0f} s; its log is {log}") from error


async def _stop(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        # A kill goes to the whole session that the process leads: its children must not outlive it.
        if number is signal.SIGKILL:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        try:
            async with asyncio.timeout(_STOP_S):
                await process.wait()
        except TimeoutError:
            continue
