"""The charts: one function a picture, from the JSON that was measured."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tests.bench.tenant import ALL, SELECTIONS
from tests.bench.verdicts import RECALL

# Okabe and Ito's colours, which colour-blind readers tell apart; markers and dashes say the same again.
_OURS, *_OTHERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"
_STYLE: Any = {
    "svg.hashsalt": "answerline",  # ids of the drawing, the same each time
    "svg.fonttype": "path",  # looks alike wherever it is shown
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "lines.linewidth": 1.8,
    "legend.frameon": False,
}
_OUR_NAME = "answerline"
_LABEL_OF_TWO_COLUMNS = 38  # characters


def svg(draw: Callable[[Any], Figure | None], found: Any) -> str | None:
    """A picture of the figures as text, the same each time; on white, so that it reads on a dark page too."""
    with mpl.rc_context(_STYLE), io.StringIO() as text:
        figure = draw(found)
        if figure is None:
            return None
        _, labels = figure.axes[0].get_legend_handles_labels()
        is_wide = max(map(len, labels)) > _LABEL_OF_TWO_COLUMNS
        figure.legend(loc="outside lower center", ncols=1 if is_wide else 2)
        figure.savefig(text, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _axes(title: str, x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.6, 5.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=12)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def _milliseconds(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _rows(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def recall(found: dict[str, Any]) -> Figure:
    """Recall against selectivity: ours in each database, and that of the other stores."""
    figure, axes = _axes(
        "Recall@5 of brute force, by what an agent may tell", "passages that the agent may tell", "recall@5"
    )
    rows_of = {row["selection"]: row["rows"] for row in found["search"]}
    lines: dict[str, dict[str, float]] = {}
    for row in found["search"]:
        if row["clients"] == 1:
            lines.setdefault(f"{_OUR_NAME}, among {row['passages']:,}", {})[row["selection"]] = row["recall"]
    for name, peer in found["peers"].items():
        if "series" in peer:
            lines[name] = {selection: each["recall"] for selection, each in peer["series"].items()}
    for number, (name, recalls) in enumerate(lines.items()):
        _line(axes, number, name, [rows_of[each] for each in recalls], list(recalls.values()))
    axes.axhline(RECALL, color="#666666", linestyle=":", linewidth=1.2)
    axes.annotate(f" {RECALL} must be held", (0, RECALL), xycoords=("axes fraction", "data"), va="top", fontsize=9)
    _rows(axes)
    lowest = min(min(each.values()) for each in lines.values())
    axes.set_ylim(min(0.9, lowest - 0.03), 1.01)
    return figure


def latency(found: dict[str, Any]) -> Figure:
    """Latency against rows: the statement, an organization's own partition where there is one, the numpy bound."""
    figure, axes = _axes("One search by SQL, one client, p50", "passages that the agent may tell", "milliseconds")
    largest = max(row["passages"] for row in found["search"])
    under_test = sorted(
        (row["rows"], row["sql"]["p50"])
        for row in found["search"]
        if row["clients"] == 1 and row["passages"] == largest
    )
    lines = {f"organization of 10,000, exact, any selection (among {largest:,})": under_test}
    for row in found["large"]:
        if row["selection"] == ALL:
            lines.setdefault(f"large organization, {row['layout']}, no allowlist", []).append(
                (row["rows"], row["milliseconds"]["p50"])
            )
    whole = next(row for row in found["bound"] if row["selection"] == ALL)
    bound = {(under_test[-1][0], whole["milliseconds"]["p50"])}
    bound |= {(row["rows"], row["numpy"]["p50"]) for row in found["large"] if row["numpy"]}
    lines["numpy, one thread, no allowlist"] = sorted(bound)
    for number, (name, points) in enumerate(lines.items()):
        _line(axes, number, name, *zip(*points, strict=True))
    _rows(axes)
    _milliseconds(axes)
    return figure


def peers(found: dict[str, Any]) -> Figure | None:
    """Latency of the other stores on the same rows, beside ours."""
    measured = {name: peer["series"] for name, peer in found["peers"].items() if "series" in peer}
    if not measured:
        return None
    passages = found["plan"]["peer_rows"]
    figure, axes = _axes(
        f"The same {passages:,} rows, filters and texts, one client, p50", "what the agent may tell", "milliseconds"
    )
    ours = {row["selection"]: row["sql"]["p50"] for row in found["bound"]}
    bars = {f"{_OUR_NAME}, by vectors alone": ours} | {
        name: {selection: each["milliseconds"]["p50"] for selection, each in series.items()}
        for name, series in measured.items()
    }
    width = 0.8 / len(bars)
    for number, (name, values) in enumerate(bars.items()):
        places = [place + (number - (len(bars) - 1) / 2) * width for place in range(len(SELECTIONS))]
        colour = _OURS if number == 0 else _OTHERS[number - 1]
        heights = [values[each] for each in SELECTIONS]
        drawn = axes.bar(places, heights, width, label=name, color=colour, edgecolor="white")
        axes.bar_label(drawn, [f"{height:.2g}" if height < 10 else f"{height:.0f}" for height in heights], fontsize=7)
    rows_of = {row["selection"]: row["rows"] for row in found["search"]}
    labels = [each if each == SELECTIONS[-1] else f"{each}\n{rows_of[each]:,} rows" for each in SELECTIONS]
    axes.set_xticks(range(len(SELECTIONS)), labels)
    axes.grid(visible=False, axis="x")
    _milliseconds(axes)
    axes.set_ylim(bottom=min(min(each.values()) for each in bars.values()) / 2)
    return figure


def no_match(found: Sequence[dict[str, Any]]) -> Figure | None:
    """What refusing costs: good questions lost against others refused, along the thresholds."""
    curves = {
        f"{each['name']}, {evidence} (AUROC {refusal['auroc']:.3f})": refusal["curve"]
        for each in found
        for evidence, refusal in each["refusal"].items()
        if refusal.get("curve")
    }
    if not curves:
        return None
    figure, axes = _axes(
        "Nothing found: what is refused, and what that loses",
        "answerable questions lost, %",
        "other questions refused, %",
    )
    for number, (name, curve) in enumerate(curves.items()):
        colour = (_OURS, *_OTHERS)[number % len(_MARKERS)]
        dash = ("-", "--", "-.", ":")[number % 4]
        lost, refused = ([100 * value for value in values] for values in zip(*curve, strict=True))
        axes.plot(lost, refused, color=colour, linestyle=dash, label=name)
    axes.axvline(5, color="#666666", linestyle=":", linewidth=1.2)
    axes.annotate(" 5 % lost", (5, 2))
    axes.set_xlim(0, 30)
    axes.set_ylim(0, 100)
    return figure


def _line(axes: Axes, number: int, name: str, x: Sequence[float], y: Sequence[float]) -> None:
    colour = (_OURS, *_OTHERS)[number % len(_MARKERS)]
    dash = ("-", "--", "-.", ":")[number % 4]
    # The later the smaller, so that lines in one place can be told apart.
    size = 11 - 1.2 * number
    axes.plot(x, y, color=colour, marker=_MARKERS[number % len(_MARKERS)], markersize=size, linestyle=dash, label=name)
