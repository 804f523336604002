"""A search for a person to read: what was given, and what was found and not given."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from retrieval_sidecar.search.ranking import Ranked
from retrieval_sidecar.search.relevance import GIVEN
from retrieval_sidecar.search.service import Outcome
from retrieval_sidecar.search.statement import shape_of


def print_outcome(outcome: Outcome, console: Console, *, explain: bool) -> None:
    """Print the status, the results and the milliseconds; with `explain` the scope and all candidates too."""
    console.print(
        f"[bold]{outcome.status}[/] in {outcome.total_ms:.0f} ms"
        f" (embedding {outcome.embed_ms:.0f}, search {outcome.search_ms:.1f})"
        + (" [yellow]degraded: by words alone[/]" if outcome.degraded else "")
    )
    if explain:
        question = outcome.question
        console.print(f"asked in {question.asked_in}, text in {question.language}, model {outcome.scope.model}")
        console.print(f"words: {', '.join(question.words) or 'none'}; codes: {', '.join(question.codes) or 'none'}")
        console.print(f"searched: {', '.join(shape_of(outcome.scope)) or 'nothing: the selection is empty'}")
    given = {found.ranked.candidate.passage_id for found in outcome.results}
    rows = outcome.considered if explain else [found.ranked for found in outcome.results]
    if rows:
        console.print(_table(rows, given, explain=explain))


def _table(rows: Sequence[Ranked], given: set[int], *, explain: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("title", "type", "language"):
        table.add_column(heading)
    for heading in ("meaning", "words", "code", "score", "relevance"):
        table.add_column(heading, justify="right")
    if explain:
        table.add_column("")
    for each in rows:
        candidate = each.candidate
        is_given = candidate.passage_id in given
        cells = [
            candidate.title,
            "instruction" if candidate.is_instruction else "knowledge",
            candidate.language,
            "–" if candidate.meaning is None else f"{candidate.meaning:.2f}",
            f"{candidate.words:.2f}",
            "✓" if candidate.code else "",
            f"{each.score:.3f}",
            f"{each.relevance:.2f}",
        ]
        if explain:
            cells.append("given" if is_given else _why_not(each))
        table.add_row(*cells, style=None if is_given else "dim")
    return table


def _why_not(ranked: Ranked) -> str:
    return "not relevant" if ranked.relevance < GIVEN else "after the best five, or of a document given already"
