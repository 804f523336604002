"""Pictures and tables of what was measured: `python -m tests.bench.pictures [--take]`.

Draws docs/pictures from docs/measured, and writes the tables of docs/*.md between their markers. With `--take`
docs/measured is made anew from build/bench/search.json and build/eval/retrieval.json. A test holds all of it together.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from matplotlib.figure import Figure

from tests.bench import charts
from tests.bench.report import Figures, conditions, figures
from tests.bench.verdicts import judge

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILT = {"search": ROOT / "build" / "bench" / "search.json", "retrieval": ROOT / "build" / "eval" / "retrieval.json"}
_CURVE_POINTS = 101
_MARKED = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- /measured -->)", re.DOTALL)

# The picture's name, what it is drawn from, and how; None where that has nothing to draw.
PICTURES: Mapping[str, tuple[str, Callable[[Any], Figure | None]]] = {
    "recall": ("search", charts.recall),
    "latency": ("search", charts.latency),
    "peers": ("search", charts.peers),
    "no-match": ("retrieval", charts.no_match),
}


def summary(name: str, built: Any) -> Any:
    """What is kept of a result: all that pictures and tables show."""
    if name == "search":
        return {key: value for key, value in built.items() if key != "verdicts"}
    return [
        {
            "name": each["name"],
            "refusal": {
                evidence: {
                    "auroc": refusal["auroc"],
                    "refused_at_5": refusal["refused_at_5"],
                    "curve": _thinned(refusal["curve"]),
                }
                for evidence, refusal in each["refusal"].items()
            },
        }
        for each in built
        if each.get("refusal")
    ]


def _thinned(curve: list[list[float]]) -> list[list[float]]:
    """A curve of a few points, both ends among them."""
    steps = min(_CURVE_POINTS, len(curve))
    places = sorted({round(step * (len(curve) - 1) / max(1, steps - 1)) for step in range(steps)})
    return [[round(value, 4) for value in curve[place]] for place in places]


def measured(docs: Path = DOCS) -> dict[str, Any]:
    """The committed summaries by name; those that were never taken are left out."""
    files = {name: docs / "measured" / f"{name}.json" for name in BUILT}
    return {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()}


def drawn(found: Mapping[str, Any]) -> dict[str, str]:
    """Each picture as SVG, by its name."""
    pictures = {}
    for name, (source, draw) in PICTURES.items():
        picture = charts.svg(draw, found[source]) if source in found else None
        if picture is not None:
            pictures[name] = picture
    return pictures


def filled(document: str, found: Mapping[str, Any]) -> str:
    """A document with its tables as they were measured. Raises KeyError for a marker that names none of them."""
    if "search" not in found:
        return document
    tables = {each.name: _markdown(each) for each in figures(found["search"], judge(found["search"]))}
    has_peers = any("series" in each for each in found["search"]["peers"].values())
    picture = "![Other stores](pictures/peers.svg)\n\n" if has_peers else ""
    tables["peers"] = f"{picture}{tables['peers']}" if found["search"]["peers"] else "Not measured in this run.\n"
    tables["conditions"] = conditions(found["search"]) + "\n"
    return _MARKED.sub(lambda mark: f"{mark[1]}{tables[mark[2]]}{mark[3]}", document)


def _markdown(table: Figures) -> str:
    lines = [table.headings, ["---", *["---:"] * (len(table.headings) - 1)], *table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def documents(docs: Path = DOCS) -> list[Path]:
    """Those that may hold tables."""
    return sorted(docs.glob("*.md"))


def main(
    *, take: Annotated[bool, typer.Option("--take", help="Take what was measured last into docs/measured.")] = False
) -> None:
    """Draw docs/pictures and write the measured tables of docs/*.md."""
    if take:
        (DOCS / "measured").mkdir(exist_ok=True)
        for name, file in BUILT.items():
            if file.exists():
                text = json.dumps(summary(name, json.loads(file.read_text("utf-8"))), indent=1, ensure_ascii=False)
                (DOCS / "measured" / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    found = measured()
    (DOCS / "pictures").mkdir(exist_ok=True)
    pictures = drawn(found)
    for name in PICTURES:
        file = DOCS / "pictures" / f"{name}.svg"
        if name in pictures:
            file.write_text(pictures[name], encoding="utf-8")
        else:
            file.unlink(missing_ok=True)  # it would show what is no longer measured
    for document in documents():
        document.write_text(filled(document.read_text("utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
