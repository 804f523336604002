"""What a process traces, as it leaves."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contracts import tracing
from contracts.span_export import WayOut


@dataclass
class Spans:
    """The spans that were sent."""

    exporter: InMemorySpanExporter

    def all(self) -> list[ReadableSpan]:
        tracing.flush()
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def path(self, span: ReadableSpan) -> list[str]:
        """The names from the first span of the trace down to this one; those of another process's are not known."""
        by_id = {each.context.span_id: each for each in self.all() if each.context}
        names = [span.name]
        while span.parent and span.parent.span_id in by_id:
            span = by_id[span.parent.span_id]
            names.insert(0, span.name)
        return names

    def text(self) -> str:
        """All of it."""
        return "\n".join(span.to_json() for span in self.all())


@contextmanager
def recorded(ratio: float = 1.0) -> Iterator[Spans]:
    """Traces are recorded within the block."""
    exporter = InMemorySpanExporter()
    tracing.send_by(WayOut("test", ratio, exporter))
    try:
        yield Spans(exporter)
    finally:
        tracing.stop()
