"""Teams: members who have knowledge bases together."""

from dataclasses import dataclass
from uuid import UUID

from psycopg import errors

from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Conflict, NotFound
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.organization.names import name_of
from retrieval_sidecar.organization.rows import after as after_place
from retrieval_sidecar.organization.rows import all_rows, found_row, one_row, place_of, run


@dataclass(frozen=True, slots=True)
class Team:
    """A team, how many are in it, and how many knowledge bases are its own."""

    team_id: UUID
    name: str
    members: int
    bases: int


@dataclass(frozen=True, slots=True)
class TeamMember:
    member_id: UUID
    name: str

    @property
    def place(self) -> tuple[str, str]:
        return place_of(self.name, self.member_id)


async def list_teams(connection: Connection, organization_id: UUID, *, after: str, limit: int) -> list[Team]:
    """By name, those after a name."""
    rows = await all_rows(connection, "list_teams", organization_id, after=after, limit=limit)
    return [Team(*row) for row in rows]


async def find_team(connection: Connection, organization_id: UUID, team_id: UUID) -> Team:
    """Raises NotFound."""
    return Team(*await found_row(connection, "find_team", organization_id, team_id=team_id))


async def is_in_team(connection: Connection, organization_id: UUID, team_id: UUID, member_id: UUID) -> bool:
    row = await one_row(connection, "is_in_team", organization_id, team_id=team_id, member_id=member_id)
    return row is not None and bool(row[0])


async def create_team(connection: Connection, organization_id: UUID, name: str, first_member: UUID | None) -> Team:
    """A new team, of one member or of nobody yet. Raises InvalidRequest, and Conflict where the name is taken."""
    name = name_of(name)
    async with change(connection, organization_id):
        made = await one_row(connection, "add_team", organization_id, name=name)
        if made is None:
            raise _taken()
        if first_member is not None:
            await one_row(connection, "add_team_member", organization_id, team_id=made[0], member_id=first_member)
        return await find_team(connection, organization_id, made[0])


async def rename_team(connection: Connection, organization_id: UUID, team_id: UUID, name: str) -> tuple[Team, Team]:
    """The team before and after. Raises InvalidRequest, NotFound, and Conflict where another one has the name."""
    name = name_of(name)
    async with change(connection, organization_id):
        before = await find_team(connection, organization_id, team_id)
        try:
            await run(connection, "rename_team", organization_id, team_id=team_id, name=name)
        except errors.UniqueViolation:
            raise _taken() from None
        return before, await find_team(connection, organization_id, team_id)


async def delete_team(connection: Connection, organization_id: UUID, team_id: UUID) -> Team:
    """Remove a team; its members stay. Gives the team as it was.

    Raises NotFound, and Conflict while it has knowledge bases.
    """
    async with change(connection, organization_id):
        team = await find_team(connection, organization_id, team_id)
        if team.bases:
            raise Conflict(
                f"The team has {team.bases} knowledge bases, which without it would be nobody's. Have a member of it"
                " remove them first."
            )
        await run(connection, "delete_team", organization_id, team_id=team_id)
    return team


async def list_team_members(
    connection: Connection, organization_id: UUID, team_id: UUID, *, after: tuple[str, UUID], limit: int
) -> list[TeamMember]:
    """By name, those after a place. Raises NotFound where there is no such team."""
    await find_team(connection, organization_id, team_id)
    rows = await all_rows(
        connection, "list_team_members", organization_id, team_id=team_id, **after_place(after), limit=limit
    )
    return [TeamMember(*row) for row in rows]


async def add_to_team(connection: Connection, organization_id: UUID, team_id: UUID, member_id: UUID) -> None:
    """Whoever is in it already stays. Raises NotFound where there is no such team or member."""
    values = {"team_id": team_id, "member_id": member_id}
    async with change(connection, organization_id):
        await find_team(connection, organization_id, team_id)
        added = await one_row(connection, "add_team_member", organization_id, **values)
        if added is None and not await is_in_team(connection, organization_id, team_id, member_id):
            raise NotFound


async def remove_from_team(connection: Connection, organization_id: UUID, team_id: UUID, member_id: UUID) -> None:
    """Raises NotFound where there is no such team, or they are not in it."""
    async with change(connection, organization_id):
        await found_row(connection, "remove_team_member", organization_id, team_id=team_id, member_id=member_id)


def _taken() -> Conflict:
    return Conflict("There is a team of this name already. Choose another name.", field="name")
