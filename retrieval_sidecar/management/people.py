"""Operations on members and on teams."""

from uuid import UUID

from aiohttp import web

from contracts.management import (
    MemberChange,
    MemberPage,
    MemberRequest,
    TeamMemberPage,
    TeamPage,
    TeamRequest,
)
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import OwnersOnly
from retrieval_sidecar.http.requests import read_body, read_change, read_id, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.knowledge.changes import change
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.members import (
    Member,
    create_member,
    find_member,
    list_members,
    remove_member,
    require_may_grant,
    update_member,
)
from retrieval_sidecar.management.organization_answers import to_member, to_team, to_team_member
from retrieval_sidecar.management.pages import is_name, is_named_place, read_page
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.rows import FIRST
from retrieval_sidecar.organization.teams import (
    Team,
    TeamMember,
    add_to_team,
    create_team,
    delete_team,
    find_team,
    is_in_team,
    list_team_members,
    list_teams,
    remove_from_team,
    rename_team,
)
from retrieval_sidecar.search.service import Clock


class MemberHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def operations(self) -> list[Operation]:
        member = "/members/{member_id}"
        return [
            Operation("GET", "/members", "admin", self.list_members),
            Operation("POST", "/members", "admin", self.create_member),
            Operation("GET", member, "admin", self.get_member),
            Operation("PATCH", member, "admin", self.update_member),
            Operation("DELETE", member, "admin", self.remove_member),
        ]

    async def list_members(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_named_place)
        after = FIRST if asked.after is None else (asked.after[0], UUID(asked.after[1]))

        async def listed(connection: Connection) -> list[Member]:
            return await list_members(connection, caller.organization_id, after=after, limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda member: member.place)
        return answer(MemberPage(items=[to_member(each) for each in page.rows], next_cursor=page.next_cursor))

    async def create_member(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, MemberRequest, deadline_in(READ_S))
        require_may_grant(caller, body.permissions)

        async def create(connection: Connection) -> tuple[Member, Change]:
            member = await create_member(connection, caller.organization_id, body.name, body.permissions, self._clock())
            return member, Change("create", "member", member.member_id, after=member.as_record())

        return answer(to_member(await self._transactions.change(caller, create)), status=201)

    async def get_member(self, request: web.Request, caller: Caller) -> web.Response:
        member_id = read_id(request, "member_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Member:
            return await find_member(connection, caller.organization_id, member_id)

        return answer(to_member(await self._transactions.read(found)))

    async def update_member(self, request: web.Request, caller: Caller) -> web.Response:
        member_id = read_id(request, "member_id")
        wanted = await read_change(request, MemberChange, deadline_in(READ_S))
        require_may_grant(caller, wanted.get("permissions", ()))

        async def update(connection: Connection) -> tuple[Member, Change]:
            before, after = await update_member(connection, caller.organization_id, member_id, wanted, self._clock())
            return after, Change("update", "member", member_id, before=before.as_record(), after=after.as_record())

        return answer(to_member(await self._transactions.change(caller, update)))

    async def remove_member(self, request: web.Request, caller: Caller) -> web.Response:
        member_id = read_id(request, "member_id")
        refuse_parameters(request)

        async def remove(connection: Connection) -> tuple[None, list[Change]]:
            return None, await remove_member(connection, caller.organization_id, member_id, self._clock())

        await self._transactions.change(caller, remove)
        return web.Response(status=204)


class TeamHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        team = "/teams/{team_id}"
        member = f"{team}/members/{{member_id}}"
        return [
            Operation("GET", "/teams", "agents.view", self.list_teams),
            Operation("POST", "/teams", "agents.edit", self.create_team),
            Operation("GET", team, "agents.view", self.get_team),
            Operation("PATCH", team, "agents.edit", self.rename_team),
            Operation("DELETE", team, "agents.edit", self.delete_team),
            Operation("GET", f"{team}/members", "agents.view", self.list_team_members),
            Operation("PUT", member, "agents.edit", self.add_team_member),
            Operation("DELETE", member, "agents.edit", self.remove_team_member),
        ]

    async def list_teams(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_name)

        async def listed(connection: Connection) -> list[Team]:
            return await list_teams(connection, caller.organization_id, after=asked.after or "", limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda team: team.name)
        return answer(TeamPage(items=[to_team(each) for each in page.rows], next_cursor=page.next_cursor))

    async def create_team(self, request: web.Request, caller: Caller) -> web.Response:
        body = await read_body(request, TeamRequest, deadline_in(READ_S))

        async def create(connection: Connection) -> tuple[Team, Change]:
            team = await create_team(connection, caller.organization_id, body.name, caller.member_id)
            members = [] if caller.member_id is None else [str(caller.member_id)]
            return team, Change("create", "team", team.team_id, after={"name": team.name, "members": members})

        return answer(to_team(await self._transactions.change(caller, create)), status=201)

    async def get_team(self, request: web.Request, caller: Caller) -> web.Response:
        team_id = read_id(request, "team_id")
        refuse_parameters(request)

        async def found(connection: Connection) -> Team:
            return await find_team(connection, caller.organization_id, team_id)

        return answer(to_team(await self._transactions.read(found)))

    async def rename_team(self, request: web.Request, caller: Caller) -> web.Response:
        team_id = read_id(request, "team_id")
        body = await read_body(request, TeamRequest, deadline_in(READ_S))

        async def rename(connection: Connection) -> tuple[Team, Change]:
            async with change(connection, caller.organization_id):
                await _require_own(connection, caller, team_id)
                before, after = await rename_team(connection, caller.organization_id, team_id, body.name)
            return after, Change("update", "team", team_id, before={"name": before.name}, after={"name": after.name})

        return answer(to_team(await self._transactions.change(caller, rename)))

    async def delete_team(self, request: web.Request, caller: Caller) -> web.Response:
        team_id = read_id(request, "team_id")
        refuse_parameters(request)

        async def delete(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                await _require_own(connection, caller, team_id)
                team = await delete_team(connection, caller.organization_id, team_id)
            gone = {"name": team.name, "member_count": team.members}
            return None, Change("delete", "team", team_id, before=gone)

        await self._transactions.change(caller, delete)
        return web.Response(status=204)

    async def list_team_members(self, request: web.Request, caller: Caller) -> web.Response:
        team_id = read_id(request, "team_id")
        asked = read_page(request, is_named_place)
        after = FIRST if asked.after is None else (asked.after[0], UUID(asked.after[1]))

        async def listed(connection: Connection) -> list[TeamMember]:
            return await list_team_members(connection, caller.organization_id, team_id, after=after, limit=asked.wanted)

        page = asked.of(await self._transactions.read(listed), lambda member: member.place)
        return answer(TeamMemberPage(items=[to_team_member(each) for each in page.rows], next_cursor=page.next_cursor))

    async def add_team_member(self, request: web.Request, caller: Caller) -> web.Response:
        team_id, member_id = read_id(request, "team_id"), read_id(request, "member_id")
        refuse_parameters(request)

        async def add(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                await _require_own(connection, caller, team_id)
                await add_to_team(connection, caller.organization_id, team_id, member_id)
            return None, Change("update", "team", team_id, after={"member_added": str(member_id)})

        await self._transactions.change(caller, add)
        return web.Response(status=204)

    async def remove_team_member(self, request: web.Request, caller: Caller) -> web.Response:
        team_id, member_id = read_id(request, "team_id"), read_id(request, "member_id")
        refuse_parameters(request)

        async def remove(connection: Connection) -> tuple[None, Change]:
            async with change(connection, caller.organization_id):
                await _require_own(connection, caller, team_id)
                await remove_from_team(connection, caller.organization_id, team_id, member_id)
            return None, Change("update", "team", team_id, before={"member_removed": str(member_id)})

        await self._transactions.change(caller, remove)
        return web.Response(status=204)


async def _require_own(connection: Connection, caller: Caller, team_id: UUID) -> None:
    """Who is in a team sees its knowledge bases. Its members decide who is, and admins, whom the audit log names.

    Raises NotFound where there is no such team, and OwnersOnly where the caller is neither.
    """
    await find_team(connection, caller.organization_id, team_id)
    if caller.may("admin"):
        return
    if caller.member_id is None or not await is_in_team(connection, caller.organization_id, team_id, caller.member_id):
        raise OwnersOnly
