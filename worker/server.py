"""The AgentServer: takes jobs from LiveKit, each in a warm process of its own."""

import asyncio
import contextlib
import signal
from functools import partial

import structlog
from livekit.agents import AgentServer, JobProcess

from worker import entrypoint, logs
from worker.settings import Settings

_END_S = 30.0

log = structlog.get_logger(__name__)


def prewarm(settings: Settings, process: JobProcess) -> None:
    """Prepare a process before it has a call: the imports are done by unpickling this function."""
    logs.configure_job_process()
    process.userdata[entrypoint.SETTINGS] = settings


def create_server(settings: Settings) -> AgentServer:
    """The server, registered for explicit dispatch under the agent's name."""
    server = AgentServer(
        ws_url=str(settings.livekit_url),
        api_key=settings.livekit_api_key,
        api_secret=settings.livekit_api_secret.get_secret_value(),
        http_proxy=settings.livekit_proxy,
        host=settings.worker_host,
        port=settings.worker_port,
        load_threshold=settings.load_threshold,
        num_idle_processes=settings.idle_processes,
        drain_timeout=settings.drain_s,
        session_end_timeout=_END_S,
        setup_fnc=partial(prewarm, settings),
        preload_modules=["worker.entrypoint"],
        log_level=settings.log_level.upper() if settings.log_level != "warning" else "WARN",
    )
    server.rtc_session(entrypoint.answer, agent_name=settings.agent_name, on_session_end=entrypoint.finish)
    return server


async def serve(server: AgentServer) -> None:
    """Take calls until SIGTERM or SIGINT, then let those that run end; a second signal hurries.

    Raises:
        RuntimeError: when LiveKit cannot be reached.
    """
    loop = asyncio.get_running_loop()
    told, hurried = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (hurried if told.is_set() else told).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    running = asyncio.create_task(server.run(devmode=False))
    await _first(running, asyncio.create_task(told.wait()))
    if not running.done():
        log.info("draining")
        draining = asyncio.create_task(server.drain())
        await _first(draining, asyncio.create_task(hurried.wait()))
        if draining.done() and isinstance(draining.exception(), TimeoutError):
            log.warning("calls_cut_short")
    await server.aclose()
    await running


async def _first(*tasks: asyncio.Task[object]) -> None:
    """Wait for the first to be done; the last, which only waits, is then let go."""
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    tasks[-1].cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await tasks[-1]
