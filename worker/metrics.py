"""What the worker measures, for Prometheus.

Each call has a process of its own, which ends with it: it sends each number to the main process, as a datagram on a
socket of this machine, and the main process counts and serves them. So nothing is lost with a call's process, nothing
is left of it on the disk, and a number that cannot be sent at once is dropped rather than waited for.
"""

import asyncio
import contextlib
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from prometheus_client import Counter, Gauge, Histogram, start_http_server

from worker.settings import Settings

Metric: TypeAlias = Counter | Histogram

_HEARD_S: Final = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_SEARCH_S: Final = (0.001, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0)
_LARGEST: Final = 1024

FIRST_AUDIO: Final = Histogram(
    "answerline_turn_first_audio_seconds", "From the caller's last word to any sound of the agent.", buckets=_HEARD_S
)
FILLER: Final = Histogram(
    "answerline_turn_filler_seconds", "From the caller's last word to a phrase while a search runs.", buckets=_HEARD_S
)
ANSWER: Final = Histogram(
    "answerline_turn_answer_seconds",
    "From the caller's last word to the answer's first sound.",
    ["searched"],
    buckets=_HEARD_S,
)
TURNS: Final = Counter("answerline_turns", "The caller's turns, by what came of them.", ["outcome"])
SEARCHES: Final = Histogram(
    "answerline_tool_search_duration_seconds",
    "Seconds that the model waited for a search; ahead: what was found before it asked.",
    ["status", "ahead"],
    buckets=_SEARCH_S,
)
AHEAD: Final = Counter("answerline_searches_ahead", "Searches made while the model thinks: used, or not.", ["result"])
SAVED: Final = Histogram(
    "answerline_search_ahead_saved_seconds",
    "How much of a search made ahead was over when the model asked for it.",
    buckets=_SEARCH_S,
)
ERRORS: Final = Counter("answerline_worker_errors", "What the timeline tells as an error, by its source.", ["source"])
UNSEARCHED: Final = Counter("answerline_answered_without_search", "Answers that seemed to need a search and had none.")
STARTED: Final = Counter("answerline_worker_calls_started", "Calls for which an agent was found.")
ENDED: Final = Counter("answerline_worker_calls_ended", "Calls by the status that the worker gave them.", ["status"])
COST: Final = Counter("answerline_usage_cost", "What models cost, in the currency of the table of prices.", ["kind"])
UNPRICED: Final = Counter("answerline_usage_unpriced", "Models of calls that the table of prices has not.", ["kind"])
ACTIVE: Final = Gauge("answerline_worker_active_calls", "Calls under way in this worker.")

_LABELS: Final[Mapping[str, frozenset[str]]] = {
    "searched": frozenset({"true", "false"}),
    "ahead": frozenset({"true", "false"}),
    "outcome": frozenset({"answered", "interrupted", "unanswered"}),
    "result": frozenset({"used", "unused"}),
    "source": frozenset({"stt", "llm", "tts", "realtime", "sidecar", "worker"}),
    "kind": frozenset({"stt", "llm", "tts"}),
    "status": frozenset(
        {
            *("ok", "no_match", "restricted_empty", "unavailable", "aborted", "invalid_query"),
            *("already_searched", "enough_searched", "context_required"),
            *("completed", "transferred", "failed"),
        }
    ),
}
_METRICS: Final[Mapping[str, Metric]] = {
    metric._name: metric  # noqa: SLF001 - the library has no other name for it
    for metric in (
        *(FIRST_AUDIO, FILLER, ANSWER, TURNS, SEARCHES, AHEAD, SAVED),
        *(ERRORS, UNSEARCHED, STARTED, ENDED, COST, UNPRICED),
    )
}

log = structlog.get_logger(__name__)
_sending: socket.socket | None = None


def send_to(path: Path | None) -> None:
    """Send what this process measures to the socket of the main process; None: nowhere."""
    global _sending  # noqa: PLW0603 - as logging, it is a process's
    if _sending is not None:
        _sending.close()
        _sending = None
    if path is not None:
        _sending = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        _sending.settimeout(0)
        with contextlib.suppress(OSError):
            _sending.connect(str(path))


def note(metric: Metric, value: float = 1.0, **labels: str) -> None:
    """Add to a counter, or put into a histogram; never waits, and does nothing where nobody listens."""
    if _sending is not None:
        # full, or the main process is gone: a number less, and no call the worse for it
        with contextlib.suppress(OSError):
            _sending.send(json.dumps([metric._name, value, labels]).encode())  # noqa: SLF001 - as above


def take(datagram: bytes) -> None:
    """Count what a call's process sent; what is none of ours is left out, so that labels stay few."""
    try:
        child, value = _read(datagram)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("metric_unreadable", size=len(datagram))
        return
    if isinstance(child, Counter):
        child.inc(value)
    else:
        child.observe(value)


def _read(datagram: bytes) -> tuple[Metric, float]:
    """The metric, with its labels, and what is to be added to it. Raises one of four errors for none of ours."""
    name, value, labels = json.loads(datagram)
    metric = _METRICS[name]
    if not all(text in _LABELS[label] for label, text in labels.items()) or not 0 <= float(value) < float("inf"):
        raise ValueError(name)
    return metric.labels(**labels) if labels or metric._labelnames else metric, float(value)  # noqa: SLF001


class _Receiver(asyncio.DatagramProtocol):
    def datagram_received(self, data: bytes, _from: object) -> None:
        if len(data) <= _LARGEST:
            take(data)


@contextmanager
def socket_path(settings: Settings) -> Iterator[Path | None]:
    """Where the main process will listen: in a folder that is its own; None where no metrics are wanted."""
    if settings.metrics_port is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="answerline-"))
    try:
        yield folder / "metrics"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def served(settings: Settings, path: Path | None, active_calls: Callable[[], float]) -> AsyncIterator[int | None]:
    """Take in what calls measure, and serve it with LiveKit's own numbers, within the block, on this port.

    Raises:
        OSError: when it cannot listen there.
    """
    if path is None or settings.metrics_port is None:
        yield None
        return
    ACTIVE.set_function(active_calls)
    server, thread = start_http_server(settings.metrics_port, settings.metrics_host)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        _Receiver, local_addr=str(path), family=socket.AF_UNIX
    )
    try:
        yield int(server.server_port)
    finally:
        transport.close()
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()
