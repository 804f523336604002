"""`retrieval-sidecar partition`: what it prints."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from psycopg.rows import class_row
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from retrieval_sidecar.database import Connection
from retrieval_sidecar.partitions.move import place_organization
from retrieval_sidecar.partitions.rule import advice_for
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.partitions")


class Connect(Protocol):
    """Opens a connection of the schema's owner."""

    def __call__(self) -> AbstractAsyncContextManager[Connection]: ...


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the vectors of an organization's active space are, and how many a search may have to look through."""

    organization_id: UUID
    name: str
    partition_id: int
    servable_rows: int


async def standings(connection: Connection, organization_id: UUID | None) -> Sequence[Standing]:
    """Of one organization, or of all, the largest first."""
    cursor = connection.cursor(row_factory=class_row(Standing))
    await cursor.execute(_SQL["standings"])
    return [each for each in await cursor.fetchall() if organization_id in (None, each.organization_id)]


def print_advice(found: Sequence[Standing], console: Console) -> None:
    """A line an organization: what it has, and what the rule says."""
    table = Table("organization", "name", "partition", "servable passages", "advice", box=None, pad_edge=False)
    for each in found:
        has_partition = each.partition_id > 0
        advice = advice_for(each.servable_rows, has_partition=has_partition)
        cells = (str(each.organization_id), each.name, "own" if has_partition else "shared", f"{each.servable_rows:,}")
        table.add_row(*cells, advice, style="dim" if advice == "stay" else None)
    console.print(table)


async def move(connect: Connect, organization_id: UUID, console: Console, *, back: bool) -> bool:
    """Move an organization and show how far it is; whether there was anything to move."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with connect() as connection, connect() as watch:
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("looking", total=None)
            return await place_organization(
                connection,
                watch,
                organization_id,
                own_partition=not back,
                report=lambda step, done, total: bar.update(
                    task, description=step, completed=done, total=total or None
                ),
            )
