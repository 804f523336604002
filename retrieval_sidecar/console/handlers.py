"""Operations on the session of a browser: signing in, who is signed in, signing out."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from aiohttp import web

from contracts import management as wire
from retrieval_sidecar.console.cookies import clear_cookies, csrf_token, set_cookie
from retrieval_sidecar.console.sessions import Session, Sessions, describe_key, end_session, no_session
from retrieval_sidecar.database import Connection
from retrieval_sidecar.http.requests import refuse_parameters
from retrieval_sidecar.http.responses import answer
from retrieval_sidecar.management.access import Operation, shown_key, shown_session
from retrieval_sidecar.management.audit import Change
from retrieval_sidecar.management.keys import PERMISSIONS, Caller, invalid_key
from retrieval_sidecar.management.transactions import Transactions


class SessionHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, transactions: Transactions, sessions: Sessions, clock: Callable[[], datetime]) -> None:
        self._transactions = transactions
        self._sessions = sessions
        self._clock = clock

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", "/session", "agents.view", self.get_session),
            Operation("POST", "/session", "agents.view", self.open_session),
            Operation("DELETE", "/session", "agents.view", self.close_session),
        ]

    async def open_session(self, request: web.Request, caller: Caller) -> web.Response:
        """A session opens no other: it would live longer than it is let."""
        refuse_parameters(request)
        key = shown_key(request)
        if key is None:
            raise invalid_key()

        async def opened(connection: Connection) -> tuple[tuple[wire.ConsoleSession, str], Change]:
            shown, session = await self._sessions.open(connection, key, self._clock())
            told = await _told(connection, caller, session.key_id, session, csrf_token(shown))
            return (told, str(shown)), Change(
                "create", "console_session", session.session_id, after={"key_id": str(session.key_id)}
            )

        told, shown = await self._transactions.change(caller, opened)
        response = answer(told, status=201)
        set_cookie(response, request, shown)
        return response

    async def get_session(self, request: web.Request, caller: Caller) -> web.Response:
        refuse_parameters(request)
        key, shown = shown_key(request), shown_session(request)

        async def found(connection: Connection) -> wire.ConsoleSession:
            if shown is None:
                if key is None:
                    raise no_session()
                return await _told(connection, caller, key.ids[1], None, None)
            session = await self._sessions.find(connection, shown, self._clock())
            return await _told(connection, caller, session.key_id, session, csrf_token(shown))

        return answer(await self._transactions.read(found))

    async def close_session(self, request: web.Request, caller: Caller) -> web.Response:
        """What is shown is ended; nothing is where a key asks."""
        refuse_parameters(request)
        shown = shown_session(request)
        if shown is not None:

            async def ended(connection: Connection) -> tuple[None, Change]:
                key_id = await end_session(connection, shown)
                if key_id is None:
                    raise no_session()
                return None, Change("delete", "console_session", shown.ids[1], before={"key_id": str(key_id)})

            await self._transactions.change(caller, ended)
        response = web.Response(status=204)
        clear_cookies(response, request)
        return response


async def _told(
    connection: Connection, caller: Caller, key_id: UUID, session: Session | None, token: str | None
) -> wire.ConsoleSession:
    organization, name = await describe_key(connection, caller.organization_id, key_id)
    return wire.ConsoleSession(
        organization=wire.OrganizationReference(id=caller.organization_id, name=organization),
        key=wire.KeyReference(id=key_id, name=name),
        permissions=[each for each in PERMISSIONS if caller.may(each)],
        csrf_token=token,
        ends_at=session.ends_at.astimezone(UTC) if session else None,
    )
