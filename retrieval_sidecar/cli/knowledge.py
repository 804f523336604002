"""What an organization knows, as a whole: load, search, calibrate, reembed, spaces."""

from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Table

from contracts.voice import SearchRequest
from retrieval_sidecar.calibration.command import print_report
from retrieval_sidecar.calibration.questions import read_questions
from retrieval_sidecar.calibration.run import Report, Wanted, calibrate
from retrieval_sidecar.cli.shared import app, bar, connected, describe, err, fail, out, read_settings, run, started
from retrieval_sidecar.database import Connection, Pool, translated_errors
from retrieval_sidecar.deadline import LONGEST_S, Deadline
from retrieval_sidecar.embeddings import create_embedders
from retrieval_sidecar.errors import InvalidRequest
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
from retrieval_sidecar.scope.resolve import scope_of_agent
from retrieval_sidecar.search.explain import print_outcome
from retrieval_sidecar.search.service import Outcome, SearchService
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.voice.answers import to_response


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
    loaded, passages = run(_load(read_settings(), organization, items, forget_space or []))
    out.print(
        f"{loaded.items} items, {loaded.instructions} instructions, {loaded.agents} agents;"
        f" {passages} passages searchable"
    )
    for number, why in loaded.rejected:
        err.print(f"line {number}: {describe(why)}", style="yellow")
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
    outcome = run(_search(read_settings(), query, number, caller))
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
        fail("Name the organization by either --number or --organization.")
    try:
        wanted = Wanted(None if questions is None else read_questions(questions), passages, lost)
    except InvalidRequest as error:
        fail(describe(error))
    report = run(_calibrate(read_settings(), number, organization, wanted, store=not dry_run))
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
        fail("Say whose knowledge: --organization ID, or --all")
    if sum([no_switch, switch_to_model is not None, drop is not None]) > 1:
        fail("Choose one of --no-switch, --switch-to and --drop.")
    run(_reembed(read_settings(), organization, switch=not no_switch, switch_to_model=switch_to_model, drop=drop))


@app.command()
def spaces(
    organization: Annotated[UUID, typer.Option(help="Whose knowledge.")],
) -> None:
    """List the models that an organization's passages have vectors of, and which of them answers."""

    async def describe() -> list[SpaceState]:
        async with connected(read_settings(), "manage") as connection:
            await _require_organizations(connection, [organization])
            return await describe_spaces(connection, organization)

    table = Table(box=None, pad_edge=False)
    for heading in ("model", "dimensions", "passages", "complete", "active"):
        table.add_column(heading, justify="right" if heading in ("dimensions", "passages") else "left")
    for space in run(describe()):
        complete = "yes" if space.is_complete else f"no: {space.embedded} of {space.texts} texts embedded"
        passages = f"{space.vectors} of {space.passages}"
        table.add_row(space.model, str(space.dimensions), passages, complete, "yes" if space.active else "no")
    out.print(table)


async def _load(settings: Settings, organization: Path, items: Path, forget: list[str]) -> tuple[Loaded, int]:
    async with started(settings) as embedders, connected(settings, "manage") as connection:
        # Before anything is changed that could not be searched then.
        organization_id = OrganizationFile.read(organization).organization.id
        require_embedders(await read_spaces(connection, organization_id), embedders, forget)
        loaded = await load_organization(connection, organization, items)
        with bar("embedding") as progress:
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
    async with connected(settings, "manage") as connection:
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
        async with started(settings) as embedders:
            for organization_id in organizations:
                with bar("embedding") as progress:
                    passages = await reembed_organization(
                        connection, embedders, organization_id, switch=switch, progress=progress
                    )
                model = embedders.preferred.model
                done = f"searched by {model}" if switch else f"{model} is complete"
                out.print(f"{organization_id}: {done}, {passages} passages")


async def _require_organizations(connection: Connection, organizations: list[UUID]) -> None:
    if unknown := set(organizations) - set(await all_organizations(connection)):
        fail(f"There is no organization {', '.join(map(str, unknown))}.")


async def _search(settings: Settings, query: str, number: str, caller: str | None) -> Outcome:
    pool = Pool(settings.conninfo("voice"), 1)
    try:
        async with started(settings) as embedders, translated_errors():
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
    async with started(settings) as embedders, connected(settings, "manage") as connection:
        if organization_id is None:
            organization_id, _ = await agent_of_number(connection, number or "")
        with bar("questions") as progress:
            return await calibrate(connection, embedders, organization_id, wanted, store=store, progress=progress)
