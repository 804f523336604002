"""What the sidecar's processes measure, for Prometheus; each label takes a value of a short list.

They are served on a listener of their own, in a thread of its own: also while the event loop is busy.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings

_SHORT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 3.5)
_LONG_S = (1, 3, 10, 30, 60, 180, 600, 1800, 3600)

REQUESTS = Histogram(
    "http_server_request_duration_seconds",  # OpenTelemetry's name
    "Seconds that requests took; 499: the client had left.",
    ["http_request_method", "http_route", "http_response_status_code"],
    buckets=_SHORT_S,
)
SEARCHES = Histogram(
    "answerline_search_duration_seconds",
    "Seconds of a search, by step (embed, search, total) and by what came of it.",
    ["step", "status"],
    buckets=_SHORT_S,
)
DEGRADED = Counter("answerline_degraded_searches", "Searches by words alone, as there was no embedding in time.")
NOT_LOGGED = Counter("answerline_unlogged_searches", "Searches that the search log could not keep.")
WAITS = Histogram(
    "answerline_queue_wait_seconds", "Seconds until their turn came, of those whose did.", ["queue"], buckets=_SHORT_S
)
WAITING = Gauge("answerline_queue_waiting", "How many wait for their turn.", ["queue"])
INSIDE = Gauge("answerline_queue_inside", "How many have their turn.", ["queue"])
SLOTS = Gauge("answerline_queue_slots", "How many may have their turn at once.", ["queue"])
SHED = Counter(
    "answerline_queue_shed", "Requests that were turned away, as the wait was or would be too long.", ["queue"]
)
CIRCUIT_OPEN = Gauge("answerline_embedding_circuit_open", "1 while a failing embedding service is left alone.")
CALLS_STARTED = Counter("answerline_calls_started", "Calls that were opened.")
CALLS_ENDED = Counter("answerline_calls_ended", "Calls by terminal status; lost: no worker ended it.", ["status"])
CALLS_OPEN = Gauge("answerline_calls_open", "Calls without a terminal status, in the database.")
CALLS_SILENT = Gauge("answerline_calls_silent", "Those of them of which there was no sign for ten minutes.")
INGEST_LAG = Gauge("answerline_ingest_lag_seconds", "How long the source that is due for longest waits for a worker.")
INGEST_OLDEST = Gauge("answerline_ingest_oldest_run_seconds", "For how long the oldest unfinished reading goes on.")
JOBS = Gauge("answerline_ingest_jobs", "Jobs in the queue: due, waiting out a pause, under way.", ["state"])
ATTEMPTS = Histogram(
    "answerline_ingest_attempt_duration_seconds",
    "Seconds of one attempt to read a source, by what came of it.",
    ["outcome"],
    buckets=_LONG_S,
)


@contextmanager
def served(settings: Settings) -> Iterator[int | None]:
    """Serve them within the block, where the settings name a port: on the one that it yields.

    Raises ConfigurationError where it cannot listen there.
    """
    if settings.metrics_port is None:
        yield None
        return
    try:
        server, thread = start_http_server(settings.metrics_port, settings.metrics_host)
    except OSError as error:
        raise ConfigurationError(
            f"Metrics cannot be served at {settings.metrics_host}:{settings.metrics_port} ({error.strerror}): set"
            " ANSWERLINE_METRICS_PORT to another."
        ) from error
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
