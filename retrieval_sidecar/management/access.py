"""Who may do what: each operation stands behind a key, or a browser's session of one, that has its permission."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import structlog
from aiohttp import web

from retrieval_sidecar.console import cookies
from retrieval_sidecar.console.sessions import KIND, Sessions
from retrieval_sidecar.database import Connection
from retrieval_sidecar.errors import Forbidden, InvalidRequest, TooManyRequests, Unauthorized
from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management.keys import (
    Caller,
    Permission,
    authenticate,
    invalid_key,
    looks_like_key,
    parse_key,
)
from retrieval_sidecar.management.throttle import Throttle
from retrieval_sidecar.management.transactions import Transactions
from retrieval_sidecar.search.service import Clock

log = structlog.get_logger()

_HEADER = "X-API-Key"
# What people call a key when they put it where it does not belong.
_NAMES_OF_KEYS = frozenset({"x-api-key", "api-key", "api_key", "apikey", "key", "token", "access_token"})

AUTHORIZE: web.RequestKey[Callable[[], Awaitable[Caller]]] = web.RequestKey("authorize")
"""For who answers for long: looks again at whether the request is still let through, and raises as it did at first.

It keeps no session from ending by idleness."""

Handler = Callable[[web.Request, Caller], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the contract; its path is below the API's."""

    method: str
    path: str
    permission: Permission
    handler: Handler


def shown_key(request: web.Request) -> Credential | None:
    """The key that a request shows; None where there is none by its form, or more than one."""
    values = request.headers.getall(_HEADER, [])
    return parse_key(values[0]) if len(values) == 1 else None


def shown_session(request: web.Request) -> Credential | None:
    """The session that a request shows; a key, whatever becomes of it, goes before the cookie that comes by itself."""
    return None if _HEADER in request.headers else cookies.shown_session(request)


class Access:
    """Lets requests through to operations.

    A key that holds is never locked out by others who fail from its address: only failures with that key's own id are
    refused unseen, and failures of an address are told to wait instead of to show a key.
    """

    def __init__(
        self, transactions: Transactions, sessions: Sessions, clock: Clock, of_key: Throttle, of_address: Throttle
    ) -> None:
        self._transactions = transactions
        self._sessions = sessions
        self._clock = clock
        self._of_key = of_key
        self._of_address = of_address

    def route(self, base: str, operation: Operation) -> web.RouteDef:
        async def authorized(request: web.Request, *, is_asked: bool) -> Caller:
            caller = await self._caller(request, is_asked=is_asked)
            if session := shown_session(request):
                cookies.require_own_page(request, session)
            if not caller.may(operation.permission):
                raise Forbidden(operation.permission)
            return caller

        async def guarded(request: web.Request) -> web.StreamResponse:
            again: Callable[[], Awaitable[Caller]] = partial(authorized, request, is_asked=False)
            request[AUTHORIZE] = again
            return await operation.handler(request, await authorized(request, is_asked=True))

        # Not from a GET to a HEAD: the contract has none.
        options = {"allow_head": False} if operation.method == "GET" else {}
        return web.RouteDef(operation.method, base + operation.path, guarded, options)

    async def _caller(self, request: web.Request, *, is_asked: bool) -> Caller:
        """Who asks.

        Raises:
            InvalidRequest: the key stands in the address.
            Unauthorized: none that holds.
            TooManyRequests: none that holds, again and again.
        """
        for name, value in request.query.items():
            if name.lower() in _NAMES_OF_KEYS or looks_like_key(value):
                raise InvalidRequest.of(
                    _HEADER, "must be sent as a header: an address is logged on its way. Revoke a key that was in one"
                )
        shown = shown_key(request) or shown_session(request)
        address = request.remote
        who = (address, shown.ids if shown else None)
        if wait_s := self._of_key.wait_s(who):
            raise TooManyRequests(wait_s)
        try:
            if shown is None:
                raise invalid_key()
            return await self._authenticated(shown, is_asked=is_asked)
        except Unauthorized:
            wait_s = self._of_address.wait_s(address)
            self._of_key.failed(who)
            self._of_address.failed(address)
            log.warning("key refused", key_id=str(shown.ids[-1]) if shown else None, address=address)
            if wait_s:
                raise TooManyRequests(wait_s) from None
            raise

    async def _authenticated(self, shown: Credential, *, is_asked: bool) -> Caller:
        async def found(connection: Connection) -> Caller:
            if shown.kind == KIND:
                return await self._sessions.authenticate(connection, shown, self._clock(), is_asked=is_asked)
            return await authenticate(connection, shown, self._clock())

        return await self._transactions.read(found)
