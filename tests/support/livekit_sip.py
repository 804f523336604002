"""LiveKit's SIP service: a fake that speaks its wire, Twirp with protobuf, and the real one where Redis is here too."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import yaml
from aiohttp import web
from google.protobuf.message import Message
from livekit.api import TokenVerifier
from livekit.protocol import sip

from demo import livekit_server
from demo.livekit_server import LiveKitServer
from tests.support.requirements import redis_server

KEY: Final = "APIfake"
SECRET: Final = "fake-secret-that-is-32-characters"
_KINDS: Final[dict[str, tuple[Any, str, str]]] = {
    "InboundTrunk": (sip.SIPInboundTrunkInfo, "trunk", "sip_trunk_id"),
    "OutboundTrunk": (sip.SIPOutboundTrunkInfo, "trunk", "sip_trunk_id"),
    "DispatchRule": (sip.SIPDispatchRuleInfo, "dispatch_rule", "sip_dispatch_rule_id"),
}


class FakeSip:
    """Keeps trunks and rules, refuses who is no SIP admin, and counts what changed something."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
        self.changes: list[str] = []
        self._numbers = count(1)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/twirp/livekit.SIP/{method}", self._call)
        return app

    async def _call(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            claims = TokenVerifier(KEY, SECRET).verify(token)
        except Exception:  # noqa: BLE001 - of whichever library it reads tokens by
            return _refused(401, "unauthenticated", "invalid token")
        if claims.sip is None or not claims.sip.admin:
            return _refused(403, "permission_denied", "not an admin")
        if request.content_type != "application/protobuf":
            return _refused(415, "malformed", "protobuf is spoken here")
        method = request.match_info["method"]
        try:
            answer = self._answer(method, await request.read())
        except KeyError:
            return _refused(404, "not_found", "object cannot be found")
        return web.Response(body=answer.SerializeToString(), content_type="application/protobuf")

    def _answer(self, method: str, body: bytes) -> Message:
        if method == "DeleteSIPTrunk":
            trunk_id = sip.DeleteSIPTrunkRequest.FromString(body).sip_trunk_id
            self.changes.append(method)
            kind = "InboundTrunk" if trunk_id in self.kept["InboundTrunk"] else "OutboundTrunk"
            self.kept[kind].pop(trunk_id)
            deleted: Message = sip.SIPTrunkInfo(sip_trunk_id=trunk_id)
            return deleted
        verb, kind = method.split("SIP", 1)
        info, field, identity = _KINDS[kind]
        request = getattr(sip, f"{method}Request").FromString(body)
        if verb == "List":
            listed: Message = getattr(sip, f"{method}Response")(items=self.kept[kind].values())
            return listed
        self.changes.append(method)
        made: Any
        if verb == "Create":
            made = info.FromString(getattr(request, field).SerializeToString())
            setattr(made, identity, f"{kind}_{next(self._numbers)}")
        elif verb == "Update":
            self.kept[kind][getattr(request, identity)]  # an unknown one is not found
            made = info.FromString(request.replace.SerializeToString())
            setattr(made, identity, getattr(request, identity))
        else:
            made = self.kept[kind].pop(getattr(request, identity))
        if verb != "Delete":
            self.kept[kind][getattr(made, identity)] = made
        answer: Message = made
        return answer


@asynccontextmanager
async def fake_sip(fake: FakeSip) -> AsyncIterator[LiveKitServer]:
    """Serve the fake on a free port."""
    runner = web.AppRunner(fake.app())
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        yield LiveKitServer(f"ws://127.0.0.1:{port}", KEY, SECRET)
    finally:
        await runner.cleanup()


@asynccontextmanager
async def real_sip(folder: Path) -> AsyncIterator[LiveKitServer]:
    """A LiveKit server with Redis, both on loopback and ended afterwards; no SIP process is needed to keep trunks."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    redis_program = redis_server()
    assert redis_program is not None
    redis = await asyncio.create_subprocess_exec(
        # By this name it is the server: Debian's tools are one program of several names.
        *("redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)),
        executable=redis_program,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        program = livekit_server.find()
        assert program is not None
        server = LiveKitServer(f"ws://127.0.0.1:{livekit_server._free_port(socket.SOCK_STREAM)}", KEY, SECRET)
        config = livekit_server._config(server, int(server.url.rsplit(":", 1)[1]))
        (folder / "livekit.yaml").write_text(yaml.safe_dump(config | {"redis": {"address": f"127.0.0.1:{port}"}}))
        log = folder / "livekit.log"
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                program, "--config", folder / "livekit.yaml", stdout=output, stderr=output
            )
        try:
            await livekit_server._wait_until_ready(server, process, log)
            yield server
        finally:
            await livekit_server._stop(process)
    finally:
        redis.terminate()
        await redis.wait()


def _refused(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"code": code, "msg": message}, status=status)
