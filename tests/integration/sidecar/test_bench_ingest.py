"""The bench of knowledge coming in, at toy size: every series is read whole, and what it reports adds up."""

import io
import json

from rich.console import Console

from retrieval_sidecar.ingest.passages import split
from tests.bench.ingest import Series, Shape, lines_of, run, show


def test_lines_have_a_passage_each_and_items_several() -> None:
    lines = [json.loads(line) for line in lines_of(Series(Shape.lines, 40, "fake"))]
    assert len(lines) == len({line["external_id"] for line in lines}) == 40
    assert {len(split(line["title"], line["content"])) for line in lines} == {1}
    items = [json.loads(line) for line in lines_of(Series(Shape.items, 10, "fake"))]
    assert len(items) == 10
    assert sum(len(split(item["title"], item["content"])) for item in items) > 20


def test_each_series_is_measured_in_a_process_of_its_own() -> None:
    said = io.StringIO()
    console = Console(file=said, width=160)
    wanted = [Series(Shape.items, 12, "fake"), Series(Shape.lines, 30, "fake"), Series(Shape.lines, 6, "local")]
    found = run(wanted, console)
    assert [row["lines"] for row in found["series"]] == [12, 30, 6]
    assert [row["passages"] for row in found["series"]][1:] == [30, 6]
    for row in found["series"]:
        assert row["passages_a_second"] > 0
        assert 0 < row["idle_mb"] <= row["peak_mb"]
    assert ["of_embedder_alone" in row for row in found["series"]] == [False, False, True]
    assert found["series"][2]["of_embedder_alone"] > 0
    show(found, console)
    assert all(f"{each.count} {each.shape}" in said.getvalue() for each in wanted)
