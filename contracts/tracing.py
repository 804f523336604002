"""Traces of both sides of the wire: one each turn of a call, with times, ids, counts and codes, and no content.

Until `configure` is called nothing is recorded, no library of it is loaded, and a step costs some microseconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, Span, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from pydantic import AnyHttpUrl

    from contracts.span_export import WayOut

TRACEPARENT: Final = "traceparent"
Value: TypeAlias = str | bool | int | float

_propagator: Final = TraceContextTextMapPropagator()
_out: "WayOut | None" = None


def configure(service: str, *, endpoint: "AnyHttpUrl | None", ratio: float = 1.0) -> None:
    """Record traces from now on, in this process; without an endpoint, none.

    Args:
        service: the name by which traces know this process.
        endpoint: an OpenTelemetry collector's, for OTLP over HTTP: `http://collector:4318`.
        ratio: which part of the traces that begin here are recorded, from 0 to 1.
    """
    if endpoint is None:
        return
    # not before it is needed: it takes a fifth of a second to import
    from contracts.span_export import WayOut  # noqa: PLC0415

    send_by(WayOut.to_collector(service, ratio, str(endpoint)))


def send_by(out: "WayOut") -> None:
    """Record traces from now on, and send them by this way.

    It is ours alone: libraries that trace what they see, words too, find no provider and record nothing.
    """
    global _out  # noqa: PLW0603 - as logging, tracing is a process's
    _out = out


def flush() -> None:
    """Send what was recorded; blocks for some seconds at most."""
    if _out:
        _out.flush()


def stop() -> None:
    """Send what was recorded, and record nothing more."""
    global _out
    stopped, _out = _out, None
    if stopped:
        stopped.close()


def is_on() -> bool:
    """Whether traces are recorded."""
    return _out is not None


@contextmanager
def step(
    name: str, *, parent: Context | None = None, kind: SpanKind = SpanKind.INTERNAL, **attributes: Value
) -> Iterator[Span]:
    """A step of a trace, current within the block; what is raised in it is noted by its type alone.

    Args:
        name: one of `contracts.span_export.NAMES`, or method and route.
        parent: None for the step that is current.
        kind: as OpenTelemetry has it.
        attributes: of `contracts.span_export.ATTRIBUTES`, with two underscores for each dot.
    """
    if _out is None:
        yield INVALID_SPAN
        return
    with _out.tracer.start_as_current_span(
        name,
        context=parent,
        kind=kind,
        attributes=_dotted(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except Exception as error:
            failed(span, type(error).__name__)
            raise
        except BaseException as error:  # given up, which is no failure
            span.set_attribute("error.type", type(error).__name__)
            raise


def failed(span: Span, code: str) -> None:
    """Note that a step failed, and how."""
    span.set_attribute("error.type", code)
    span.set_status(StatusCode.ERROR)


def outgoing() -> dict[str, str]:
    """The header by which another process goes on with the step that is current; none where there is none."""
    carrier: dict[str, str] = {}
    if _out is not None:
        _propagator.inject(carrier)
        carrier.pop("tracestate", None)
    return carrier


def incoming(header: str | None) -> Context:
    """The step of another process that goes on here, as its header names it; a new trace where it names none."""
    return _propagator.extract({TRACEPARENT: header} if header else {}, Context())


def written(name: str, began: float, ended: float, *, parent: Context, **attributes: Value) -> None:
    """Write down a step that is over; times are seconds since the epoch."""
    if _out is None:
        return
    span = _out.tracer.start_span(name, context=parent, attributes=_dotted(attributes), start_time=_ns(began))
    span.end(_ns(max(began, ended)))


@dataclass(frozen=True, slots=True)
class Reserved:
    """The first span of a trace, written down when it is over, with what is known by then.

    Attributes:
        context: the parent of its children, which may begin before.
    """

    ids: SpanContext

    @classmethod
    def new(cls) -> "Reserved | None":
        """One of a new trace; None while nothing is recorded."""
        return cls(_out.reserve()) if _out else None

    @property
    def context(self) -> Context:
        return trace.set_span_in_context(NonRecordingSpan(self.ids), Context())

    def write(self, name: str, began: float, ended: float, **attributes: Value) -> None:
        """Write it down; times are seconds since the epoch."""
        if _out is not None:
            with _out.reserved(self.ids):
                written(name, began, ended, parent=Context(), **attributes)


def _dotted(attributes: dict[str, Value]) -> dict[str, Value]:
    return {name.replace("__", "."): value for name, value in attributes.items()}


def _ns(seconds: float) -> int:
    return int(seconds * 1_000_000_000)
