"""What the bench of calls makes of a trace."""

import asyncio

from pydantic import AnyHttpUrl

from contracts import tracing
from tests.bench.call import TOOL, Waited, summary, table, waited
from tests.support.collector import Received, collecting


def turn(**spans: Received) -> dict[str, Received]:
    whole = {"answerline.turn.first_audio_s": 1.2, "answerline.turn.answer_s": 2.5}
    return {"turn": Received("turn", 100.0, 102.5, whole)} | spans


def test_a_turn_is_told_from_the_callers_last_word_on() -> None:
    tool = Received(TOOL, 100.8, 101.3, {"answerline.search.attempts": 1})
    found = waited(turn(**{TOOL: tool}), 2.75)
    assert found
    assert [round(each) for each in (found.tool, found.search, found.result)] == [800, 500, 1300]
    assert [round(each) for each in (found.first_audio, found.answer, found.heard)] == [1200, 2500, 2750]
    assert not found.ahead


def test_a_turn_without_a_search_an_answer_or_a_listener_is_no_measurement() -> None:
    tool = {TOOL: Received(TOOL, 100.8, 101.3, {"answerline.search.attempts": 0})}
    unanswered = tool | {"turn": Received("turn", 100.0, 102.5, {})}
    assert waited(turn(), 2.75) is None
    assert waited(turn(**tool), None) is None
    assert waited(unanswered, 2.75) is None


def test_the_table_has_what_was_measured_and_says_what_was_not() -> None:
    measured = [Waited(700.0 + n, 400.0, 1100.0, 1500.0, 1500.0, 1600.0, ahead=n > 0) for n in range(2)]
    report = {"without": summary(measured, 2), "with": summary([], 2)}
    assert report["without"]["answered_ahead"] == 1
    assert report["without"]["ms"]["tool"]["p50"] == 700.5
    cells = [list(column.cells) for column in table(report).columns]
    assert cells[1][0] == "700 / 701"
    assert cells[2][0] == "-"
    assert cells[2][-2] == "0 of 0"


async def test_traces_go_to_a_collector_over_the_wire() -> None:
    async with collecting() as collector:
        tracing.configure("test", endpoint=AnyHttpUrl(collector.url))
        try:
            root = tracing.Reserved.new()
            assert root
            with tracing.step(TOOL, parent=root.context) as span:
                span.set_attributes({"answerline.search.attempts": 2, "query": "sentinel"})
            root.write("turn", 5.0, 7.5, answerline__turn__answer_s=2.5)
            await asyncio.to_thread(tracing.flush)
            await collector.has_turns(1, 10)
        finally:
            await asyncio.to_thread(tracing.stop)
    (found,) = collector.turns()
    assert found["turn"] == Received("turn", 5.0, 7.5, {"answerline.turn.answer_s": 2.5})
    assert found[TOOL].attributes == {"answerline.search.attempts": 2}
