"""Knowledge bases: named sets of sources, an organization's, a team's or a person's. Those of others are not there."""

from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from psycopg import errors
from psycopg.rows import TupleRow

from retrieval_sidecar.database import Connection, require_row
from retrieval_sidecar.errors import Conflict, LimitReached, NotFound
from retrieval_sidecar.ingest.facts import forget_texts, refresh_facts
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.partitions.counts import count_vectors
from retrieval_sidecar.sources.limits import SourceLimits
from retrieval_sidecar.sources.names import name_of
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.sources")

OwnerType = Literal["organization", "team", "user"]


@dataclass(frozen=True, slots=True)
class Agent:
    """A phone agent that has something of a base in its selection."""

    agent_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base.

    Attributes:
        owner_id: of the team or the person; None of the organization's own.
        for_agents: whether agents may search it, as they may the organization's own, and what its owner has published.
        sources, items, passages, characters: in it, all together.
        agents: those whose selection names the base or something of it. Agents without a selection search it as well.
    """

    base_id: UUID
    name: str
    owner_type: OwnerType
    owner_id: UUID | None
    for_agents: bool
    sources: int
    characters: int
    items: int
    passages: int
    agents: tuple[Agent, ...] = field(kw_only=True)


async def create_base(
    connection: Connection,
    organization_id: UUID,
    name: str,
    limits: SourceLimits,
    *,
    owner_type: OwnerType = "organization",
    owner_id: UUID | None = None,
) -> Base:
    """Add one of the organization, of a team or of a member, who are there.

    Raises InvalidRequest, Conflict (the name is taken), LimitReached, and NotFound without such an organization.
    """
    name = name_of(name)
    parameters = {"organization_id": organization_id, "name": name, "owner_type": owner_type, "owner_id": owner_id}
    async with change(connection, organization_id):
        counted = await (await connection.execute(_SQL["count_bases"], parameters)).fetchone()
        if counted is None:
            raise NotFound
        if counted[0] >= limits.bases:
            raise LimitReached(f"An organization may have {limits.bases} knowledge bases.", "ANSWERLINE_MAX_BASES")
        row = await (await connection.execute(_SQL["insert_base"], parameters)).fetchone()
        if row is None:
            raise _taken()
    return await find_base(connection, organization_id, row[0])


async def list_bases(
    connection: Connection, organization_id: UUID, *, member_id: UUID | None = None, after: str = "", limit: int = 100
) -> list[Base]:
    """Bases by name that a member can see, those after a name; fewer than `limit` are the last ones.

    Args:
        member_id: None for who is none, and sees what all see.
    """
    parameters = {"organization_id": organization_id, "member_id": member_id, "after": after, "limit": limit}
    cursor = await connection.execute(_SQL["list_bases"], parameters)
    return [_base(row) async for row in cursor]


async def find_base(connection: Connection, organization_id: UUID, base_id: UUID) -> Base:
    """Raises NotFound."""
    parameters = {"organization_id": organization_id, "base_id": base_id}
    row = await require_row(connection, _SQL["find_base"], parameters)
    return _base(row)


async def find_base_by_name(connection: Connection, organization_id: UUID, name: str) -> UUID | None:
    """The id of the organization's own base of this name; None where there is none."""
    parameters = {"organization_id": organization_id, "name": name_of(name)}
    row = await (await connection.execute(_SQL["find_base_by_name"], parameters)).fetchone()
    return row[0] if row else None


async def rename_base(connection: Connection, organization_id: UUID, base_id: UUID, name: str) -> Base:
    """Raises InvalidRequest, NotFound, and Conflict where another one has the name."""
    parameters = {"organization_id": organization_id, "base_id": base_id, "name": name_of(name)}
    try:
        async with change(connection, organization_id):
            row = await (await connection.execute(_SQL["rename_base"], parameters)).fetchone()
    except errors.UniqueViolation:
        raise _taken() from None
    if row is None:
        raise NotFound
    return await find_base(connection, organization_id, base_id)


async def publish_base(connection: Connection, organization_id: UUID, base_id: UUID, *, published: bool) -> Base:
    """Let agents search a team's or a person's base, or no longer: the next search goes by it.

    Raises:
        NotFound: there is no such base.
        Conflict: it is the organization's own, which agents always search.
    """
    parameters = {"organization_id": organization_id, "base_id": base_id, "published": published}
    async with change(connection, organization_id):
        base = await find_base(connection, organization_id, base_id)
        if base.for_agents != published:
            if base.owner_type == "organization":
                raise Conflict("The knowledge base is the organization's own, which agents search.", field="published")
            await connection.execute(_SQL["publish_base"], parameters)
            await refresh_facts(connection, organization_id, base_id=base_id)
    return await find_base(connection, organization_id, base_id)


async def delete_base(
    connection: Connection, organization_id: UUID, base_id: UUID, *, even_if_used: bool = False
) -> None:
    """Remove a base, its sources, and all that came of them; a job on one of them stops.

    Args:
        even_if_used: by agents, who stay restricted to what else they have selected.

    Raises:
        NotFound: there is no such base.
        Conflict: agents use it; names them.
    """
    parameters: dict[str, Any] = {"organization_id": organization_id, "base_id": base_id, "source_id": None}
    async with change(connection, organization_id):
        base = await find_base(connection, organization_id, base_id)
        if base.agents and not even_if_used:
            names = ", ".join(agent.name for agent in base.agents)
            raise Conflict(
                f"The knowledge base is used by {names}. Take it and what is in it out of their selections first."
            )
        cursor = await connection.execute(_SQL["texts_of_source"], parameters)
        hashes = [row[0] async for row in cursor]
        await connection.execute(_SQL["delete_base"], parameters)
        await forget_texts(connection, organization_id, hashes)
        await count_vectors(connection, organization_id)


def _base(row: TupleRow) -> Base:
    *values, agents = row
    return Base(*values, agents=tuple(Agent(UUID(agent_id), name) for agent_id, name in agents))


def _taken() -> Conflict:
    return Conflict("There is a knowledge base of this name already. Choose another name.", field="name")
