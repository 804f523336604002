"""How spans leave a process: what one may say is a list, and whatever else is on it stays here."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import SpanContext, Status, TraceFlags, Tracer

from contracts.tracing import Value

_EXPORT_S: Final = 2.0
_FLUSH_MS: Final = 3000


# A step's name; requests are called by method and route.
NAMES: Final = frozenset(
    {
        "turn",
        "end_of_turn",
        "chat",
        "speech",
        "execute_tool search_knowledge",
        "search_ahead",
        "authenticate",
        "scope",
        "embed",
        "search",
        "pool_wait",
        "search postgresql",
    }
)
_ROUTE: Final = re.compile(r"(?:/(?:[A-Za-z0-9_.-]+|\{[A-Za-z]+\}))+")
_REQUEST: Final = re.compile(rf"(?:GET|POST|PUT|PATCH|DELETE)(?: {_ROUTE.pattern})?")
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# The name of a type of error, or a code of ours.
_ERROR: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")


def _one_of(*values: str) -> Callable[[Value], bool]:
    return frozenset(values).__contains__


def _like(pattern: re.Pattern[str]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _number(value: Value) -> bool:
    return isinstance(value, bool | int | float)


# Each attribute that may leave, and what its value may be; names are OpenTelemetry's where it has one.
ATTRIBUTES: Final[Mapping[str, Callable[[Value], bool]]] = {
    "http.request.method": _one_of("GET", "POST", "PUT", "PATCH", "DELETE"),
    "http.route": _like(_ROUTE),
    "http.response.status_code": _number,
    "http.request.resend_count": _number,
    "db.system.name": _one_of("postgresql"),
    "db.operation.name": _one_of("SELECT"),
    "gen_ai.operation.name": _one_of("chat", "execute_tool"),
    "gen_ai.tool.name": _one_of("search_knowledge"),
    "error.type": _like(_ERROR),
    "answerline.session.id": _like(_ID),
    "answerline.search.id": _like(_ID),
    "answerline.search.status": _one_of(
        *("ok", "no_match", "restricted_empty", "unavailable", "aborted", "invalid_query"),
        *("already_searched", "enough_searched", "context_required"),
    ),
    "answerline.search.results": _number,
    "answerline.search.parts": _number,
    "answerline.search.degraded": _number,
    "answerline.search.attempts": _number,
    "answerline.turn.outcome": _one_of("answered", "interrupted", "unanswered"),
    "answerline.turn.searches": _number,
    "answerline.turn.first_audio_s": _number,
    "answerline.turn.filler_s": _number,
    "answerline.turn.answer_s": _number,
}

_reserved: ContextVar[SpanContext | None] = ContextVar("reserved span", default=None)


class _Ids(RandomIdGenerator):
    """Random ids, but for a span whose children have begun before it is written down."""

    def generate_trace_id(self) -> int:
        reserved = _reserved.get()
        return reserved.trace_id if reserved else super().generate_trace_id()

    def generate_span_id(self) -> int:
        reserved = _reserved.get()
        return reserved.span_id if reserved else super().generate_span_id()


class ContentFreeExporter(SpanExporter):
    """Sends of each span what the list above allows."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._inner.export([_without_content(span) for span in spans])

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._inner.force_flush(timeout_millis)


class WayOut:
    """Where a process records its spans, and from where they are sent in batches."""

    def __init__(self, service: str, ratio: float, exporter: SpanExporter) -> None:
        """Make one.

        Args:
            service: the name by which traces know this process.
            ratio: which part of the traces that begin here are recorded, from 0 to 1.
            exporter: where spans go.
        """
        self._sampler: Sampler = TraceIdRatioBased(ratio)
        self._provider = TracerProvider(
            sampler=ParentBased(self._sampler), resource=Resource({"service.name": service}), id_generator=_Ids()
        )
        self._provider.add_span_processor(BatchSpanProcessor(ContentFreeExporter(exporter)))
        self.tracer: Tracer = self._provider.get_tracer("answerline")

    @classmethod
    def to_collector(cls, service: str, ratio: float, endpoint: str) -> "WayOut":
        """To an OpenTelemetry collector, by OTLP over HTTP: `http://collector:4318`."""
        return cls(service, ratio, OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_S))

    def reserve(self) -> SpanContext:
        """The ids of a new trace's first span, which is written down later."""
        trace_id, span_id = self._provider.id_generator.generate_trace_id(), RandomIdGenerator().generate_span_id()
        sampled = self._sampler.should_sample(None, trace_id, "").decision.value > 0
        flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
        return SpanContext(trace_id, span_id, is_remote=False, trace_flags=flags)

    @contextmanager
    def reserved(self, context: SpanContext) -> Iterator[None]:
        """Within the block a new trace begins with the ids of `reserve`."""
        token = _reserved.set(context)
        try:
            yield
        finally:
            _reserved.reset(token)

    def flush(self) -> None:
        """Send what was recorded; blocks for some seconds at most."""
        self._provider.force_flush(_FLUSH_MS)

    def close(self) -> None:
        """Send what was recorded, and record nothing more."""
        self._provider.shutdown()


def _without_content(span: ReadableSpan) -> ReadableSpan:
    """The span as it may leave: no event, link or text of a status, and of names and attributes those of the lists."""
    attributes = {
        key: value
        for key, value in (span.attributes or {}).items()
        if isinstance(value, str | bool | int | float) and key in ATTRIBUTES and ATTRIBUTES[key](value)
    }
    return ReadableSpan(
        name=span.name if span.name in NAMES or _REQUEST.fullmatch(span.name) else "unnamed",
        context=_without_state(span.context),
        parent=_without_state(span.parent),
        resource=span.resource,
        attributes=attributes,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _without_state(context: SpanContext | None) -> SpanContext | None:
    """The ids alone: the rest of a context is text that a client may have sent."""
    return context and SpanContext(context.trace_id, context.span_id, context.is_remote, context.trace_flags)
