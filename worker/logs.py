"""Logs as JSON on standard error, without content: what was said, found or dialled stays out.

Our own records say ids and counts. A library's record may hold anything (LiveKit names rooms and
participants after the caller's number, and its errors quote what a provider answered), so of it
only this passes: where it comes from, its message where that is a literal in the source, the
attributes named here, and of an exception the types and the places.
"""

import logging
import sys
import traceback
from types import FrameType, TracebackType

import structlog

_OURS = "worker"
_ATTRIBUTES = frozenset(
    {
        "active_jobs", "agent_name", "attempt", "call_id", "code", "dispatch_id", "elapsed",
        "elapsed_time", "function", "id", "job_id", "load", "max_retry", "pid", "protocol",
        "region", "retry_count", "room_id", "rtc-version", "session_id", "speech_id", "threshold",
        "timeout", "version", "worker_id", "exception", "source", "content_judged",
    }
)  # fmt: skip
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_JUDGED = "content_judged"


class ContentFree(logging.Filter):
    """Takes the content out of each record, in place, in the job's process and in the main one."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record; none is dropped."""
        ours = record.name.partition(".")[0] == _OURS
        if not hasattr(record, _JUDGED):
            setattr(record, _JUDGED, True)
            if record.exc_info and record.exc_info[1]:
                record.exception = _without_content(record.exc_info[1])
            if not ours:
                record.msg = record.msg if record.args or _is_literal(record) else "(not a literal)"
                record.args = None
                record.source = f"{record.pathname}:{record.lineno}"
        record.exc_info = record.exc_text = record.stack_info = None
        # LiveKit adds the room's name to a job's records when they come to the main process
        added = record.__dict__.keys() - _STANDARD
        for name in {"room"} & added if ours else added - _ATTRIBUTES:
            delattr(record, name)
        return True


def configure(level: str) -> None:
    """Set logging up in the main process: every record, of libraries too, as one line of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_logger_name,
                structlog.stdlib.add_log_level,
                structlog.stdlib.ExtraAdder(),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _without_leftovers,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # LiveKit's native library reports each negotiation, the HTTP clients each request
    for noisy in (
        "livekit",
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "openai",
        "aiohttp.access",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    logging.getLogger("livekit.agents").setLevel(level.upper())
    configure_job_process()


def configure_job_process() -> None:
    """Clean the records of a job's process before LiveKit sends them to the main process."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.render_to_log_kwargs,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    for handler in logging.getLogger().handlers:
        if not any(isinstance(present, ContentFree) for present in handler.filters):
            handler.addFilter(ContentFree())


def _without_content(error: BaseException) -> list[dict[str, object]]:
    """The chain of an exception, outermost first: types and places, without any message."""
    chain: list[dict[str, object]] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current and id(current) not in seen:
        seen.add(id(current))
        chain.append({"type": type(current).__qualname__, "at": _places(current.__traceback__)})
        current = current.__cause__ or current.__context__
    return chain


def _places(trace: TracebackType | None, deepest: int = 8) -> list[str]:
    frames = traceback.extract_tb(trace)[-deepest:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _is_literal(record: logging.LogRecord) -> bool:
    """Whether the message stands in the source as it is: an f-string, say, does not."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - how logging itself finds the caller
    while frame:
        code = frame.f_code
        if code.co_filename == record.pathname and frame.f_lineno == record.lineno:
            return record.msg in code.co_consts
        frame = frame.f_back
    return False


def _without_leftovers(
    _logger: structlog.typing.WrappedLogger, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    for name in (_JUDGED, "message"):
        event.pop(name, None)
    return event
