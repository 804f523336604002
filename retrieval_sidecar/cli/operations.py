"""Running it and looking after it: serve, migrate, health, self-test, partition, token."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import aiohttp
import typer

from retrieval_sidecar import metrics, migrations
from retrieval_sidecar.cli.shared import app, connected, err, fail, out, read_settings, run, serve_app
from retrieval_sidecar.embeddings import create_embedders
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.partitions import command as partitioning
from retrieval_sidecar.self_test import run_checks
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.telemetry import configure_telemetry
from retrieval_sidecar.voice import tokens
from retrieval_sidecar.voice.app import create_app

token_app = typer.Typer(help="Voice tokens: what a worker shows to be answered.", no_args_is_help=True)
app.add_typer(token_app, name="token")


@app.command()
def serve() -> None:
    """Serve the voice API until it is told to stop (SIGTERM or Ctrl-C)."""
    settings = read_settings()
    configure_telemetry(settings, "voice")
    try:
        with metrics.served(settings):
            serve_app(create_app(settings), host=settings.voice_host, port=settings.voice_port)
    except SidecarError as error:
        fail(str(error))


@app.command()
def migrate(
    revision: Annotated[str, typer.Argument(help="A revision, `head`, or one below to go down to.")] = "head",
    *,
    down: Annotated[bool, typer.Option("--down", help="Go down to REVISION; `base` removes everything.")] = False,
) -> None:
    """Bring the database's schema to this version, as its owner."""
    conninfo = read_settings().conninfo("owner")
    try:
        before = migrations.current(conninfo)
        if down:
            migrations.downgrade(conninfo, revision)
        else:
            migrations.upgrade(conninfo, revision)
        after = migrations.current(conninfo)
    except SidecarError as error:
        fail(str(error))
    out.print(f"schema: {before or 'empty'} → {after or 'empty'}")


@app.command()
def health(
    url: Annotated[str, typer.Option(help="The voice API.")] = "http://127.0.0.1:8090",
) -> None:
    """Ask a running sidecar whether it is ready; exit status 0 when it is."""
    run(_health(url))


@app.command("self-test")
def self_test() -> None:
    """Try each part that a search leans on; exit status 0 when all of them hold."""
    if not run(_self_test(read_settings())):
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
    settings = read_settings()
    if dry_run:

        async def advise() -> Sequence[partitioning.Standing]:
            async with connected(settings, "owner") as connection:
                return await partitioning.standings(connection, organization)

        partitioning.print_advice(run(advise()), out)
        return
    if organization is None:
        fail("Name the organization: --organization ID. What is advised for each: --dry-run")
    moved = run(partitioning.move(lambda: connected(settings, "owner"), organization, err, back=back))
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
        async with connected(read_settings(), "owner") as connection:
            return await tokens.create_token(connection, name, organization)

    typer.echo(run(create()))


@token_app.command("revoke")
def revoke_token(
    token_id: Annotated[UUID, typer.Argument(help="The part of the token between its underscores.")],
) -> None:
    """End a voice token at once."""

    async def revoke() -> bool:
        async with connected(read_settings(), "owner") as connection:
            return await tokens.revoke_token(connection, token_id, datetime.now(UTC))

    if not run(revoke()):
        fail("There is no such token, or it is revoked already.")
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
        fail(f"No sidecar answers at {url}. Start one: retrieval-sidecar serve")
    out.print_json(json.dumps(body))
    if answer.status != 200:
        raise typer.Exit(1)


async def _self_test(settings: Settings) -> bool:
    embedders = create_embedders(settings)
    all_hold = True
    try:
        async with connected(settings, "voice") as connection:
            async for check in run_checks(connection, embedders):
                all_hold &= check.ok
                mark = "[green]ok[/]" if check.ok else "[red]failed[/]"
                out.print(f"{mark} {check.name}: {check.found}" + ("" if check.ok else f". {check.hint}"))
    finally:
        await embedders.close()
    return all_hold
