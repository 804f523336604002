"""The management API and its keys: manage, key."""

import json
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer
from rich.table import Table

from retrieval_sidecar import metrics
from retrieval_sidecar.cli.shared import app, connected, fail, out, read_settings, run, serve_app
from retrieval_sidecar.errors import NotFound, SidecarError
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management import keys
from retrieval_sidecar.management.app import create_app
from retrieval_sidecar.telemetry import configure_telemetry

key_app = typer.Typer(
    help="API keys: what operators and their scripts show to the management API.", no_args_is_help=True
)
app.add_typer(key_app, name="key")

_T = TypeVar("_T")
_ACTOR = "command line"
Organization = Annotated[UUID, typer.Option(help="Whose key it is.")]


@app.command()
def manage() -> None:
    """Serve the management API until it is told to stop (SIGTERM or Ctrl-C). What is added is read by `work`."""
    settings = read_settings()
    configure_telemetry(settings, "manage")
    try:
        with metrics.served(settings):
            serve_app(create_app(settings), host=settings.management_host, port=settings.management_port)
    except SidecarError as error:
        fail(str(error))


@key_app.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What it is for, such as the script's name.")],
    organization: Organization,
    permission: Annotated[
        list[str],
        typer.Option(help="agents.view reads, agents.edit changes too, admin may do all; may be given several times."),
    ],
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="After so many it ends by itself.")] = None,
) -> None:
    """Make an API key and print it, this once."""
    now = datetime.now(UTC)
    ends = now + timedelta(days=days) if days else None

    async def create() -> Credential:
        async with connected(read_settings(), "manage") as connection:
            return await keys.create_key(connection, organization, name, permission, now, actor=_ACTOR, expires_at=ends)

    typer.echo(run(_named(create(), f"There is no organization {organization}.")))


@key_app.command("revoke")
def revoke_key(
    key_id: Annotated[UUID, typer.Argument(help="As `key list` shows it; the third part of the key.")],
    organization: Organization,
) -> None:
    """End an API key at once."""

    async def revoke() -> None:
        async with connected(read_settings(), "manage") as connection:
            await keys.revoke_key(connection, organization, key_id, datetime.now(UTC), actor=_ACTOR)

    run(_named(revoke(), "There is no such key of this organization, or it is revoked already."))
    out.print("revoked")


@key_app.command("list")
def list_keys(
    organization: Organization,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show an organization's API keys, without their secrets."""

    async def found() -> list[keys.Key]:
        async with connected(read_settings(), "manage") as connection:
            return await keys.list_keys(connection, organization)

    listed = run(_named(found(), f"There is no organization {organization}."))
    if as_json:
        out.print_json(json.dumps([_as_json(key) for key in listed]))
        return
    table = Table("key", "name", "permissions", "made", "ends", "revoked", "last used")
    for key in listed:
        times = (key.created_at, key.expires_at, key.revoked_at, key.last_used_at)
        shown = (f"{each:%Y-%m-%d %H:%M}" if each else "" for each in times)
        table.add_row(str(key.key_id), key.name, ", ".join(key.permissions), *shown)
    out.print(table)


async def _named(work: Coroutine[Any, Any, _T], missing: str) -> _T:
    """The same work, which says what there is not."""
    try:
        return await work
    except NotFound:
        fail(missing)


def _as_json(key: keys.Key) -> dict[str, object]:
    times = {"created_at": key.created_at, "expires_at": key.expires_at, "revoked_at": key.revoked_at}
    times["last_used_at"] = key.last_used_at
    said = {name: each.isoformat() if each else None for name, each in times.items()}
    return {"id": str(key.key_id), "name": key.name, "permissions": list(key.permissions), **said}
