"""Bringing knowledge in: `ingest PATH_OR_URL…`, and what has become of it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from retrieval_sidecar.cli.following import follow
from retrieval_sidecar.cli.outcomes import SHOWN_REJECTIONS, Outcome, print_json, report
from retrieval_sidecar.cli.shared import app, connected, describe, err, fail, out, read_settings, run
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import SidecarError
from retrieval_sidecar.ingest.spaces import all_organizations
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.management.answers import known_by
from retrieval_sidecar.management.audit import Change, record
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.sources.bases import Base, create_base, find_base_by_name, list_bases
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.putting import put_source
from retrieval_sidecar.sources.sources import (
    Kind,
    NewSource,
    Source,
    delete_source,
    find_source,
    list_sources,
    rejections_of,
    request_reprocess,
)
from retrieval_sidecar.telemetry import configure_logging

_ACTOR = "command line"
_FIRST_BASE = "Knowledge"
_PIECE_BYTES = 1024 * 1024
_PAGE = 100
_SNIFFED = 1024 * 1024
_INTERRUPTED = 130


class _AddsByDefault(TyperGroup):
    """A group whose first word is a command, or else something to add; a file called `status` is `./status`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["add", *args]
        return super().parse_args(ctx, args)


ingest_app = typer.Typer(cls=_AddsByDefault)
app.add_typer(
    ingest_app,
    name="ingest",
    help="Add files, web pages, pasted text and JSONL to a knowledge base; see what came of it.",
)

Format = Literal["auto", "file", "jsonl", "text"]
OrganizationOption = Annotated[
    UUID | None, typer.Option("--organization", help="Whose; may be left out where there is only one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="For machines.")]
WatchOption = Annotated[
    bool,
    typer.Option(
        "--watch-progress/--no-wait", help="Stay until it is searchable, or leave the work to `retrieval-sidecar work`."
    ),
]


@ingest_app.command("add", hidden=True)
def add(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH_OR_URL...", help="Files or web addresses; `-` is text pasted here.")
    ],
    *,
    organization: OrganizationOption = None,
    base: Annotated[
        str | None,
        typer.Option(help="The knowledge base, made if it is new; may be left out where there is only one."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it, in place of its file name or title.")] = None,
    file_format: Annotated[
        Format,
        typer.Option("--format", help="jsonl: an item a line; text: as it is; file: a document. auto looks inside."),
    ] = "auto",
    watch_progress: WatchOption = True,
    as_json: JsonOption = False,
) -> None:
    """Add files, web pages and pasted text, and show how they become searchable.

    The same again replaces what was there; the same content changes nothing. Also: `ingest status`,
    `ingest reprocess SOURCE_ID…` and `ingest remove SOURCE_ID…`; a file called `status` is `./status`.
    """
    if name is not None and len(paths) > 1:
        fail("--name is for one thing to add; leave it out for several.")
    settings = _quiet_settings()
    with _interruptible():
        outcomes = run(_add(settings, organization, base, paths, name, file_format, wait=watch_progress, quiet=as_json))
    report(outcomes, as_json=as_json)


@ingest_app.command()
def status(
    *,
    organization: OrganizationOption = None,
    base: Annotated[str | None, typer.Option(help="The knowledge base; without it, all of them.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the sources, what has become of each, and why."""
    found = run(_status(_quiet_settings(), organization, base))
    if as_json:
        print_json([{"base": base.name} | asdict(source) for base, source in found])
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("status", "items", "passages", "id", "source"):
        # An id is there to be copied, whatever the width.
        table.add_column(
            heading,
            justify="right" if heading in ("items", "passages") else "left",
            overflow="fold",
            no_wrap=heading == "id",
        )
    for each, source in found:
        shown = source.status + ("" if source.is_searchable or source.status != "failed" else ", not searchable")
        name = f"{each.name} › {source.name}" + (f"\n{source.error}" if source.error else "")
        table.add_row(shown, f"{source.items:,}", f"{source.passages:,}", str(source.source_id), escape(name))
    out.print(table)


@ingest_app.command()
def reprocess(
    source_ids: Annotated[list[UUID], typer.Argument(metavar="SOURCE_ID...", help="As `ingest status` shows them.")],
    *,
    organization: OrganizationOption = None,
    watch_progress: WatchOption = True,
    as_json: JsonOption = False,
) -> None:
    """Read sources again, and fetch web pages again; what they yielded answers until then."""
    settings = _quiet_settings()
    with _interruptible():
        outcomes = run(_reprocess(settings, organization, source_ids, wait=watch_progress, quiet=as_json))
    report(outcomes, as_json=as_json)


@ingest_app.command()
def remove(
    source_ids: Annotated[list[UUID], typer.Argument(metavar="SOURCE_ID...", help="As `ingest status` shows them.")],
    *,
    organization: OrganizationOption = None,
) -> None:
    """Remove sources and all that came of them."""

    async def removed() -> None:
        async with connected(_quiet_settings(), "manage") as connection:
            organization_id = await _organization(connection, organization)
            for source_id in source_ids:
                async with connection.transaction():
                    source = await find_source(connection, organization_id, source_id)
                    await delete_source(connection, organization_id, source_id)
                    await _audit(connection, organization_id, "delete", before=source)
                out.print(f"{source.name}: removed", markup=False)

    run(removed())


async def _add(
    settings: Settings,
    organization: UUID | None,
    base: str | None,
    paths: Sequence[str],
    name: str | None,
    file_format: Format,
    *,
    wait: bool,
    quiet: bool,
) -> list[Outcome]:
    limits = SourceLimits.of(settings)
    async with connected(settings, "manage") as connection:
        organization_id = await _organization(connection, organization)
        base_id = await _base(connection, organization_id, base, limits)
        outcomes = []
        names: set[str] = set()
        for given in paths:
            try:
                new = _new_source(given, name, file_format)
                content = None if new.kind == "url" else _content(given)
                _once(new.name, names)
                async with connection.transaction():
                    put = await put_source(connection, organization_id, base_id, new, content, limits)
                    if put.has_changed:
                        action = "create" if put.is_new else "reprocess" if new.kind == "url" else "update"
                        await _audit(connection, organization_id, action, after=put.source)
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else str(error)
                outcomes.append(Outcome(given, error=why or "It cannot be read."))
            except SidecarError as error:
                outcomes.append(Outcome(given, error=describe(error)))
            else:
                outcomes.append(Outcome(given, put.source, put.has_changed))
        return await _see_through(settings, connection, organization_id, outcomes, wait=wait, quiet=quiet)


async def _reprocess(
    settings: Settings, organization: UUID | None, source_ids: Sequence[UUID], *, wait: bool, quiet: bool
) -> list[Outcome]:
    async with connected(settings, "manage") as connection:
        organization_id = await _organization(connection, organization)
        outcomes = []
        for source_id in source_ids:
            try:
                async with connection.transaction():
                    source = await request_reprocess(connection, organization_id, source_id)
                    await _audit(connection, organization_id, "reprocess", after=source)
            except SidecarError as error:
                outcomes.append(Outcome(str(source_id), error=describe(error)))
            else:
                outcomes.append(Outcome(str(source_id), source, has_changed=True))
        return await _see_through(settings, connection, organization_id, outcomes, wait=wait, quiet=quiet)


async def _status(settings: Settings, organization: UUID | None, name: str | None) -> list[tuple[Base, Source]]:
    async with connected(settings, "manage") as connection:
        organization_id = await _organization(connection, organization)
        bases, found = await _all_bases(connection, organization_id), []
        if name is not None:
            bases = [base for base in bases if base.name == name]
            if not bases:
                fail(f"There is no knowledge base called {name}.")
        for base in bases:
            sources = await list_sources(connection, organization_id, base.base_id, limit=_PAGE)
            while sources:
                found += [(base, source) for source in sources]
                after = sources[-1].name
                sources = await list_sources(connection, organization_id, base.base_id, after=after, limit=_PAGE)
        return found


async def _see_through(
    settings: Settings,
    connection: Connection,
    organization_id: UUID,
    outcomes: Sequence[Outcome],
    *,
    wait: bool,
    quiet: bool,
) -> list[Outcome]:
    """Have the sources worked on; as they are in the end, or, without waiting, as they are."""
    ids = [each.source.source_id for each in outcomes if each.source and each.source.status == "processing"]
    async with JobQueue(settings.conninfo("manage")) as queue:
        for source_id in ids:
            await queue.request(organization_id, source_id)
    if not wait or not ids:
        return list(outcomes)
    followed = await follow(settings, connection, organization_id, ids, quiet=quiet)
    done = {source.source_id: source for source in followed}
    seen = []
    for each in outcomes:
        if each.source is None or each.source.source_id not in ids:
            seen.append(each)
        elif each.source.source_id not in done:
            seen.append(Outcome(each.given, error="It was removed meanwhile."))
        else:
            source = done[each.source.source_id]
            rejections = await rejections_of(connection, organization_id, source.source_id, limit=SHOWN_REJECTIONS)
            seen.append(Outcome(each.given, source, each.has_changed, rejections=rejections))
    return seen


async def _organization(connection: Connection, given: UUID | None) -> UUID:
    every = await all_organizations(connection)
    if given is not None:
        if given not in every:
            fail(f"There is no organization {given}.")
        return given
    if not every:
        fail("There is no organization yet. Load one: retrieval-sidecar load ORGANIZATION ITEMS")
    if len(every) > 1:
        fail(f"There are {len(every)} organizations: say whose, with --organization ID")
    return every[0]


async def _base(connection: Connection, organization_id: UUID, name: str | None, limits: SourceLimits) -> UUID:
    """The base of a name, made if it is new; without a name, the only one."""
    if name is None:
        bases = await list_bases(connection, organization_id, limit=_PAGE)
        if len(bases) > 1:
            fail(f"Say which knowledge base, with --base: {', '.join(base.name for base in bases)}")
        if bases:
            return bases[0].base_id
        name = _FIRST_BASE
    found = await find_base_by_name(connection, organization_id, name)
    if found is not None:
        return found
    async with connection.transaction():
        made = await create_base(connection, organization_id, name, limits)
        change = Change("create", "knowledge_base", made.base_id, after={"name": made.name})
        await record(connection, organization_id, change, _ACTOR, datetime.now(UTC))
    return made.base_id


async def _audit(
    connection: Connection,
    organization_id: UUID,
    action: str,
    *,
    before: Source | None = None,
    after: Source | None = None,
) -> None:
    """Write down, in its transaction, what was done to a source."""
    source = before or after
    assert source is not None  # noqa: S101 - one of the two is given
    known = [None if each is None else known_by(each, named=True) for each in (before, after)]
    await record(
        connection,
        organization_id,
        Change(action, "source", source.source_id, *known),
        _ACTOR,
        datetime.now(UTC),
    )


async def _all_bases(connection: Connection, organization_id: UUID) -> list[Base]:
    found: list[Base] = []
    while bases := await list_bases(connection, organization_id, after=found[-1].name if found else "", limit=_PAGE):
        found += bases
    return found


def _new_source(given: str, name: str | None, file_format: Format) -> NewSource:
    """What an argument means. Raises ValueError, saying what is wrong with it."""
    if "://" in given:
        return NewSource("url", name, given, created_by=_ACTOR)
    if given == "-":
        if name is None:
            raise ValueError("What is pasted needs a title: --name")
        return NewSource("jsonl" if file_format == "jsonl" else "text", name, created_by=_ACTOR)
    path = Path(given)
    if not path.is_file():
        raise ValueError("It is a folder; name its files." if path.is_dir() else "There is no such file.")
    kind: Kind = file_format if file_format != "auto" else "jsonl" if _is_jsonl(path) else "file"
    return NewSource(kind, name or path.name, created_by=_ACTOR)


def _is_jsonl(path: Path) -> bool:
    """Whether the first line that is not blank is a JSON object."""
    with path.open("rb") as file:
        line = next((line for line in iter(lambda: file.readline(_SNIFFED), b"") if line.strip()), b"")
    try:
        return isinstance(json.loads(line.decode("utf-8-sig")), dict)
    except (ValueError, RecursionError):
        return False


async def _content(given: str) -> AsyncIterator[bytes]:
    with sys.stdin.buffer if given == "-" else await asyncio.to_thread(Path(given).open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece


def _once(name: str | None, names: set[str]) -> None:
    """Hold that no two things of one command have a name: the second would take the first one's place."""
    if name is not None and name in names:
        raise ValueError(f"Another one that is called {name} stands before it. Add it by itself, with --name.")
    names |= set() if name is None else {name}


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        err.print("Interrupted. What is not ready goes on with: retrieval-sidecar work", style="yellow")
        raise typer.Exit(_INTERRUPTED) from None


def _quiet_settings() -> Settings:
    """The settings; the log would be written into the bars, so only what is wrong is."""
    settings = read_settings()
    configure_logging("error")
    return settings
