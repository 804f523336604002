"""What leaves a process as a trace: the list, and nothing beside it."""

import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags, TraceState

from contracts import tracing
from contracts.span_export import ATTRIBUTES, NAMES, ContentFreeExporter
from tests.support.traces import recorded

SECRET = "sentinel"
ELSEWHERE = SpanContext(7, 9, is_remote=True, trace_flags=TraceFlags(1), trace_state=TraceState([("x", SECRET)]))


def exported(name: str, **span: object) -> str:
    """What leaves of a span that holds more than it should."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ContentFreeExporter(kept)))
    parent = trace.set_span_in_context(NonRecordingSpan(ELSEWHERE), Context())
    recording = provider.get_tracer("any").start_span(name, context=parent, links=[Link(ELSEWHERE, {"a": SECRET})])
    recording.set_attributes(span.get("attributes", {}))  # type: ignore[arg-type]
    recording.add_event(SECRET, {"text": SECRET})
    recording.record_exception(ValueError(SECRET))
    recording.set_status(Status(StatusCode.ERROR, SECRET))
    recording.end()
    (left,) = kept.get_finished_spans()
    assert left.parent
    assert (left.parent.trace_id, left.parent.span_id) == (7, 9)
    assert left.status.status_code == StatusCode.ERROR
    return str(left.to_json())


@pytest.mark.parametrize("name", [SECRET, f"POST {SECRET}", f"GET /a?q={SECRET}", f"turn {SECRET}", f"{SECRET} /a"])
def test_no_part_of_a_span_carries_what_is_not_on_the_list(name: str) -> None:
    attributes = {"query": SECRET, SECRET: 1, "gen_ai.input.messages": SECRET, "lk.pii.user_transcript": SECRET}
    left = exported(name, attributes=attributes)
    assert SECRET not in left
    assert '"unnamed"' in left


@pytest.mark.parametrize("attribute", sorted(ATTRIBUTES))
def test_no_attribute_of_the_list_takes_a_sentence(attribute: str) -> None:
    for content in (f"where is the {SECRET}?", f"{SECRET}\n", f"+1555{SECRET}", f"Bearer {SECRET}"):
        assert SECRET not in exported("turn", attributes={attribute: content, f"{attribute}.more": content})
        assert SECRET not in exported("turn", attributes={attribute: [content]})


def test_what_is_on_the_list_is_sent() -> None:
    route = "/internal/voice/v1/sessions/{sessionId}/tools/knowledge-search"
    left = exported(f"POST {route}", attributes={"http.route": route, "answerline.search.status": "no_match"})
    assert f'"name": "POST {route}"' in left
    assert '"answerline.search.status": "no_match"' in left
    assert all(f'"name": "{name}"' in exported(name) for name in NAMES)


def test_without_an_endpoint_nothing_is_recorded_nor_loaded() -> None:
    program = (
        "import sys\n"
        "from contracts import tracing\n"
        "tracing.configure('any', endpoint=None)\n"
        "with tracing.step('embed') as span:\n"
        "    assert not span.is_recording()\n"
        "    assert tracing.outgoing() == {}\n"
        "assert tracing.Reserved.new() is None\n"
        "heavy = ('opentelemetry.sdk', 'opentelemetry.exporter')\n"
        "assert not [name for name in sys.modules if name.startswith(heavy)]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_step_goes_on_in_another_process() -> None:
    with recorded() as spans:
        turn = tracing.Reserved.new()
        assert turn
        with tracing.step("search_ahead", parent=turn.context):
            header = tracing.outgoing()[tracing.TRACEPARENT]
        with tracing.step("scope", parent=tracing.incoming(header)):
            pass
        turn.write("turn", 10.0, 12.5)
        scope, whole = spans.one("scope"), spans.one("turn")
        assert spans.path(scope) == ["turn", "search_ahead", "scope"]
        assert whole.parent is None
        assert whole.start_time == 10_000_000_000
        assert whole.end_time == 12_500_000_000


@pytest.mark.parametrize("header", [None, "", SECRET, "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x" * 10_000])
def test_a_header_that_names_no_step_begins_a_trace(header: str | None) -> None:
    with recorded() as spans:
        with tracing.step("scope", parent=tracing.incoming(header)):
            pass
        assert spans.one("scope").parent is None


def test_a_step_that_fails_says_by_which_type_of_error_alone() -> None:
    with recorded() as spans:
        with pytest.raises(ValueError, match=SECRET), tracing.step("embed"):
            raise ValueError(SECRET)
        span = spans.one("embed")
    assert span.attributes
    assert span.attributes["error.type"] == "ValueError"
    assert span.status.status_code == StatusCode.ERROR
    assert SECRET not in span.to_json()


def test_of_a_trace_all_is_recorded_or_nothing() -> None:
    with recorded(ratio=0.5) as spans:
        for _ in range(50):
            turn = tracing.Reserved.new()
            assert turn
            with tracing.step("search_ahead", parent=turn.context):
                pass
            turn.write("turn", 1.0, 2.0)
        turns = {span.context.trace_id for span in spans.named("turn") if span.context}
        steps = {span.context.trace_id for span in spans.named("search_ahead") if span.context}
    assert turns == steps
    assert 0 < len(turns) < 50
