"""Structured logs without content: static messages, ids and counts as attributes."""

import logging
import sys
from typing import Any

import structlog

from contracts import tracing
from retrieval_sidecar.settings import Settings


def configure_telemetry(settings: Settings, process: str) -> None:
    """Logs and traces as the settings have them, for a process of this name."""
    configure_logging(settings.log_level)
    tracing.configure(f"answerline-{process}", endpoint=settings.otlp_endpoint, ratio=settings.trace_ratio)


def _without_exception_text(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """An exception's text may quote what was being read or written; its type and place are enough to find it."""
    for exception in event.get("exception", ()):
        exception.pop("exc_value", None)
        exception.pop("syntax_error", None)
    return event


def _first_line_of_asyncio(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """What asyncio says of a forgotten task goes on with its exception, whose text may quote likewise."""
    if event["_record"].name == "asyncio":
        event["event"] = event["event"].partition("\n")[0]
    return event


def configure_logging(level: str) -> None:
    """Write every log record, the libraries' too, as one JSON line to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _first_line_of_asyncio],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.ExceptionRenderer(
                    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
                ),
                _without_exception_text,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # The access log would hold paths with ids of every health probe; requests are logged by the app.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
