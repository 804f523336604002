"""The command line: `retrieval-sidecar --help`."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar
from uuid import UUID

import aiohttp
import psycopg
import typer
from aiohttp import web
from pgvector.psycopg import register_vector_async
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from contracts.voice import SearchRequest
from retrieval_sidecar import migrations
from retrieval_sidecar.database import Connection, Pool, translated_errors
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import create_embedder
from retrieval_sidecar.errors import InvalidRequest, SidecarError
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import Loaded, load_organization
from retrieval_sidecar.knowledge.agents import agent_of_number
from retrieval_sidecar.knowledge.phone_numbers import to_e164
from retrieval_sidecar.partitions import command as partitioning
from retrieval_sidecar.scope.resolve import scope_of_agent
from retrieval_sidecar.search.explain import print_outcome
from retrieval_sidecar.search.service import Outcome, SearchService
from retrieval_sidecar.self_test import run_checks
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.telemetry import configure_logging
from retrieval_sidecar.voice import tokens
from retrieval_sidecar.voice.answers import to_response
from retrieval_sidecar.voice.app import create_app

app = typer.Typer(
    help="Owns the allowlist, the scope snapshot and the search; answers voice workers over the pinned contract.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
token_app = typer.Typer(help="Voice tokens: what a worker shows to be answered.", no_args_is_help=True)
app.add_typer(token_app, name="token")
out, err = Console(), Console(stderr=True)
_T = TypeVar("_T")


@app.command()
def serve() -> None:
    """Serve the voice API until it is told to stop (SIGTERM or Ctrl-C)."""
    settings = _settings()
    configure_logging(settings.log_level)
    web.run_app(
        create_app(settings),
        host=settings.voice_host,
        port=settings.voice_port,
        handler_cancellation=True,
        access_log=None,
        print=lambda *_: None,
    )


@app.command()
def migrate(
    revision: Annotated[str, typer.Argument(help="A revision, `head`, or one below to go down to.")] = "head",
    *,
    down: Annotated[bool, typer.Option("--down", help="Go down to REVISION; `base` removes everything.")] = False,
) -> None:
    """Bring the database's schema to this version, as its owner."""
    conninfo = _settings().conninfo("owner")
    try:
        before = migrations.current(conninfo)
        if down:
            migrations.downgrade(conninfo, revision)
        else:
            migrations.upgrade(conninfo, revision)
        after = migrations.current(conninfo)
    except SidecarError as error:
        _fail(str(error))
    out.print(f"schema: {before or 'empty'} → {after or 'empty'}")


@app.command()
def health(
    url: Annotated[str, typer.Option(help="The voice API.")] = "http://127.0.0.1:8090",
) -> None:
    """Ask a running sidecar whether it is ready; exit status 0 when it is."""
    _run(_health(url))


@app.command()
def load(
    organization: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="organization.yaml")],
    items: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="items.jsonl")],
) -> None:
    """Load an organization from its files and make it searchable; the same files again change nothing."""
    loaded, passages = _run(_load(_settings(), organization, items))
    out.print(
        f"{loaded.items} items, {loaded.instructions} instructions, {loaded.agents} agents;"
        f" {passages} passages searchable"
    )
    for number, why in loaded.rejected:
        err.print(f"line {number}: {_describe(why)}", style="yellow")
    if loaded.rejected:
        raise typer.Exit(1)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What a caller asks.")],
    number: Annotated[str, typer.Option(help="The number dialled; its agent's scope is searched.")],
    caller: Annotated[str | None, typer.Option(help="The caller's number; without it, an unknown caller.")] = None,
    *,
    explain: Annotated[bool, typer.Option("--explain", help="Also what was found and not given, and why.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The contract's answer, for machines.")] = False,
) -> None:
    """Search as a call would; prints what the agent would be given."""
    outcome = _run(_search(_settings(), query, number, caller))
    if as_json:
        out.print_json(to_response(outcome, has_parts=False).to_wire())
    else:
        print_outcome(outcome, out, explain=explain)


@app.command("self-test")
def self_test() -> None:
    """Try each part that a search leans on; exit status 0 when all of them hold."""
    if not _run(_self_test(_settings())):
        raise typer.Exit(1)


@app.command()
def partition(
    organization: Annotated[
        UUID | None, typer.Option(help="Which one to move; for the advice: of which alone.")
    ] = None,
    *,
    back: Annotated[bool, typer.Option("--back", help="Back to the partition that is everybody's.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Move nothing; say what the rule advises.")] = False,
) -> None:
    """Give a large organization a partition and an index of its own, while it is searched; again changes nothing."""
    settings = _settings()
    if dry_run:

        async def advise() -> Sequence[partitioning.Standing]:
            async with _connected(settings, "owner") as connection:
                return await partitioning.standings(connection, organization)

        partitioning.print_advice(_run(advise()), out)
        return
    if organization is None:
        _fail("Name the organization: --organization ID. What is advised for each: --dry-run")
    moved = _run(partitioning.move(lambda: _connected(settings, "owner"), organization, err, back=back))
    out.print(("moved" if moved else "was there already") + (": shared" if back else ": a partition of its own"))


@token_app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="What it is for, such as the worker's name.")],
    organization: Annotated[
        list[UUID], typer.Option(help="Whose calls its workers may answer; may be given several times.")
    ],
) -> None:
    """Make a voice token and print it, this once."""

    async def create() -> str:
        async with _connected(_settings(), "owner") as connection:
            return await tokens.create_token(connection, name, organization)

    typer.echo(_run(create()))


@token_app.command("revoke")
def revoke_token(
    token_id: Annotated[UUID, typer.Argument(help="The part of the token between its underscores.")],
) -> None:
    """End a voice token at once."""

    async def revoke() -> bool:
        async with _connected(_settings(), "owner") as connection:
            return await tokens.revoke_token(connection, token_id, datetime.now(UTC))

    if not _run(revoke()):
        _fail("There is no such token, or it is revoked already.")
    out.print("revoked")


async def _health(url: str) -> None:
    try:
        timeout = aiohttp.ClientTimeout(total=5)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{url.rstrip('/')}/readyz") as answer,
        ):
            body = await answer.json()
    except (aiohttp.ClientError, TimeoutError, ValueError):
        _fail(f"No sidecar answers at {url}. Start one: retrieval-sidecar serve")
    out.print_json(json.dumps(body))
    if answer.status != 200:
        raise typer.Exit(1)


async def _load(settings: Settings, organization: Path, items: Path) -> tuple[Loaded, int]:
    embedder = create_embedder(settings)
    await embedder.start()
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        async with _connected(settings, "manage") as connection:
            loaded = await load_organization(connection, organization, items)
            with Progress(*columns, console=err) as bar:
                task = bar.add_task("embedding", total=None)
                passages = await index_organization(
                    connection,
                    embedder,
                    loaded.organization_id,
                    progress=lambda done, total: bar.update(task, completed=done, total=total),
                )
    finally:
        await embedder.close()
    return loaded, passages


async def _search(settings: Settings, query: str, number: str, caller: str | None) -> Outcome:
    embedder = create_embedder(settings)
    await embedder.start()
    pool = Pool(settings.conninfo("voice"), 1)
    try:
        async with translated_errors():
            await pool.open(wait=True)
            async with pool.connection() as connection:
                organization_id, agent_id = await agent_of_number(connection, number)
        request = SearchRequest(org_id=organization_id, agent_id=agent_id, query=query[:500])
        resolve = partial(scope_of_agent, organization_id, agent_id, to_e164(caller))
        return await SearchService(pool, embedder).search(resolve, request, Deadline.after(LONGEST_S))
    finally:
        await pool.close()
        await embedder.close()


async def _self_test(settings: Settings) -> bool:
    embedder = create_embedder(settings)
    all_hold = True
    try:
        async with _connected(settings, "voice") as connection:
            async for check in run_checks(connection, embedder):
                all_hold &= check.ok
                mark = "[green]ok[/]" if check.ok else "[red]failed[/]"
                out.print(f"{mark} {check.name}: {check.found}" + ("" if check.ok else f". {check.hint}"))
    finally:
        await embedder.close()
    return all_hold


@asynccontextmanager
async def _connected(settings: Settings, role: Literal["owner", "manage", "voice"]) -> AsyncIterator[Connection]:
    async with translated_errors():
        connection = await psycopg.AsyncConnection.connect(settings.conninfo(role), autocommit=True)
        async with connection:
            await register_vector_async(connection)
            yield connection


def _settings() -> Settings:
    try:
        return Settings.from_env()
    except SidecarError as error:
        _fail(str(error))


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    try:
        return asyncio.run(work)
    except SidecarError as error:
        _fail(_describe(error))


def _describe(error: SidecarError) -> str:
    if isinstance(error, InvalidRequest):
        return "; ".join(f"{each.field}: {each.message}" for each in error.problems)
    return str(error)


def _fail(message: str) -> NoReturn:
    err.print(message, style="red", markup=False)
    raise typer.Exit(1)
