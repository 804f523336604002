"""What a browser shows of its session, and how it is known that the console's own page asks.

The cookie is sent by the browser whoever makes it ask, so a request that changes something must say more: a token that
only the console's page could read, and that it comes from that page.
"""

import base64
import hmac
from hashlib import sha256

from aiohttp import web

from retrieval_sidecar.console.sessions import KIND
from retrieval_sidecar.errors import CrossSite
from retrieval_sidecar.http.credentials import Credential

CSRF_HEADER = "X-CSRF-Token"
_NAME = "answerline_session"
# Browsers keep a cookie of such a name only when it comes over TLS, from this very host, for all of it.
_SECURE_NAME = f"__Host-{_NAME}"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_PURPOSE = b"answerline console csrf"


def shown_session(request: web.Request) -> Credential | None:
    """The session of a request's cookie; None where there is none by its form."""
    text = request.cookies.get(_SECURE_NAME) or request.cookies.get(_NAME)
    return Credential.parse(text, KIND, ids=2) if text else None


def csrf_token(session: Credential) -> str:
    """What the console sends with each change. It follows from the cookie, which no script can read."""
    digest = hmac.digest(session.secret.encode(errors="surrogateescape"), _PURPOSE, sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def require_own_page(request: web.Request, session: Credential) -> None:
    """Raises CrossSite where a change may come from another page than the console's."""
    if request.method in _READS:
        return
    shown = request.headers.getall(CSRF_HEADER, [])
    same_token = len(shown) == 1 and hmac.compare_digest(
        shown[0].encode(errors="surrogateescape"), csrf_token(session).encode()
    )
    if not (same_token and _is_same_origin(request)):
        raise CrossSite


def set_cookie(response: web.Response, request: web.Request, session: str) -> None:
    """Give the browser its session, until it is closed; the server decides when the session ends."""
    is_secure = _is_secure(request)
    response.set_cookie(
        _SECURE_NAME if is_secure else _NAME,
        session,
        path="/",
        httponly=True,
        samesite="Strict",
        secure=is_secure,
    )


def clear_cookies(response: web.Response, request: web.Request) -> None:
    """Take the session from the browser, under whichever name it has it."""
    for name in (_NAME, _SECURE_NAME):
        if name in request.cookies:
            secure = name == _SECURE_NAME
            response.del_cookie(name, path="/", httponly=True, samesite="Strict", secure=secure)


def _is_same_origin(request: web.Request) -> bool:
    """Whether the browser says so.

    Over TLS and on localhost it says it itself, whatever proxies stand between; else by the origin's host, which is
    that of the address. A request that says neither is of no browser that has cookies.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    # A browser's origin is its scheme and host as it asks for them; anything else is none of ours.
    return request.headers.get("Origin") in (f"http://{request.host}", f"https://{request.host}")


def _is_secure(request: web.Request) -> bool:
    # TLS may end at a proxy; the browser says in `Origin` what it speaks itself.
    return request.secure or request.headers.get("Origin", "").startswith("https://")
