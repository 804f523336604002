"""`make eval-retrieval`: the search on real questions, by meaning, by words and by both.

Everything goes through the product: files are loaded, passages split, embedded and centred, questions searched in
PostgreSQL. Only embeddings are kept between runs.
"""

import asyncio
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from contracts.voice import SearchRequest
from retrieval_sidecar.calibration.refusal import Refusal, refusal_of
from retrieval_sidecar.calibration.run import calibrate
from retrieval_sidecar.database import Pool
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.scope.resolve import scope_of_agent
from retrieval_sidecar.search.ranking import Ranked
from retrieval_sidecar.search.service import Outcome, SearchService
from tests.evals import datasets
from tests.evals.datasets import AGENT, ORGANIZATION, SHARED, Dataset
from tests.evals.metrics import Ranking, ranking_of
from tests.evals.stored_embedder import StoredEmbedder
from tests.support.database import TestDatabase, clone, migrated_template, test_server
from tests.support.sidecar import connected, load

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "eval" / "retrieval.json"
BASELINES = Path(__file__).parent / "baselines.toml"
VECTORS = ROOT / ".cache" / "eval" / "vectors.sqlite"
# Nobody waits on the phone, and a machine may be busy with other things.
_POOL, _PATIENCE_S = 4, 60.0
# The sample is valid at this time, whenever it is measured.
_NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

console = Console()


@dataclass
class Measured:
    """What came of one set.

    Attributes:
        calibration: what the product made of the corpus alone before anything was asked.
        rankings: one for each way to search.
        refusal: where there are questions to refuse.
        lost, refused: the share of answerable questions, and of the others, for which nothing is given.
        is_whole: whether all questions were asked.
    """

    name: str
    documents: int
    calibration: dict[str, Any]
    rankings: dict[str, Ranking]
    refusal: dict[str, Refusal] = field(default_factory=dict)
    lost: float = 0.0
    refused: float | None = None
    is_whole: bool = True


async def measure(template: TestDatabase, dataset: Dataset, embedder: StoredEmbedder) -> Measured:
    """Load the documents into a database of their own and ask all the questions."""
    with clone(template.server, template.name) as database, tempfile.TemporaryDirectory() as folder:
        files = dataset.files or (_organization(dataset), _items(dataset))
        await load(database, Path(folder), *files, embedder)
        async with connected(database, "manage") as connection:
            report = await calibrate(connection, embedder, dataset.organization_id, now=_NOW)
        async with connected(database, "owner") as connection:
            rows = await connection.execute("select item_id, external_id from knowledge_item")
            names = dict(await rows.fetchall())
        outcomes = await _ask(database, dataset, embedder)
    return _figures(dataset, outcomes, names, asdict(report))


async def _ask(database: TestDatabase, dataset: Dataset, embedder: StoredEmbedder) -> list[Outcome]:
    pool = Pool(database.url("voice"), _POOL)
    await pool.open(wait=True)
    service = SearchService(pool, embedder, lambda: _NOW)
    outcomes: list[Outcome] = []
    try:
        for query in track(dataset.queries, dataset.name, console=console, transient=True):
            # A scenario that is longer than a question may be goes along as the caller's own words.
            request = SearchRequest(
                org_id=dataset.organization_id,
                agent_id=query.agent,
                query=query.text.strip()[:500],
                utterance=query.text[:4000] if len(query.text) > 500 else None,
                language=query.language,
            )
            resolve = partial(scope_of_agent, dataset.organization_id, query.agent, query.caller)
            deadline = Deadline(asyncio.get_running_loop().time() + _PATIENCE_S)
            outcomes.append(await service.search(resolve, request, deadline))
    finally:
        await pool.close()
    return outcomes


def _figures(
    dataset: Dataset, outcomes: Sequence[Outcome], names: dict[UUID, str], calibration: dict[str, Any]
) -> Measured:
    answerable = [bool(query.relevant) for query in dataset.queries]
    asked = [outcome for outcome, is_good in zip(outcomes, answerable, strict=True) if is_good]
    relevant = [query.relevant for query in dataset.queries if query.relevant]
    measured = Measured(dataset.name, len(dataset.documents), calibration, {}, is_whole=dataset.is_whole)
    for mode, order in _ORDERS.items():
        found = [_documents(order(outcome), names) for outcome in asked]
        measured.rankings[mode] = ranking_of(found, relevant)
    given = [_documents([each.ranked for each in outcome.results], names) for outcome in asked]
    measured.rankings["given"] = ranking_of(given, relevant)
    measured.lost = sum(not outcome.results for outcome in asked) / max(1, len(asked))
    if not all(answerable):
        others = [outcome for outcome, is_good in zip(outcomes, answerable, strict=True) if not is_good]
        measured.refused = sum(not outcome.results for outcome in others) / len(others)
        measured.refusal["relevance"] = refusal_of([_best_relevance(outcome) for outcome in outcomes], answerable)
    return measured


def _by_meaning(outcome: Outcome) -> Sequence[Ranked]:
    return sorted(outcome.considered, key=lambda each: -(each.candidate.meaning or 0))


def _by_words(outcome: Outcome) -> Sequence[Ranked]:
    with_words = [each for each in outcome.considered if each.candidate.words > 0]
    return sorted(with_words, key=lambda each: -each.candidate.words)


def _hybrid(outcome: Outcome) -> Sequence[Ranked]:
    return outcome.considered


_ORDERS: dict[str, Callable[[Outcome], Sequence[Ranked]]] = {
    "meaning": _by_meaning,
    "words": _by_words,
    "hybrid": _hybrid,
}


def _best_relevance(outcome: Outcome) -> float:
    return max((each.relevance for each in outcome.considered), default=0.0)


def _documents(ranked: Sequence[Ranked], names: dict[UUID, str]) -> list[str]:
    """The ids of the documents in order, each once; a line's document is what it is a line of."""
    return list(dict.fromkeys(names.get(each.candidate.id, "an instruction").split("#")[0] for each in ranked))


def _organization(dataset: Dataset) -> dict[str, Any]:
    return {
        "organization": {
            "id": str(ORGANIZATION),
            "name": dataset.name,
            "time_zone": "UTC",
            "default_language": dataset.queries[0].language,
        },
        "knowledge_bases": [{"key": "all", "name": "All"}],
        "agents": [
            {
                "key": "agent",
                "id": str(AGENT),
                "name": "agent",
                "numbers": [],
                "language": dataset.queries[0].language,
                "greeting": "Hello.",
                "prompt": "",
            }
        ],
    }


def _items(dataset: Dataset) -> list[dict[str, Any]]:
    return [
        {
            "external_id": document.id,
            "title": document.title[:1000],
            "content": document.text,
            "language": document.language,
            "region_code": "GLOBAL",
            "status": "published",
            "source_hash": document.id,
        }
        for document in dataset.documents
    ]


def sets(*, full: bool) -> Iterator[Dataset]:
    """The committed set, and those of ../shared/data where it is there: sampled unless `full`."""
    yield datasets.sample()
    if not SHARED.is_dir():
        return
    limit = None if full else 400
    xquad = datasets.read(SHARED / "xquad")
    for language in ("en", "ar", "ru"):
        yield xquad.asking(f"xquad {language} → en", language=language).sampled(limit)
    mixed = datasets.mixed_language(SHARED / "xquad", "en", "ar")
    parity = {document.id: document.language for document in mixed.documents}
    for asked in ("ar", "en"):
        for answered in ("en", "ar"):
            chosen = tuple(
                query
                for query in mixed.queries
                if query.language == asked and any(parity[each] == answered for each in query.relevant)
            )
            yield Dataset(f"mixed xquad {asked} → {answered}", mixed.documents, chosen).sampled(limit)
    yield datasets.read(SHARED / "kazqad_val").asking("kazqad kk → kk").sampled(limit)
    yield datasets.read(SHARED / "tau2_banking_knowledge").asking("tau2")
    clinc = datasets.read(SHARED / "clinc_oos")
    yield clinc.asking("clinc intents", answerable=True).sampled(limit)
    yield datasets.lines_as_documents(clinc).asking("clinc utterances").sampled(None if full else 1200)
    if full:
        yield datasets.read(SHARED / "medquad").asking("medquad").sampled(500)


@contextmanager
def _template() -> Iterator[TestDatabase]:
    with test_server() as server:
        yield TestDatabase(server, migrated_template(server))


async def run(chosen: Sequence[Dataset]) -> list[Measured]:
    """Measure the sets one after the other."""
    embedder = StoredEmbedder(LocalEmbedder(), VECTORS)
    await embedder.start()
    try:
        with _template() as template:
            return [await measure(template, dataset, embedder) for dataset in chosen]
    finally:
        await embedder.close()


def shortfalls(measured: Measured) -> list[str]:
    """Each figure that is below its baseline."""
    baseline = tomllib.loads(BASELINES.read_text("utf-8")).get(measured.name, {})
    reached = {mode: [each.r1, each.r5, each.mrr5] for mode, each in measured.rankings.items()}
    if refusal := measured.refusal.get("relevance"):
        reached["refusal"] = [refusal.auroc, refusal.refused_at_5]
    return [
        f"{measured.name}: {figures} {have:.3f} is below {needed:.3f}"
        for figures, needs in baseline.items()
        for have, needed in zip(reached[figures], needs, strict=True)
        if round(have, 3) < needed
    ]


def main(
    only: Annotated[str, typer.Option(help="Only sets whose name holds this.")] = "",
    *,
    full: Annotated[bool, typer.Option("--full", help="All questions, and the largest set too.")] = False,
) -> None:
    """Measure the search on the sample and on the sets of ../shared/data and write build/eval/retrieval.json.

    Exit status 1 where a figure of a whole set is below its baseline; samples of sets are only shown (--full).
    """
    chosen = [dataset for dataset in sets(full=full) if only in dataset.name]
    measured = asyncio.run(run(chosen))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(each) for each in measured], indent=1), encoding="utf-8")
    _show(measured)
    below = {each.name: shortfalls(each) for each in measured}
    for lines in below.values():
        for line in lines:
            console.print(line, style="red", markup=False)
    if any(below[each.name] for each in measured if each.is_whole):
        raise typer.Exit(1)


def _show(measured: Sequence[Measured]) -> None:
    table = Table(box=None)
    for heading in (
        "set",
        "documents",
        "questions",
        "meaning",
        "words",
        "hybrid",
        "given",
        "lost",
        "refused",
        "refusal",
    ):
        table.add_column(heading)
    for each in measured:
        cells = [f"{r.r1:.3f} {r.r5:.3f} {r.mrr5:.3f}" for r in each.rankings.values()]
        refusal = " ".join(f"{r.auroc:.3f} {r.refused_at_5:.3f}" for r in each.refusal.values())
        decided = [f"{each.lost:.3f}", "" if each.refused is None else f"{each.refused:.3f}"]
        table.add_row(each.name, str(each.documents), str(each.rankings["hybrid"].queries), *cells, *decided, refusal)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
