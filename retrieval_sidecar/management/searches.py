"""The operation that shows the search log: what calls asked, redacted, and what came of it."""

from datetime import UTC

from aiohttp import web
from psycopg.rows import DictRow, dict_row

from contracts import management as wire
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import read_choice, read_id_parameter, read_window
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation
from retrieval_sidecar.management.answers import to_search_of_call
from retrieval_sidecar.management.keys import Caller
from retrieval_sidecar.management.pages import is_moment, read_page
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar.management", "searches.sql")
_STATUSES = ("ok", "no_match", "restricted_empty")


class SearchLogHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def operations(self) -> list[Operation]:
        return [Operation("GET", "/searches", "agents.view", self.list_searches)]

    async def list_searches(self, request: web.Request, caller: Caller) -> web.Response:
        asked = read_page(request, is_moment, "session_id", "agent_id", "status", "degraded", "from", "to")
        window = read_window(request)
        degraded = read_choice(request, "degraded", ("true", "false"))
        at, identity = asked.after or (None, None)
        session_id = read_id_parameter(request, "session_id")
        wanted = {
            "organization_id": caller.organization_id,
            "session_id": session_id,
            "agent_id": read_id_parameter(request, "agent_id"),
            "status": read_choice(request, "status", _STATUSES),
            "degraded": None if degraded is None else degraded == "true",
            "from": window.begin,
            "to": window.end,
            "before_at": at,
            "before_id": identity,
            "limit": asked.wanted,
        }
        statement = _SQL["list_searches" if session_id is None else "list_searches_of_call"]

        async def listed(connection: Connection) -> list[DictRow]:
            async with connection.cursor(row_factory=dict_row) as cursor:
                await cursor.execute(statement, wanted)
                return await cursor.fetchall()

        page = asked.of(await self._transactions.read(listed), _place)
        return answer(wire.LoggedSearchPage(items=[_logged(row) for row in page.rows], next_cursor=page.next_cursor))


def _place(row: DictRow) -> tuple[str, str]:
    return row["at"].astimezone(UTC).isoformat(), str(row["search_id"])


def _logged(row: DictRow) -> wire.LoggedSearch:
    of_call = {name: row[name] for name in row if name not in ("session_id", "agent_id", "agent_name")}
    return wire.LoggedSearch(
        session_id=row["session_id"],
        agent=wire.AgentReference(id=row["agent_id"], name=row["agent_name"]),
        search=to_search_of_call(of_call),
    )
