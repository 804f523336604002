"""Try out a running sidecar as a worker would: `python -m deploy.smoke URL --token-file FILE`.

Safe on production: it asks for its own organization alone, which `retrieval-sidecar smoke set-up` made and
`retrieval-sidecar smoke remove` removes. Its numbers and answers are in `retrieval_sidecar/smoke/`.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import uuid4

import aiohttp
import typer

from contracts import running
from contracts.errors import ContractError

ORGANIZATION: Final = "5a0c7e57-0000-4000-8000-0000005a0c7e"
OPEN, NARROW, CLOSED, NOBODY = "+15555550191", "+15555550192", "+15555550193", "+15555550194"
CODE: Final = "SMK-41-Q"
KNOWN: Final = "What is the code of the parcel locker?"
HOURS: Final = "When is the shop open on Saturdays?"
MISS: Final = "Who won the chess championship in Mongolia in 1987?"
SEARCHES: Final = 10
_SESSIONS: Final = "/internal/voice/v1/sessions"
_TIMEOUT: Final = aiohttp.ClientTimeout(total=10)
# What no answer may hold, whatever was asked: addresses of databases, keys, and the inside of an error.
_SECRETS: Final = re.compile(r"postgres(ql)?://|Traceback \(most recent|psycopg|\bsk-[A-Za-z0-9]{20}|SMK-99-Z|Bearer ")

Outcome = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing tried: whether it holds, and what was found, without anything that is secret."""

    name: str
    ok: bool
    found: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, read."""

    status: int
    body: Any


@dataclass(slots=True)
class Call:
    """A session of the smoke test's organization."""

    path: str
    identity: dict[str, str]


@dataclass(slots=True)
class Smoke:
    """One run against one sidecar."""

    url: str
    token: str
    slowest_ms: float
    http: aiohttp.ClientSession
    seen: list[str] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)

    def checks(self) -> list[tuple[str, Callable[[], Awaitable[Outcome]]]]:
        """All of them, in the order in which they are made."""
        return [
            ("ready", self.ready),
            ("contract", self.contract),
            ("no token is refused", self.without_token),
            ("bootstrap", self.bootstrap),
            ("an unknown number is refused", self.unknown_number),
            ("a known answer is found", self.known_answer),
            ("what is not known is not found", self.corpus_miss),
            ("a restricted agent finds its own alone", self.restricted),
            ("a scope of nothing finds nothing", self.restricted_empty),
            ("foreign ids are refused", self.foreign),
            ("a blank query is refused", self.blank),
            ("fast enough", self.latency),
            ("calls end", self.end),
            ("no secret in any answer", self.no_secret),
        ]

    async def ready(self) -> Outcome:
        answer = await self._ask("GET", "/readyz")
        failing = [name for name, state in (answer.body.get("checks") or {}).items() if state != "ok"]
        return answer.status == 200 and answer.body.get("status") == "ready", ", ".join(failing) or "ready"

    async def contract(self) -> Outcome:
        try:
            readiness, served = await asyncio.to_thread(running.ask, self.url)
        except ContractError as error:
            return False, str(error)
        faults = list(running.faults(readiness, served))
        return not faults, "; ".join(faults) or f"{readiness.contract_version}, {readiness.contract_sha256[:12]}"

    async def without_token(self) -> Outcome:
        answer = await self._ask("POST", _SESSIONS, self._opening(OPEN), headers={})
        return answer.status == 401, f"status {answer.status}"

    async def bootstrap(self) -> Outcome:
        for number in (OPEN, NARROW, CLOSED):
            answer = await self._ask("POST", _SESSIONS, self._opening(number))
            if answer.status != 201:
                return False, f"status {answer.status}; is the organization there? retrieval-sidecar smoke set-up"
            if answer.body["orgId"] != ORGANIZATION:
                return False, "another organization answers the smoke test's number"
            identity = {"orgId": answer.body["orgId"], "agentId": answer.body["agent"]["agentId"]}
            self.calls[number] = Call(f"{_SESSIONS}/{answer.body['sessionId']}", identity)
        return True, f"{len(self.calls)} calls"

    async def unknown_number(self) -> Outcome:
        answer = await self._ask("POST", _SESSIONS, self._opening(NOBODY))
        return answer.status == 404, f"status {answer.status}"

    async def known_answer(self) -> Outcome:
        answer = await self._search(OPEN, KNOWN)
        first: dict[str, str] = next(iter(answer.body.get("results", [])), {})
        is_right = answer.body.get("status") == "ok" and CODE in first.get("content", "")
        degraded = ", by words alone: the embedder is not there" if answer.body.get("degraded") else ""
        return is_right and not degraded, _said(answer) + degraded

    async def corpus_miss(self) -> Outcome:
        answer = await self._search(OPEN, MISS)
        return answer.body.get("status") == "no_match" and not answer.body["results"], _said(answer)

    async def restricted(self) -> Outcome:
        own, others = await self._search(NARROW, HOURS), await self._search(NARROW, KNOWN)
        if CODE in json.dumps(others.body):
            return False, "it was given what is outside of its scope"
        return own.body.get("status") == "ok" and others.status == 200, f"{_said(own)}; of others: {_said(others)}"

    async def restricted_empty(self) -> Outcome:
        answer = await self._search(CLOSED, KNOWN)
        return answer.body.get("status") == "restricted_empty" and not answer.body["results"], _said(answer)

    async def foreign(self) -> Outcome:
        call, other = self.calls[OPEN], str(uuid4())
        asked = [
            (call.path, call.identity | {"orgId": other}),
            (call.path, call.identity | {"agentId": other}),
            (call.path, call.identity | {"agentId": self.calls[NARROW].identity["agentId"]}),
            (f"{_SESSIONS}/{other}", call.identity),
        ]
        statuses = [
            (await self._ask("POST", f"{path}/tools/knowledge-search", body | {"query": KNOWN})).status
            for path, body in asked
        ]
        return set(statuses) == {404}, f"statuses {', '.join(map(str, statuses))}"

    async def blank(self) -> Outcome:
        answer = await self._search(OPEN, " \u200b ")
        return answer.status == 400, f"status {answer.status}"

    async def latency(self) -> Outcome:
        times, failed = [], 0
        for number in range(SEARCHES):
            started = time.monotonic()
            # Each another question, so that none is answered from what is remembered.
            failed += (await self._search(OPEN, f"{HOURS} And in week {number + 1}?")).status != 200
            times.append((time.monotonic() - started) * 1000)
        times.sort()
        found = f"median {times[len(times) // 2]:.0f} ms, slowest {times[-1]:.0f} ms"
        return not failed and times[-1] <= self.slowest_ms, found + (f", {failed} failed" if failed else "")

    async def end(self) -> Outcome:
        statuses = [
            (
                await self._ask(
                    "POST", f"{call.path}/end", call.identity | {"status": "completed", "reason": "smoke_test"}
                )
            ).status
            for call in self.calls.values()
        ]
        return set(statuses) == {200}, f"{statuses.count(200)} of {len(statuses)}"

    async def no_secret(self) -> Outcome:
        secret = self.token.split("_", 2)[-1]  # alv_<id>_<secret>; the id is in the sidecar's own logs
        found = [text for text in self.seen if secret in text or _SECRETS.search(text)]
        return not found, f"{len(found)} of {len(self.seen)} answers hold one" if found else f"{len(self.seen)} answers"

    def _opening(self, number: str) -> dict[str, str]:
        return {"calledNumber": number, "roomName": "smoke-test", "callId": f"smoke-test-{uuid4()}"}

    async def _search(self, number: str, query: str) -> Answer:
        call = self.calls[number]
        return await self._ask("POST", f"{call.path}/tools/knowledge-search", call.identity | {"query": query})

    async def _ask(
        self, method: str, path: str, body: object = None, *, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        async with self.http.request(method, self.url + path, json=body, headers=sent) as response:
            text = await response.text()
            self.seen.append(f"{dict(response.headers)} {text}")
            try:
                read = json.loads(text)
            except ValueError:
                read = {}
            return Answer(response.status, read if isinstance(read, dict) else {})


async def smoke(url: str, token: str, slowest_ms: float) -> list[Check]:
    """Make all checks; one that cannot be made fails, and those after it are made all the same."""
    made = []
    async with aiohttp.ClientSession(timeout=_TIMEOUT) as http:
        run = Smoke(url.rstrip("/"), token, slowest_ms, http)
        for name, check in run.checks():
            started = time.monotonic()
            try:
                ok, found = await check()
            except (aiohttp.ClientError, TimeoutError) as error:
                ok, found = False, f"no answer ({type(error).__name__})"
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                ok, found = False, f"not made, or answered out of form ({type(error).__name__})"
            made.append(Check(name, ok, found, round((time.monotonic() - started) * 1000, 1)))
    return made


def _said(answer: Answer) -> str:
    return f"status {answer.status}, {answer.body.get('status')}, {len(answer.body.get('results') or [])} results"


def main(
    url: Annotated[str, typer.Argument(help="The voice API, such as http://127.0.0.1:8090.")],
    token_file: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="As `smoke set-up` wrote it.")],
    slowest_ms: Annotated[float, typer.Option(help="Milliseconds that the slowest search may take.")] = 1000.0,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One object, for machines.")] = False,
) -> None:
    """Make all checks; exit status 0 when all of them hold, 1 when not."""
    checks = asyncio.run(smoke(url, token_file.read_text("utf-8").strip(), slowest_ms))
    passed = all(check.ok for check in checks)
    if as_json:
        typer.echo(json.dumps({"url": url, "passed": passed, "checks": [asdict(check) for check in checks]}))
    else:
        for check in checks:
            typer.echo(
                f"{'ok    ' if check.ok else 'FAILED'} {check.name}: {check.found} ({check.milliseconds:.0f} ms)"
            )
    raise typer.Exit(0 if passed else 1)


if __name__ == "__main__":
    typer.run(main)
