"""Operations that need no key: whether the API is up, and its contract."""

from dataclasses import asdict

from aiohttp import web

from contracts import management as wire
from contracts import pins
from retrieval_sidecar.http.readiness import Readiness
from retrieval_sidecar.http.responses import answer, contract


class HealthHandlers:
    """One method an operation, named as in the contract."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    def routes(self, base: str) -> list[web.RouteDef]:
        return [
            web.get(f"{base}/openapi.yaml", self.management_contract, allow_head=False),
            web.get("/livez", self.livez, allow_head=False),
            web.get("/readyz", self.readyz, allow_head=False),
        ]

    async def management_contract(self, _request: web.Request) -> web.Response:
        return contract("management")

    async def livez(self, _request: web.Request) -> web.Response:
        return answer(wire.Liveness(status="ok"))

    async def readyz(self, _request: web.Request) -> web.Response:
        found = await self._readiness.check()
        pin = pins.management()
        ready = wire.Readiness(
            status=found.status,
            contract_version=pin.version,
            contract_sha256=pin.sha256,
            checks=wire.Checks(**asdict(found)),
        )
        return answer(ready, status=200 if found.status == "ready" else 503)
