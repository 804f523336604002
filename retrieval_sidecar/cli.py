"""The command line: `retrieval-sidecar --help`."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
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
from rich.table import Table

from contracts.voice import SearchRequest
from retrieval_sidecar import migrations
from retrieval_sidecar.calibration.command import print_report
from retrieval_sidecar.calibration.questions import read_questions
from retrieval_sidecar.calibration.run import Report, Wanted, calibrate
from retrieval_sidecar.database import Connection, Pool, translated_errors
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import Embedders, create_embedders
from retrieval_sidecar.errors import InvalidRequest, SidecarError
from retrieval_sidecar.ingest.indexing import Progress as Indexed
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import Loaded, load_organization
from retrieval_sidecar.ingest.organization_file import OrganizationFile
from retrieval_sidecar.ingest.reembedding import reembed as reembed_organization
from retrieval_sidecar.ingest.spaces import (
    SpaceState,
    all_organizations,
    describe_spaces,
    drop_space,
    read_spaces,
    require_embedders,
    switch_to,
)
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
    *,
    forget_space: Annotated[
        list[str] | None,
        typer.Option(
            help="A model that is not configured any more, whose vectors are given up; several times if need be."
        ),
    ] = None,
) -> None:
    """Load an organization from its files and make it searchable; the same files again change nothing."""
    loaded, passages = _run(_load(_settings(), organization, items, forget_space or []))
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


@app.command("calibrate")
def calibrate_organization(
    number: Annotated[str | None, typer.Option(help="A number that the organization's agents answer, or")] = None,
    organization: Annotated[UUID | None, typer.Option(help="its id.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help='Lines of {"query", "language", "expected": [external ids or none]}.'
        ),
    ] = None,
    lost: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="The share of good questions that may be lost.")
    ] = 0.05,
    passages: Annotated[int, typer.Option(min=20, max=5000, help="How many to make questions of, at most.")] = 300,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would come of it; store nothing.")] = False,
) -> None:
    """Fit the decision that nothing was found to an organization's knowledge.

    From labelled questions, or without any from the knowledge itself.
    """
    if (number is None) == (organization is None):
        _fail("Name the organization by either --number or --organization.")
    try:
        wanted = Wanted(None if questions is None else read_questions(questions), passages, lost)
    except InvalidRequest as error:
        _fail(_describe(error))
    report = _run(_calibrate(_settings(), number, organization, wanted, store=not dry_run))
    print_report(report, out, stored=not dry_run)


@app.command()
def reembed(
    *,
    organization: Annotated[
        list[UUID] | None, typer.Option(help="Whose knowledge; may be given several times.")
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="That of every organization.")] = False,
    no_switch: Annotated[
        bool, typer.Option("--no-switch", help="Embed only; searches go on by the model that answers now.")
    ] = False,
    switch_to_model: Annotated[
        str | None,
        typer.Option("--switch-to", metavar="MODEL", help="Embed nothing: search by this model, which is complete."),
    ] = None,
    drop: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Embed nothing: remove the vectors of this model, which does not answer."),
    ] = None,
) -> None:
    """Change the embedding model to the one of ANSWERLINE_EMBEDDER, while the old one answers.

    Interrupted, it goes on from there when it is called again. See docs/search.md, "Changing the model".
    """
    if (organization is None) != everyone:
        _fail("Say whose knowledge: --organization ID, or --all")
    if sum([no_switch, switch_to_model is not None, drop is not None]) > 1:
        _fail("Choose one of --no-switch, --switch-to and --drop.")
    _run(_reembed(_settings(), organization, switch=not no_switch, switch_to_model=switch_to_model, drop=drop))


@app.command()
def spaces(
    organization: Annotated[UUID, typer.Option(help="Whose knowledge.")],
) -> None:
    """List the models that an organization's passages have vectors of, and which of them answers."""

    async def describe() -> list[SpaceState]:
        async with _connected(_settings(), "manage") as connection:
            await _require_organizations(connection, [organization])
            return await describe_spaces(connection, organization)

    table = Table(box=None, pad_edge=False)
    for heading in ("model", "dimensions", "passages", "complete", "active"):
        table.add_column(heading, justify="right" if heading in ("dimensions", "passages") else "left")
    for space in _run(describe()):
        complete = "yes" if space.is_complete else f"no: {space.embedded} of {space.texts} texts embedded"
        passages = f"{space.vectors} of {space.passages}"
        table.add_row(space.model, str(space.dimensions), passages, complete, "yes" if space.active else "no")
    out.print(table)


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


async def _load(settings: Settings, organization: Path, items: Path, forget: list[str]) -> tuple[Loaded, int]:
    async with _started(settings) as embedders, _connected(settings, "manage") as connection:
        # Before anything is changed that could not be searched then.
        organization_id = OrganizationFile.read(organization).organization.id
        require_embedders(await read_spaces(connection, organization_id), embedders, forget)
        loaded = await load_organization(connection, organization, items)
        with _bar("embedding") as progress:
            passages = await index_organization(
                connection, embedders, organization_id, forget=forget, progress=progress
            )
    return loaded, passages


async def _reembed(
    settings: Settings,
    organizations: list[UUID] | None,
    *,
    switch: bool,
    switch_to_model: str | None,
    drop: str | None,
) -> None:
    async with _connected(settings, "manage") as connection:
        organizations = organizations or await all_organizations(connection)
        await _require_organizations(connection, organizations)
        if drop is not None:
            for organization_id in organizations:
                await drop_space(connection, organization_id, drop)
                out.print(f"{organization_id}: {drop} is dropped")
            return
        if switch_to_model is not None:
            create_embedders(settings).require(switch_to_model)
            for organization_id in organizations:
                await switch_to(connection, organization_id, switch_to_model)
                out.print(f"{organization_id}: searched by {switch_to_model}")
            return
        async with _started(settings) as embedders:
            for organization_id in organizations:
                with _bar("embedding") as progress:
                    passages = await reembed_organization(
                        connection, embedders, organization_id, switch=switch, progress=progress
                    )
                model = embedders.preferred.model
                done = f"searched by {model}" if switch else f"{model} is complete"
                out.print(f"{organization_id}: {done}, {passages} passages")


async def _require_organizations(connection: Connection, organizations: list[UUID]) -> None:
    if unknown := set(organizations) - set(await all_organizations(connection)):
        _fail(f"There is no organization {', '.join(map(str, unknown))}.")


async def _search(settings: Settings, query: str, number: str, caller: str | None) -> Outcome:
    pool = Pool(settings.conninfo("voice"), 1)
    try:
        async with _started(settings) as embedders, translated_errors():
            await pool.open(wait=True)
            async with pool.connection() as connection:
                organization_id, agent_id = await agent_of_number(connection, number)
            request = SearchRequest(org_id=organization_id, agent_id=agent_id, query=query[:500])
            resolve = partial(scope_of_agent, organization_id, agent_id, to_e164(caller))
            return await SearchService(pool, embedders).search(resolve, request, Deadline.after(LONGEST_S))
    finally:
        await pool.close()


async def _calibrate(
    settings: Settings, number: str | None, organization_id: UUID | None, wanted: Wanted, *, store: bool
) -> Report:
    async with _started(settings) as embedders, _connected(settings, "manage") as connection:
        if organization_id is None:
            organization_id, _ = await agent_of_number(connection, number or "")
        with _bar("questions") as progress:
            return await calibrate(connection, embedders, organization_id, wanted, store=store, progress=progress)


async def _self_test(settings: Settings) -> bool:
    embedders = create_embedders(settings)
    all_hold = True
    try:
        async with _connected(settings, "voice") as connection:
            async for check in run_checks(connection, embedders):
                all_hold &= check.ok
                mark = "[green]ok[/]" if check.ok else "[red]failed[/]"
                out.print(f"{mark} {check.name}: {check.found}" + ("" if check.ok else f". {check.hint}"))
    finally:
        await embedders.close()
    return all_hold


@contextmanager
def _bar(what: str) -> Iterator[Indexed]:
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@asynccontextmanager
async def _started(settings: Settings) -> AsyncIterator[Embedders]:
    embedders = create_embedders(settings)
    try:
        await embedders.start()
        yield embedders
    finally:
        await embedders.close()


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
