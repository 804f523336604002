"""`make bench-ingest`: getting knowledge in, measured; docs/benchmarks.md says what each number means."""

import asyncio
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.embeddings.local import LocalEmbedder
from retrieval_sidecar.ingest.imports import import_lines
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.passages import Passage
from retrieval_sidecar.local_database import LocalServer
from tests.bench.texts import Fillers, items, passages_of
from tests.support.database import TestDatabase, clone, migrated_template, test_server
from tests.support.sidecar import connected

RESULTS = Path(__file__).parents[2] / "build" / "bench"
RATIO = 0.8  # of the embedder alone
_EMBEDDED_AT_ONCE = 32
_PIECE_LINES = 200
_T = TypeVar("_T")
ORGANIZATION_ID = UUID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")


class Shape(StrEnum):
    """What the lines are like.

    items: of 3.2 passages each, as the bench of the search has them. lines: of one passage each.
    """

    items = "items"
    lines = "lines"


@dataclass(frozen=True, slots=True)
class Series:
    """One measurement, in a process and a database of its own."""

    shape: Shape
    count: int
    embedder: str


def lines_of(series: Series) -> Iterator[bytes]:
    """The lines of a series, as a file has them."""
    fillers = Fillers()
    passage = 0
    passages = passages_of(series.count) if series.shape is Shape.items else series.count
    for number, item in enumerate(items(1, passages, hidden=False)):
        facts = [f"{fact} {fillers[passage + place].text}" for place, fact in enumerate(item.facts)]
        passage += len(facts)
        contents = ["\n\n".join(facts)] if series.shape is Shape.items else facts
        for place, content in enumerate(contents):
            yield _line(f"{number}-{place}", item.title, content)


def _line(external_id: str, title: str, content: str) -> bytes:
    fields = {
        "external_id": external_id,
        "title": title,
        "language": "en",
        "region_code": "GLOBAL",
        "status": "published",
        "content": content,
        "source_hash": sha256(content.encode()).hexdigest(),
    }
    return json.dumps(fields).encode() + b"\n"


def _batches(entries: Iterable[_T], size: int) -> Iterator[list[_T]]:
    left = iter(entries)
    while some := list(islice(left, size)):
        yield some


async def _pieces(series: Series, advance: Callable[[int], None]) -> AsyncIterator[bytes]:
    for lines in _batches(lines_of(series), _PIECE_LINES):
        yield b"".join(lines)
        advance(len(lines))


async def measure(series: Series, database: TestDatabase, console: Console) -> dict[str, Any]:
    """Import and index; passages a second, and the most memory that this process had."""
    embedder: Embedder = LocalEmbedder() if series.embedder == "local" else FakeEmbedder()
    await embedder.start()
    try:
        async with connected(database, "manage") as connection:
            source_id, run_id = await _begin(connection)
            # What is embedded once for an organization, the samples of each language, is no part of it.
            await index_organization(connection, embedder, ORGANIZATION_ID)
            columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
            idle = _memory_mb()
            with Progress(*columns, console=console, transient=True) as progress:
                task = progress.add_task("lines", total=series.count)
                begun = time.perf_counter()
                await import_lines(
                    connection, ORGANIZATION_ID, source_id, run_id, _pieces(series, lambda n: progress.advance(task, n))
                )
                imported = time.perf_counter()
                task = progress.add_task("texts embedded", total=None)
                passages = await index_organization(
                    connection,
                    embedder,
                    ORGANIZATION_ID,
                    source_id=source_id,
                    complete=_ready(source_id),
                    progress=lambda done, total: progress.update(task, completed=done, total=total),
                )
                indexed = time.perf_counter()
            found = await _check(connection, run_id)
            return (
                asdict(series)
                | {
                    "lines": found,
                    "passages": passages,
                    "import_s": round(imported - begun, 2),
                    "index_s": round(indexed - imported, 2),
                    "lines_a_second": round(found / (imported - begun)),
                    "passages_a_second": round(passages / (indexed - begun), 1),
                    "idle_mb": idle,
                    "peak_mb": _memory_mb(),
                }
                | (await _beside_embedder(connection, embedder, indexed - begun) if series.embedder == "local" else {})
            )
    finally:
        await embedder.close()


async def _begin(connection: Connection) -> tuple[UUID, UUID]:
    scope = {"organization_id": ORGANIZATION_ID}
    await connection.execute(
        "insert into organization (organization_id, name) values (%(organization_id)s, 'B')", scope
    )
    cursor = await connection.execute(
        "with base as (insert into knowledge_base (organization_id, name) values (%(organization_id)s, 'B')"
        " returning base_id) insert into source (organization_id, base_id, kind, name)"
        " select %(organization_id)s, base_id, 'jsonl', 'B' from base returning source_id",
        scope,
    )
    ((source_id,),) = await cursor.fetchall()
    cursor = await connection.execute(
        "insert into ingest_run (organization_id, source_id) values (%s, %s) returning run_id",
        [ORGANIZATION_ID, source_id],
    )
    ((run_id,),) = await cursor.fetchall()
    return source_id, run_id


def _ready(source_id: UUID) -> Any:
    async def complete(connection: Connection) -> None:
        await connection.execute("update source set status = 'ready' where source_id = %s", [source_id])

    return complete


async def _check(connection: Connection, run_id: UUID) -> int:
    """How many lines were read; fails the run where not all of them can be searched."""
    cursor = await connection.execute("select lines_read, created from ingest_run where run_id = %s", [run_id])
    ((lines, created),) = await cursor.fetchall()
    cursor = await connection.execute(
        "select (select count(*) from passage), count(*) filter (where servable) from passage_vector"
    )
    ((passages, servable),) = await cursor.fetchall()
    if lines != created or passages != servable:
        raise RuntimeError(f"{lines} lines, {created} items, {passages} passages, {servable} to be searched")
    return int(lines)


async def _beside_embedder(connection: Connection, embedder: Embedder, took_s: float) -> dict[str, Any]:
    """How long the embedder alone takes for the same texts, in requests of the same size."""
    cursor = await connection.execute(
        "select i.title, p.content, p.heading from passage p join knowledge_item i using (organization_id, item_id)"
    )
    texts = [Passage(0, *row).embedded_text async for row in cursor]
    begun = time.perf_counter()
    for some in _batches(texts, _EMBEDDED_AT_ONCE):
        await embedder.embed_passages(some)
    alone_s = time.perf_counter() - begun
    return {"embedder_alone_s": round(alone_s, 2), "of_embedder_alone": round(alone_s / took_s, 3)}


def _memory_mb() -> float:
    """The most that this process ever had in memory."""
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(kilobytes / (2**20 if sys.platform == "darwin" else 2**10), 1)


def in_process(series: Series, database: TestDatabase) -> dict[str, Any]:
    """Measure a series in a process of its own: memory is counted from where it begins."""
    child = [sys.executable, "-m", "tests.bench.ingest", "--child", json.dumps(asdict(series) | asdict(database))]
    done = subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(wanted: list[Series], console: Console) -> dict[str, Any]:
    """Measure every series; what is written to build/bench/ingest.json."""
    before = round(os.getloadavg()[0], 2)
    found = []
    with test_server() as server:
        template = migrated_template(server)
        for series in wanted:
            console.print(f"{series.count:,} {series.shape}, {series.embedder} embedder ...")
            with clone(server, template) as database:
                found.append(in_process(series, database))
    return {
        "machine": {
            "cpus": os.cpu_count(),
            "platform": platform.platform(),
            "python": platform.python_version(),
            "load_average_before": before,
        },
        "wanted_of_embedder_alone": RATIO,
        "series": found,
    }


def show(found: dict[str, Any], console: Console) -> None:
    """Print what was measured."""
    machine = found["machine"]
    console.print(f"\n{machine['cpus']} CPUs, load average {machine['load_average_before']} before.\n")
    table = Table(box=None)
    for heading in (
        "",
        "embedder",
        "passages",
        "lines/s read",
        "passages/s",
        "peak MB",
        "idle MB",
        "of embedder alone",
    ):
        table.add_column(heading, justify="left" if heading in ("", "embedder") else "right")
    for row in found["series"]:
        ratio = row.get("of_embedder_alone")
        table.add_row(
            f"{row['count']:,} {row['shape']}",
            row["embedder"],
            f"{row['passages']:,}",
            f"{row['lines_a_second']:,}",
            f"{row['passages_a_second']:,.0f}",
            f"{row['peak_mb']:.0f}",
            f"{row['idle_mb']:.0f}",
            "" if ratio is None else f"{ratio:.2f} (≥ {found['wanted_of_embedder_alone']})",
        )
    console.print(table)


def main(
    items: Annotated[int, typer.Option(help="Items of 3.2 passages each, with the fake embedder.")] = 3_143,
    lines: Annotated[int, typer.Option(help="Lines of one passage each, with the fake embedder.")] = 100_000,
    local: Annotated[int, typer.Option(help="Lines of one passage each, with the local embedder.")] = 600,
    child: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure imports and indexing and write build/bench/ingest.json; a count of 0 leaves a series out."""
    if child is not None:
        given = json.loads(child)
        series = Series(Shape(given["shape"]), given["count"], given["embedder"])
        database = TestDatabase(LocalServer(**given["server"]), given["name"])
        print(json.dumps(asyncio.run(measure(series, database, Console(stderr=True)))))  # noqa: T201 - for the parent
        return
    console = Console()
    wanted = [
        Series(Shape.items, items, "fake"),
        Series(Shape.lines, lines, "fake"),
        Series(Shape.lines, local, "local"),
    ]
    found = run([series for series in wanted if series.count], console)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "ingest.json").write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    show(found, console)


if __name__ == "__main__":
    typer.run(main)
