"""The AgentServer: takes jobs from LiveKit, each in a warm process of its own."""

import asyncio
import math
import signal
from functools import partial
from pathlib import Path

import structlog
from livekit.agents import AgentServer, JobProcess

from contracts import tracing
from worker import entrypoint, logs, metrics
from worker.settings import Settings

_END_S = 30.0

log = structlog.get_logger(__name__)


def prewarm(settings: Settings, measures: Path | None, process: JobProcess) -> None:
    """Prepare a process before it has a call: the imports are done by unpickling this function."""
    logs.configure_job_process()
    tracing.configure("answerline-worker", endpoint=settings.otlp_endpoint, ratio=settings.trace_ratio)
    metrics.send_to(measures)
    process.userdata[entrypoint.SETTINGS] = settings


def create_server(settings: Settings, measures: Path | None = None) -> AgentServer:
    """The server, registered for explicit dispatch under the agent's name.

    Args:
        settings: the worker's.
        measures: the socket that takes what calls measure.
    """
    # LiveKit offers no call to a worker that reports a load of 1, whatever the worker's own threshold is.
    unlimited = math.isinf(settings.load_threshold)
    server = AgentServer(
        ws_url=str(settings.livekit_url),
        api_key=settings.livekit_api_key,
        api_secret=settings.livekit_api_secret.get_secret_value(),
        http_proxy=settings.livekit_proxy,
        host=settings.worker_host,
        port=settings.worker_port,
        load_threshold=settings.load_threshold,
        load_fnc=(lambda: 0.0) if unlimited else None,
        num_idle_processes=settings.idle_processes,
        drain_timeout=settings.drain_s,
        session_end_timeout=_END_S,
        setup_fnc=partial(prewarm, settings, measures),
        preload_modules=["worker.entrypoint"],
        log_level=settings.log_level.upper() if settings.log_level != "warning" else "WARN",
    )
    server.rtc_session(entrypoint.answer, agent_name=settings.agent_name, on_session_end=entrypoint.finish)
    return server


async def serve(settings: Settings) -> None:
    """Take calls until SIGTERM or SIGINT, then let those that run end; a second signal hurries.

    Raises:
        OSError: when metrics cannot be served where the settings say.
        RuntimeError: when LiveKit cannot be reached.
    """
    with metrics.socket_path(settings) as measures:
        server = create_server(settings, measures)
        async with metrics.served(settings, measures, lambda: len(server.active_jobs)):
            await _serve(server)


async def _serve(server: AgentServer) -> None:
    loop = asyncio.get_running_loop()
    told, hurried = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (hurried if told.is_set() else told).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    running = asyncio.create_task(server.run(devmode=False))
    if not await _done_before(running, told):
        log.info("draining")
        draining = asyncio.create_task(server.drain())
        if not await _done_before(draining, hurried) or draining.exception():
            log.warning("calls_cut_short")
        draining.cancel()  # it holds the lock that closing takes
    await server.aclose()
    await running


async def _done_before(task: asyncio.Task[None], event: asyncio.Event) -> bool:
    """Wait for the first of the two, and say whether the task was it."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    return task.done()
