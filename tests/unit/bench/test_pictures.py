"""Pictures and tables are those of the figures that are committed beside them."""

import copy
import json
from typing import Any

import pytest

from tests.bench.pictures import DOCS, PICTURES, documents, drawn, filled, measured, summary


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return measured()


def test_the_pictures_are_drawn_from_the_committed_figures(found: dict[str, Any]) -> None:
    pictures = drawn(found)
    assert pictures
    stale = [name for name, text in pictures.items() if (DOCS / "pictures" / f"{name}.svg").read_text("utf-8") != text]
    assert not stale, f"Run `python -m tests.bench.pictures`: {stale} show other figures"
    left = {file.stem for file in (DOCS / "pictures").glob("*.svg") if file.stem in PICTURES} - set(pictures)
    assert not left, f"There are no figures for {left}: delete these pictures, or measure"


def test_the_tables_are_those_of_the_committed_figures(found: dict[str, Any]) -> None:
    stale = [file.name for file in documents() if filled(file.read_text("utf-8"), found) != file.read_text("utf-8")]
    assert not stale, f"Run `python -m tests.bench.pictures`: the tables of {stale} show other figures"


def test_another_figure_is_seen_in_picture_and_table(found: dict[str, Any]) -> None:
    changed = copy.deepcopy(found)
    for row in changed["search"]["search"]:
        row["sql"]["p50"] *= 3
    assert drawn(changed)["latency"] != drawn(found)["latency"]
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    assert filled(text, changed) != text


def test_a_marker_that_names_no_table_is_an_error(found: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        filled("<!-- measured: nothing -->\n<!-- /measured -->", found)


def test_drawing_twice_gives_the_same(found: dict[str, Any]) -> None:
    assert drawn(found) == drawn(json.loads(json.dumps(found)))


def test_a_refusal_is_kept_with_a_thinned_curve() -> None:
    curve = [[n / 1000, 1 - n / 1000] for n in range(1001)]
    built = [
        {"name": "none"},
        {"name": "clinc", "refusal": {"relevance": {"auroc": 0.95, "refused_at_5": 0.7, "others": 3, "curve": curve}}},
    ]
    (kept,) = summary("retrieval", built)
    refusal = kept["refusal"]["relevance"]
    assert (refusal["auroc"], refusal["refused_at_5"]) == (0.95, 0.7)
    assert len(refusal["curve"]) == 101
    assert refusal["curve"][0] == [0.0, 1.0]
    assert refusal["curve"][-1] == [1.0, 0.0]
    assert "no-match" in drawn({"retrieval": [kept]})
