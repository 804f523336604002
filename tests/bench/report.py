"""The tables of a run, for a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.bench.verdicts import Verdict

_COLOURS = {"held": "green", "missed": "red", "not measured": "dim"}

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Figures:
    """A table: its name in documents, its title, and its cells as they are shown."""

    name: str
    title: str
    headings: Sequence[str]
    rows: Rows


def figures(found: dict[str, Any], verdicts: Sequence[Verdict]) -> list[Figures]:
    """Everything that was measured, the verdicts last."""
    return [
        Figures("search", "Search, milliseconds p50 / p95 / p99", *_search(found)),
        Figures(
            "bound",
            "Brute force in numpy, one thread, and the statement by vectors alone, milliseconds p50 / p95 / p99",
            *_bound(found),
        ),
        Figures("parts", "HTTP beside its parts, milliseconds p50 / p95 / p99", *_parts(found)),
        Figures("large", "One large organization, milliseconds p50 / p95 / p99", *_large(found)),
        Figures("peers", "Other stores on the same rows, milliseconds p50 / p95 / p99", *_peers(found)),
        Figures("memory", "Memory", *_memory(found)),
        Figures("verdicts", "Numbers to hold", *_verdicts(verdicts)),
    ]


def conditions(found: dict[str, Any]) -> str:
    """Where and how it was measured, in a sentence."""
    machine = found["machine"]
    return (
        f"Plan {found['plan']['name']}, embedder {found['embedder']}, {machine['cpus']} CPUs, load average"
        f" {machine['load_average_before']} before and {machine['load_average']} after {found['took_s']:,} s."
    )


def show(found: dict[str, Any], verdicts: Sequence[Verdict], console: Console) -> None:
    """Print the conditions and all tables."""
    console.print(f"\n{conditions(found)}\n")
    for each in figures(found, verdicts):
        console.print(each.title, style="bold")
        table = Table(box=None)
        for number, heading in enumerate(each.headings):
            table.add_column(heading, justify="left" if number == 0 else "right")
        for row in each.rows:
            table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
        console.print(table)
        console.print()


Headed = tuple[Sequence[str], Rows]


def percentiles(row: dict[str, Any]) -> str:
    """`p50 / p95 / p99` of a series."""
    return " / ".join(f"{row[name]:.2f}" if row[name] < 10 else f"{row[name]:.1f}" for name in ("p50", "p95", "p99"))


def _search(found: dict[str, Any]) -> Headed:
    return ("passages", "allowed", "rows", "clients", "SQL", "recall@5", "HTTP, question cached"), [
        (
            f"{row['passages']:,}",
            row["selection"],
            f"{row['rows']:,}",
            str(row["clients"]),
            percentiles(row["sql"]),
            f"{row['recall']:.4f}",
            percentiles(row["http"]),
        )
        for row in found["search"]
    ]


def _bound(found: dict[str, Any]) -> Headed:
    return ("allowed", "numpy", "SQL, vectors alone", "p50, of numpy's", "with words and codes"), [
        (
            row["selection"],
            percentiles(row["milliseconds"]),
            percentiles(row["sql"]),
            f"{row['sql_ratio']} ×",
            f"{row['with_words_ratio']} ×",
        )
        for row in found["bound"]
    ]


def _parts(found: dict[str, Any]) -> Headed:
    parts, calls = found["parts"], found["calls"]
    cpu = parts["cpu_milliseconds_a_search"]
    rows = [
        (
            kind,
            percentiles(each),
            str(each["n"]),
            *(str(cpu.get(kind, {}).get(of, "")) for of in ("sidecar", "postgres")),
        )
        for kind, each in parts["milliseconds"].items()
    ]
    many = f"{calls['calls']} calls, a question each {calls['think_s']:g} s, {calls['frequent_percent']} % frequent"
    rows.append((many, percentiles(calls["milliseconds"]), str(calls["milliseconds"]["n"]), "", ""))
    overhead = parts["overhead"]
    rows.append((f"p50 is {overhead['new']} × (embedding + SQL); {overhead['cached']} × SQL if cached", "", "", "", ""))
    return ("milliseconds", "p50 / p95 / p99", "n", "CPU sidecar", "CPU postgres"), rows


def _large(found: dict[str, Any]) -> Headed:
    return ("passages", "layout", "allowed", "rows", "SQL", "recall@5"), [
        (
            f"{row['passages']:,}",
            row["layout"],
            row["selection"],
            f"{row['rows']:,}",
            percentiles(row["milliseconds"]),
            f"{row['recall']:.4f}",
        )
        for row in found["large"]
    ]


def _peers(found: dict[str, Any]) -> Headed:
    rows = []
    for name, peer in found["peers"].items():
        if "skipped" in peer:
            rows.append((name, f"skipped: {peer['skipped']}", "", "", ""))
            continue
        for selection, each in peer["series"].items():
            times = "" if each["times_ours"] is None else f"{each['times_ours']} ×"
            rows.append(
                (
                    f"{name} {peer['version']}",
                    selection,
                    percentiles(each["milliseconds"]),
                    f"{each['recall']:.3f}",
                    times,
                )
            )
    return ("store", "allowed", "p50 / p95 / p99", "recall@5", "p50, of ours"), rows


def _memory(found: dict[str, Any]) -> Headed:
    memory = found["memory"]
    rows = [
        ("sidecar, idle", f"{memory['sidecar_idle_mb']} MB"),
        ("sidecar, after the run", f"{memory['sidecar_after_mb']} MB"),
    ]
    for disk in memory["disk"]:
        rows.append(
            (f"{disk['passages']:,} passages", f"{disk['total_mb']} MB, {disk['bytes_a_passage']:,} bytes each")
        )
        rows += [
            (f"  {name}", f"{size['table_mb']} MB, indexes {size['indexes_mb']} MB")
            for name, size in disk["tables"].items()
        ]
    return ("", "size"), rows


def _verdicts(verdicts: Sequence[Verdict]) -> Headed:
    return ("what", "target", "measured", ""), [
        (each.what, each.target, each.measured or "", each.outcome) for each in verdicts
    ]
