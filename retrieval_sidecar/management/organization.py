"""Operations on an organization's settings."""

from aiohttp import web

from contracts.management import OrganizationChange
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_change, refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.organization_answers import to_organization
from retrieval_sidecar.management.transactions import READ_S, Transactions, deadline_in
from retrieval_sidecar.organization.settings import OrganizationSettings, find_settings, update_settings


class OrganizationHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", "/organization", "agents.view", self.get_organization),
            Operation("PATCH", "/organization", "admin", self.update_organization),
        ]

    async def get_organization(self, request: web.Request, caller: Caller) -> web.Response:
        refuse_parameters(request)

        async def found(connection: Connection) -> OrganizationSettings:
            return await find_settings(connection, caller.organization_id)

        return answer(to_organization(caller.organization_id, await self._transactions.read(found)))

    async def update_organization(self, request: web.Request, caller: Caller) -> web.Response:
        wanted = await read_change(request, OrganizationChange, deadline_in(READ_S))

        async def update(connection: Connection) -> tuple[OrganizationSettings, Change]:
            before, after = await update_settings(connection, caller.organization_id, wanted)
            records = {"before": before.as_record(), "after": after.as_record()}
            return after, Change("update", "organization", caller.organization_id, **records)

        return answer(to_organization(caller.organization_id, await self._transactions.change(caller, update)))
