"""The report's charts: SVG as text, drawn into the page, from the figures that the benches kept."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from tests.bench.charts import svg

_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
_COLOURS: Final = (_BLUE, _ORANGE, _GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DECLARATIONS = re.compile(r"^.*?(?=<svg)", re.DOTALL)


def inline(draw: Callable[[Any], Figure | None], found: Any) -> str:
    """A chart to stand in a page; nothing where there is nothing to draw."""
    drawn = svg(draw, found) if found else None
    return "" if drawn is None else _DECLARATIONS.sub("", drawn)


def latency(samples: Mapping[str, Sequence[float]]) -> Figure:
    """How many searches took how long at most, beside the limit."""
    figure, axes = _axes("Time of a search in a call", "milliseconds", "share of searches")
    for colour, (name, values) in zip(_COLOURS, samples.items(), strict=False):
        ordered = np.sort(np.asarray(values, np.float64))
        axes.plot(ordered, np.arange(1, len(ordered) + 1) / len(ordered), color=colour, label=name)
    axes.axvline(3000, color=_GREY, linestyle=":", label="limit")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure


def shares(title: str) -> Callable[[Mapping[str, float]], Figure]:
    """Bars of shares by group."""

    def draw(groups: Mapping[str, float]) -> Figure:
        figure, axes = _axes(title, "", "share found")
        axes.bar(list(groups), list(groups.values()), color=_BLUE, width=0.6, label="found")
        for place, share in enumerate(groups.values()):
            axes.annotate(f"{share:.2f}", (place, share), ha="center", va="bottom", fontsize=10)
        axes.set_ylim(0, 1.1)
        return figure

    return draw


def sets(found: Mapping[str, Mapping[str, float]]) -> Figure:
    """Recall of each set by meaning, by words and by both, and of what is given."""
    figure, axes = _axes("Recall@5 on questions that people asked", "", "share found")
    names, modes = list(found), list(next(iter(found.values())))
    width = 0.8 / len(modes)
    for number, mode in enumerate(modes):
        places = np.arange(len(names)) + (number - len(modes) / 2 + 0.5) * width
        axes.bar(places, [found[name][mode] for name in names], width, color=_COLOURS[number], label=mode)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_ylim(0, 1.05)
    return figure


def refusal(found: Mapping[str, Mapping[str, Any]]) -> Figure:
    """What refusing costs: good questions lost against others refused, and where the product stands."""
    figure, axes = _axes("Refusing against losing", "answerable questions that are lost", "others that are refused")
    for colour, (name, each) in zip(_COLOURS, found.items(), strict=False):
        lost, refused = zip(*each["curve"], strict=True)
        axes.plot(lost, refused, color=colour, label=name)
        if each["now"][1] is not None:
            axes.plot(*each["now"], "o", color=colour)
    axes.set_xlim(0, 0.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0))
    return figure


def _axes(title: str, x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=12)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes
