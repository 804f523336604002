"""What every command shares: where it prints, what it opens, and how it ends where something is wrong."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, NoReturn, TypeVar

import typer
from aiohttp import web
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from retrieval_sidecar import database
from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedders, create_embedders
from retrieval_sidecar.errors import InvalidRequest, SidecarError
from retrieval_sidecar.ingest.indexing import Progress as Indexed
from retrieval_sidecar.settings import Settings

app = typer.Typer(
    help="Owns the allowlist, the scope snapshot and the search; answers voice workers over the pinned contract.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
out, err = Console(), Console(stderr=True)
_T = TypeVar("_T")


def serve_app(served: web.Application, *, host: str, port: int) -> None:
    """Serve an API until told to stop; a handler is cancelled when its client leaves."""
    web.run_app(served, host=host, port=port, handler_cancellation=True, access_log=None, print=lambda *_: None)


@contextmanager
def bar(what: str) -> Iterator[Indexed]:
    """A bar of one piece of work; what it yields moves it."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(what, total=None, visible=False)  # until there is something to do
        yield lambda done, total: progress.update(task, completed=done, total=total, visible=True)


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[Embedders]:
    """The embedders of the settings, loaded."""
    embedders = create_embedders(settings)
    try:
        await embedders.start()
        yield embedders
    finally:
        await embedders.close()


@asynccontextmanager
async def connected(settings: Settings, role: Literal["owner", "manage", "voice"]) -> AsyncIterator[Connection]:
    """A connection of a role."""
    async with database.connected(settings.conninfo(role)) as connection:
        yield connection


def read_settings() -> Settings:
    """Those of the environment; ends the command where they are wrong."""
    try:
        return Settings.from_env()
    except SidecarError as error:
        fail(str(error))


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """What comes of some work; ends the command, with what is wrong, where it fails."""
    try:
        return asyncio.run(work)
    except SidecarError as error:
        fail(describe(error))


def describe(error: SidecarError) -> str:
    """What is wrong, with each field that is."""
    if isinstance(error, InvalidRequest):
        return "; ".join(f"{each.field}: {each.message}" for each in error.problems)
    return str(error)


def fail(message: str) -> NoReturn:
    """End the command with exit status 1."""
    err.print(message, style="red", markup=False)
    raise typer.Exit(1)
