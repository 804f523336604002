"""The demo's calls as a person reads them: heard, searched, said, with the milliseconds of each."""

import os
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.evidence import Event, Evidence
from demo.held import HeldCall
from demo.verdict import Answered

_WIDEST = 150


def print_call(
    console: Console, call: HeldCall, answered: Sequence[Answered], faults: Sequence[str], evidence: Evidence
) -> None:
    """One call's timeline, as the sidecar stored it, and what the caller's end measured."""
    console.rule(f"[bold]{call.planned.name}[/]  {call.planned.caller} → {call.planned.called}", align="left")
    stored = evidence.calls.get(call.call_id)
    if stored is None:
        console.print("  no session: no agent answers this number; a sentence was said and the call ended")
    else:
        modes = [stored.scope[f"{category}_scope"]["mode"] for category in ("instruction", "knowledge")]
        console.print(f"  scope: instructions {modes[0]}, knowledge {modes[1]}", style="dim")
        for event in stored.events:
            console.print(_line(event, stored.events[0].at, evidence))
        console.print(f"  ended: {stored.status}, {stored.end_reason}", style="dim")
    for fault in faults:
        console.print(f"  ✗ {fault}", style="red", markup=False)
    for each in answered:
        for fault in each.faults:
            console.print(f"  ✗ {each.asked.question.say}: {fault}", style="red", markup=False)
    if call.recording:
        console.print(f"  recording: {os.path.relpath(call.recording)}", style="dim", markup=False)


def print_latencies(console: Console, answered: Sequence[Answered]) -> None:
    """A table of each question: what came of it, and how long the caller waited."""
    table = Table(title="What the caller waited for, in milliseconds", title_justify="left", box=None)
    for heading in ("question", "kind", "outcome"):
        table.add_column(heading)
    for heading in ("embed", "search", "tool", "end of speech → answer heard"):
        table.add_column(heading, justify="right")
    for each in answered:
        search = next((event for event in reversed(each.events) if event.type == "kb.search"), None)
        silence = each.asked.silence_ms
        table.add_row(
            each.asked.question.say,
            each.asked.question.kind.replace("_", " "),
            search.data["outcome"] if search else "–",
            *(_ms(search, "embed_ms"), _ms(search, "search_ms")),
            f"{search.data['ms']:.0f}" if search else "–",
            f"{silence:.0f}" if silence is not None else "–",
            style="red" if each.faults else None,
        )
    console.print(table)


def _ms(search: Event | None, column: str) -> str:
    return f"{search.search[column]:.0f}" if search and search.search else "–"


def _line(event: Event, origin: datetime, evidence: Evidence) -> Text:
    seconds = (event.at - origin).total_seconds()
    kind, text, style = _described(event, evidence)
    return Text.assemble((f"  {seconds:6.1f}s ", "dim"), (f"{kind:9}", style), text[:_WIDEST])


def _described(event: Event, evidence: Evidence) -> tuple[str, str, str]:
    data = event.data
    if event.type == "turn":
        by_caller = data["role"] == "caller"
        latency = f"  [{data['latencyMs']:.0f} ms]" if data.get("latencyMs") else ""
        return ("heard" if by_caller else "said", data["text"] + latency, "cyan" if by_caller else "green")
    if event.type == "kb.search":
        ids = ", ".join(evidence.external_ids.get(each, each) for each in data["resultIds"])
        return "searched", f"{data['outcome']} [{ids}] {data['ms']:.0f} ms", "yellow"
    if event.type == "error":
        return "error", f"{data['source']} {data['code']}", "red"
    return event.type, ", ".join(f"{key} {value}" for key, value in data.items()), "magenta"
