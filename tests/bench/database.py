"""The databases of the bench: written once by COPY into the migrated schema, kept between runs."""

import shutil
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from rich.console import Console
from rich.progress import Progress

from retrieval_sidecar import ingest, migrations
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.local_database import LocalServer, local_server
from retrieval_sidecar.partitions.move import place_organization
from tests.bench import tables, tenant, texts, vectors
from tests.bench.plan import Plan
from tests.bench.tenant import UNDER_TEST, Searchable, Tenant, organization_id
from tests.bench.texts import Item, items, passages_of
from tests.bench.vectors import Embedded, Mixtures, embed
from tests.support.database import TestDatabase
from tests.support.sidecar import connected

CACHE = Path(__file__).parents[2] / ".cache" / "bench"
_OTHERS = 10_000  # passages of each organization that nobody asks


@dataclass(frozen=True)
class Database:
    """A database, and the organizations in it that are asked.

    Attributes:
        passages: of all organizations together.
        under_test: the one of 3,143 items.
        large: by their passages.
    """

    passages: int
    test: TestDatabase
    under_test: Searchable
    large: Mapping[int, Searchable]

    def superuser(self) -> psycopg.Connection[TupleRow]:
        return _superuser(self.test)


@dataclass(frozen=True)
class BenchData:
    """All of it.

    Attributes:
        questions: their texts, for the organization under test, and their vectors, as the model gave them.
        folder: keeps what belongs to this data; gone with it.
    """

    server: LocalServer
    folder: Path
    embedder: Embedder
    questions: Sequence[str]
    vectors: Vectors
    databases: Sequence[Database]


@asynccontextmanager
async def bench_data(plan: Plan, embedder: Embedder, console: Console, cache: Path = CACHE) -> AsyncIterator[BenchData]:
    """Start the server with the databases of a plan, made where they are not kept from an earlier run.

    Args:
        embedder: started; what it gives is kept by text.
        cache: where it is all kept; older data of the same plan is deleted.
    """
    folder = cache / f"{plan.name}-{fingerprint(plan, embedder.model)}"
    _forget_others(cache, plan, folder)
    under_test = items(1, passages_of(plan.items))
    folder.mkdir(parents=True, exist_ok=True)
    embedded = await embed(embedder, under_test, plan.embedded, plan.questions, cache, console)
    with local_server(folder / "data") as server:
        databases = [_database(server, plan, size, folder, embedded, embedder, console) for size in plan.databases]
        await _give_partitions(databases[-1], folder, console)
        yield BenchData(server, folder, embedder, embedded.texts, embedded.questions, databases)


async def _give_partitions(database: Database, folder: Path, console: Console) -> None:
    """Move the large organizations to partitions of their own, as an operator would."""
    for passages, organization in sorted(database.large.items()):
        moved = folder / f"{passages}.moved"
        if moved.exists():
            continue
        console.print(f"Moving {passages:,} passages to a partition of their own ...")
        async with connected(database.test, "owner") as connection, connected(database.test, "owner") as watch:
            await place_organization(
                connection, watch, organization_id(organization.number), own_partition=True, settle=_nobody_searches
            )
        moved.touch()


async def _nobody_searches() -> None:
    return


def fingerprint(plan: Plan, model: str) -> str:
    """Of what decides the content of the databases: others are made where any of it has changed."""
    folder = Path(__file__).parent
    sources = [
        *sorted(Path(migrations.__file__).parent.rglob("*.sql")),
        *sorted(Path(ingest.__file__).parent.rglob("*.sql")),
        *(Path(str(module.__file__)) for module in (tables, tenant, texts, vectors)),
        folder / "database.py",
    ]
    content = b"".join(path.read_bytes() for path in sources)
    sizes = (plan.items, plan.embedded, plan.questions, plan.databases, plan.large)
    return blake2b(content + repr((model, sizes)).encode(), digest_size=6).hexdigest()


def _forget_others(cache: Path, plan: Plan, folder: Path) -> None:
    for other in cache.glob(f"{plan.name}-*"):
        # A server that runs there is another run's.
        if other != folder and not (other / "data" / "postmaster.pid").exists():
            shutil.rmtree(other)


def _database(
    server: LocalServer,
    plan: Plan,
    size: int,
    folder: Path,
    embedded: Embedded,
    embedder: Embedder,
    console: Console,
) -> Database:
    test = TestDatabase(server, f"bench_{size}")
    asked = dict(_asked(plan, size))
    files = {number: folder / f"{size}-{number}.npz" for number in asked}
    written = folder / f"{size}.written"
    if not written.exists():
        server.drop_database(test.name)
        server.create_database(test.name)
        migrations.upgrade(test.url("owner"))
        with _superuser(test) as connection, _bulk(connection), Progress(console=console, transient=True) as progress:
            writer = tables.Writer(connection, embedder.model, embedder.dimensions)
            task = progress.add_task(f"Writing {size:,} passages", total=size)
            for each in _tenants(plan, size, embedded):
                writer.write(each)
                if each.number in files:
                    Searchable.of(each).save(files[each.number])
                progress.advance(task, len(each.passages))
            console.print(f"Building the indexes of {size:,} passages ...")
        written.touch()
    found = {number: Searchable.load(files[number], number, documents) for number, documents in asked.items()}
    return Database(size, test, found.pop(UNDER_TEST), {len(each.ids): each for each in found.values()})


def _asked(plan: Plan, size: int) -> Iterator[tuple[int, Sequence[Item]]]:
    """The numbers of the organizations that are asked, and their items."""
    first = 1
    for number, passages in _sizes(plan, size):
        documents = items(first, passages, hidden=number == UNDER_TEST)
        first += len(documents)
        if number <= UNDER_TEST + len(plan.large) and (number == UNDER_TEST or size == plan.databases[-1]):
            yield number, documents


def _sizes(plan: Plan, size: int) -> Iterator[tuple[int, int]]:
    """The number of each organization of a database, and its passages."""
    mine = passages_of(plan.items)
    large = plan.large if size == plan.databases[-1] else ()
    left = size - mine - sum(large)
    if left < 0:
        raise ValueError(f"{size} passages have no room for those of the organizations that are asked")
    whole, rest = divmod(left, _OTHERS)
    yield from enumerate([mine, *large, *[_OTHERS] * whole, *([rest] if rest else [])], start=UNDER_TEST)


def _tenants(plan: Plan, size: int, embedded: Embedded) -> Iterator[Tenant]:
    mixtures = Mixtures(embedded.passages)
    first_item, first_passage = 1, 1
    for number, passages in _sizes(plan, size):
        documents = items(first_item, passages, hidden=number == UNDER_TEST)
        raw = mixtures.draw(passages, seed=number)
        if number == UNDER_TEST:
            raw = np.concatenate([embedded.passages, raw[len(embedded.passages) :]])
        yield Tenant(number, documents, first_passage, raw, embedded)
        first_item += len(documents)
        first_passage += passages


@contextmanager
def _bulk(connection: psycopg.Connection[TupleRow]) -> Iterator[None]:
    """Rows first, then indexes: the secondary ones are dropped and made again as the migration defined them.

    Triggers rest, and with them foreign keys, which the rows hold by construction; a test of the bench checks the rows.
    """
    connection.execute("set session_replication_role = replica")
    connection.execute("set synchronous_commit = off")
    connection.execute("set maintenance_work_mem = '1GB'")
    indexes = connection.execute(
        """
        select c.relname, pg_get_indexdef(i.indexrelid)
        from pg_index i
        join pg_class c on c.oid = i.indexrelid
        where c.relnamespace = 'public'::regnamespace
            and not exists (select from pg_constraint where conindid = i.indexrelid)
            and not c.relispartition -- it comes and goes with the index of the whole table
            and i.indrelid in (select oid from pg_class where relname like 'passage%')
        """
    ).fetchall()
    for name, _ in indexes:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    yield
    for _, definition in indexes:
        connection.execute(definition.replace(" ON ONLY ", " ON ", 1))
    connection.execute("vacuum (analyze, freeze)")
    connection.execute("checkpoint")


def _superuser(database: TestDatabase) -> psycopg.Connection[TupleRow]:
    return psycopg.connect(database.server.url("postgres", database.name), autocommit=True)
