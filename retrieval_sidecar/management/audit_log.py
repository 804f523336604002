"""The operation that shows the audit log."""

from aiohttp import web

from contracts.management import AuditPage
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_id_parameter
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_entry
from retrieval_sidecar.management.audit import Entry, list_entries
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_key, read_page
from retrieval_sidecar.management.transactions import Transactions


class AuditHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        return [Operation("GET", "/audit-log", "agents.view", self.list_audit_log)]

    async def list_audit_log(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_key, "object_id")
        object_id = read_id_parameter(request, "object_id")

        async def listed(connection: Connection) -> list[Entry]:
            return await list_entries(
                connection,
                caller.organization_id,
                object_id=object_id,
                before=asked.after,
                limit=asked.wanted,
                with_people=caller.may("admin"),
            )

        page = asked.of(await self._transactions.read(listed), lambda entry: entry.entry_id)
        return answer(AuditPage(items=[to_entry(each) for each in page.rows], next_cursor=page.next_cursor))
