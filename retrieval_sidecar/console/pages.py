"""The console's files, and what a browser may do with anything that this listener serves."""

import json
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

import yaml
from aiohttp import web

from contracts import pins

CONSOLE = "/console"
_INDEX = "index.html"
_DOCUMENT = "openapi.json"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}

# Nothing but what this host serves itself, nothing inline, and no string that becomes markup.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


async def browser_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """For an application's `on_response_prepare`: of every answer, an error's too."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    content_type: str

    @property
    def etag(self) -> str:
        return sha256(self.content).hexdigest()


class Pages:
    """The files below `/console/`, read once; a browser asks each time whether its own is still the same."""

    def __init__(self) -> None:
        self._files = dict(_read(files("retrieval_sidecar.console") / "static"))
        self._files[_DOCUMENT] = _File(_document(), "application/json")

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.to_console, allow_head=False),
            web.get(CONSOLE, self.to_console, allow_head=False),
            web.get(CONSOLE + "/{name:.*}", self.file, allow_head=False),
        ]

    async def to_console(self, _request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"{CONSOLE}/"})

    async def file(self, request: web.Request) -> web.Response:
        found = self._files.get(request.match_info["name"] or _INDEX)
        if found is None:
            raise web.HTTPNotFound
        response = web.Response(body=found.content, content_type=found.content_type)
        if found.content_type.startswith("text/"):
            response.charset = "utf-8"
        response.headers["Cache-Control"] = "no-cache"
        response.etag = found.etag
        if any(each.value == found.etag for each in request.if_none_match or ()):
            return web.Response(status=304, headers={"ETag": response.headers["ETag"], "Cache-Control": "no-cache"})
        return response


def _read(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, _File]]:
    for each in folder.iterdir():
        name = prefix + each.name
        if each.is_dir():
            yield from _read(each, f"{name}/")
        else:
            suffix = name[name.rfind(".") :]
            # Not what this machine takes a name for: a module of another type is not run.
            kind = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
            yield name, _File(each.read_bytes(), kind)


def _document() -> bytes:
    """The contract as a browser can read it."""
    return json.dumps(yaml.safe_load(pins.document("management")), default=str).encode()
