"""What `retrieval-sidecar calibrate` prints."""

from rich.console import Console
from rich.table import Table

from retrieval_sidecar.calibration.run import Figures, Report
from retrieval_sidecar.search.relevance import Calibration


def print_report(report: Report, console: Console, *, stored: bool) -> None:
    """The figures before and after, and whether they are in force now."""
    origin = "labelled questions" if report.made_from == "questions" else "questions made of the knowledge itself"
    console.print(
        f"{origin}: {report.answerable} with an answer, {report.unanswerable} without; model {report.model or 'none'}"
    )
    if report.before is not None and report.after is not None:
        console.print(_table(report.before, report.after))
    if report.kept is not None:
        console.print(f"The model's own calibration stays: {report.kept}.", markup=False)
    else:
        console.print("Stored; the next search uses it." if stored else "Nothing is stored: this was a dry run.")


def _table(before: Figures, after: Figures) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "AUROC", "refused at 5 % lost", "lost", "refused", "half-way at", "abroad at"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, each in (("the model's own", before), ("fitted", after)):
        own, foreign = (threshold(each.calibration, is_foreign=is_foreign) for is_foreign in (False, True))
        table.add_row(
            name,
            f"{each.refusal.auroc:.3f}",
            f"{each.refusal.refused_at_5:.1%}",
            f"{each.lost:.1%}",
            f"{each.refused:.1%}",
            f"{own:.2f}",
            f"{foreign:.2f}",
        )
    table.caption = "half-way: the cosine of a passage that is as likely an answer as not, no word shared"
    return table


def threshold(calibration: Calibration, *, is_foreign: bool) -> float:
    """The cosine at which a passage among its like is half likely an answer, where no word is shared."""
    slope = calibration.meaning + calibration.nearest + calibration.neighbours
    return -(calibration.intercept + calibration.foreign * is_foreign) / slope if slope else float("inf")
