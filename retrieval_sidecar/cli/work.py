"""Working on the jobs."""

import asyncio
import signal

from retrieval_sidecar import metrics
from retrieval_sidecar.cli.shared import app, fail, read_settings, run, started
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.jobs import worker
from retrieval_sidecar.jobs.process import Workshop
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.jobs.reading import Reader
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.telemetry import configure_telemetry


@app.command()
def work() -> None:
    """Read, embed and index the sources that wait, until told to stop (SIGTERM or Ctrl-C).

    What is under way then is ended, or put back after some seconds. Any number of these may run, on any machine.
    """
    settings = read_settings()
    configure_telemetry(settings, "work")
    try:
        with metrics.served(settings):
            run(_work(settings))
    except ConfigurationError as error:
        fail(str(error))


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with started(settings) as embedders:
        await work_until(stop, settings, embedders)


async def work_until(stop: asyncio.Event, settings: Settings, embedders: Embedders) -> None:
    """Work on the queue in this process until the event is set."""
    conninfo, limits = settings.conninfo("manage"), SourceLimits.of(settings)
    workshop = Workshop(conninfo, embedders, limits, Reader(limits))
    # One connection each for the worker's own, the sweep and the jobs that ask for their next attempt.
    async with JobQueue(conninfo, connections=2 + settings.job_concurrency) as queue:
        await worker.work(queue, workshop, stop, concurrency=settings.job_concurrency)
