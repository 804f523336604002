"""What became of things that were to be added or read again, for people and for machines."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import typer

from retrieval_sidecar.cli.shared import err, out
from retrieval_sidecar.sources.sources import Rejection, Source

SHOWN_REJECTIONS = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one thing.

    Attributes:
        given: as it was named.
        source: None where it was not added; `error` says why.
        has_changed: whether there was anything to be done.
        rejections: lines of an import that were not taken, the first of them.
    """

    given: str
    source: Source | None = None
    has_changed: bool = False
    error: str | None = None
    rejections: Sequence[Rejection] = ()

    @property
    def has_failed(self) -> bool:
        return self.error is not None or self.source is None or self.source.status == "failed"

    def to_json(self) -> dict[str, Any]:
        found = {"given": self.given, "changed": self.has_changed, "error": self.error}
        if self.source is None:
            return found | {"status": "failed", "error_code": "not_added"}
        found |= asdict(self.source)
        return found | {"rejections": [asdict(each) for each in self.rejections]}


def report(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    """Say what has become of each; exit status 1 if one has failed."""
    if as_json:
        out.print_json(data=[each.to_json() for each in outcomes], default=str)
    else:
        for each in outcomes:
            _print(each)
    if any(each.has_failed for each in outcomes):
        raise typer.Exit(1)


def _print(outcome: Outcome) -> None:
    source = outcome.source
    if source is None:
        err.print(f"{outcome.given}: not added. {outcome.error}", style="red", markup=False)
        return
    where = f"{source.name} ({source.source_id})"
    if source.status == "failed":
        still = " What it yielded before still answers." if source.is_searchable else ""
        err.print(f"{where}: failed, {source.error_code}. {source.error}{still}", style="red", markup=False)
        return
    if source.status == "processing":
        out.print(f"{where}: waits for retrieval-sidecar work", markup=False)
        return
    yielded = f"{source.items:,} items, {source.passages:,} passages"
    if source.kind == "jsonl" and source.run is not None and outcome.has_changed:
        counts = source.run
        yielded += (
            f"; {counts.lines_read:,} lines: {counts.created:,} created, {counts.updated:,} updated,"
            f" {counts.unchanged:,} unchanged, {counts.rejected:,} rejected"
        )
    out.print(f"{where}: ready{'' if outcome.has_changed else ', unchanged'}; {yielded}", markup=False)
    for rejection in outcome.rejections:
        err.print(f"  line {rejection.line}: {rejection.field}: {rejection.reason}", style="yellow", markup=False)
    if source.run is not None:
        more = source.run.rejected - len({rejection.line for rejection in outcome.rejections})
        if outcome.rejections and more > 0:
            err.print(f"  and {more:,} more lines", style="yellow")
