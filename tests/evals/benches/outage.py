"""Bench 5: what a call hears, how soon, and what is kept of it, when a part is slow, broken or gone in the middle."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import psycopg
from aiohttp import web
from psycopg.rows import TupleRow

from demo.processes import answers
from retrieval_sidecar.embeddings import create_embedders
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.settings import Settings
from tests.evals.artifacts import Run
from tests.evals.bench import Bench, Outcome, Plan
from tests.evals.judges import says
from tests.evals.parts import Knowledge, Sidecar, free_port, loaded, sidecar_process
from tests.evals.text_call import TextCall, text_call
from tests.support.database import TestDatabase, clone
from tests.support.sidecar import connected, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, items, organization
from worker.messages import line

NAME: Final = "outage"
_ASK: Final = "what does parking in the garage cost"
_FACT: Final = "three euros"
# The tool's four seconds, and what a busy machine takes to notice.
_LIMIT_MS: Final = 4250.0
_DIMENSIONS: Final = 64
_BY_WORDS: Final = "Only words could be compared"

Fault: TypeAlias = Literal["none", "slow", "failing", "wrong dimension"]


@dataclass
class _Service:
    """A service of vectors that does as it is told.

    Attributes:
        released: ends the waiting of a slow one.
    """

    fault: Fault = "none"
    url: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def embeddings(self, request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        if self.fault == "failing":
            return web.json_response({"error": {"message": "Told to fail."}}, status=503)
        if self.fault == "slow":
            await self.released.wait()
        dimensions = _DIMENSIONS // 2 if self.fault == "wrong dimension" else _DIMENSIONS
        rows = await FakeEmbedder(dimensions=dimensions).embed_queries(body["input"])
        return web.json_response({"data": [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]})


@dataclass
class _Scene:
    """A sidecar process on its own database, and what can be done to both."""

    knowledge: Knowledge
    service: _Service
    plan: Plan
    port: int
    token: str
    variables: dict[str, str]

    @property
    def database(self) -> TestDatabase:
        return self.knowledge.database

    @asynccontextmanager
    async def sidecar(self, **more: str) -> AsyncIterator[Sidecar]:
        log = self.plan.log(NAME)
        async with sidecar_process(
            self.database, ORGANIZATION_ID, log, port=self.port, token=self.token, **(self.variables | more)
        ) as running:
            yield running


async def run(plan: Plan) -> Outcome:
    """Each outage in a call of its own that was answered before and is answered after."""
    recorder = plan.recorder(NAME)
    async with _scene(plan) as scene:
        for fault in ("slow", "failing", "wrong dimension"):

            async def embedder(run: Run, fault: Fault = fault) -> None:
                await _embedder(run, scene, fault)

            await recorder.run(f"embedder {fault}", "embedder", embedder)
        for name, kind, once in (
            ("database slow", "database", _database_slow),
            ("database restarting", "database", _database_restarting),
            ("pool exhausted", "database", _pool_exhausted),
            ("sidecar killed and restarted", "sidecar", _sidecar_killed),
        ):

            async def other(run: Run, once: Callable[[Run, _Scene], Awaitable[None]] = once) -> None:
                await once(run, scene)

            await recorder.run(name, kind, other)
    slowest = max((ms for r in recorder.results for each in r.runs for h in each.turns for ms in h.ms), default=0.0)
    return Outcome(recorder.results, {"slowest search ms": slowest})


@asynccontextmanager
async def _scene(plan: Plan) -> AsyncIterator[_Scene]:
    service = _Service()
    app = web.Application()
    app.add_routes([web.post("/v1/embeddings", service.embeddings)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        service.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        variables = {
            "embedder": "openai",
            "embedding_base_url": service.url,
            "embedding_api_key": "none-needed",
            "embedding_model": "outage",
            "embedding_dimensions": str(_DIMENSIONS),
            "query_cache_size": "0",
            "embedding_failures": "1000",  # that it is left alone after a while is the tests' matter
        }
        with clone(plan.template.server, plan.template.name) as database:
            embedders = create_embedders(Settings.model_validate({"DATABASE_URL": database.url("owner")} | variables))
            await embedders.start()
            try:
                knowledge = await loaded(database, organization(), items(), embedders, calibrated=False)
            finally:
                await embedders.close()
            token = await token_for(database, ORGANIZATION_ID)
            yield _Scene(knowledge, service, plan, free_port(), token, variables)
    finally:
        service.released.set()
        await runner.cleanup()


async def _embedder(run: Run, scene: _Scene, fault: Fault) -> None:
    async with scene.sidecar() as sidecar, _call(run, scene, sidecar) as call:
        await _answered(run, call)
        scene.service.fault = fault
        scene.service.released.clear()
        try:
            guidance = await _answered(run, call)
            run.check("degraded", _BY_WORDS in guidance, "the model knows that only words were compared")
        finally:
            scene.service.fault = "none"
            scene.service.released.set()
        await _answered(run, call)


async def _database_slow(run: Run, scene: _Scene) -> None:
    async with scene.sidecar() as sidecar, _call(run, scene, sidecar) as call:
        await _answered(run, call)
        async with _locked(scene):
            await _unavailable(run, call)
        await _answered(run, call)


async def _database_restarting(run: Run, scene: _Scene) -> None:
    """As a restart looks from outside: all connections end, and new ones are refused for a while."""
    name = scene.database.name
    async with scene.sidecar() as sidecar, _call(run, scene, sidecar) as call:
        await _answered(run, call)
        async with _superuser(scene) as connection:
            await connection.execute(f'alter database "{name}" with allow_connections false')
            try:
                await connection.execute(
                    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s", [name]
                )
                await _unavailable(run, call)
            finally:
                await connection.execute(f'alter database "{name}" with allow_connections true')
        await _ready(sidecar)
        await _answered(run, call)


async def _pool_exhausted(run: Run, scene: _Scene) -> None:
    async with (
        scene.sidecar(pool_size="1", pool_queue="0") as sidecar,
        _call(run, scene, sidecar) as call,
        text_call(sidecar, scene.knowledge.names, OPEN_NUMBER) as other,
    ):
        await _answered(run, call)
        async with _locked(scene):
            waiting = asyncio.create_task(other.say(_ASK))
            await _until_waiting(scene)
            await _unavailable(run, call)
            await waiting
        await _answered(run, call)


async def _sidecar_killed(run: Run, scene: _Scene) -> None:
    async with AsyncExitStack() as later:
        async with scene.sidecar() as sidecar:
            call = await later.enter_async_context(_call(run, scene, sidecar))
            await _answered(run, call)
            os.kill(sidecar.pid, signal.SIGKILL)
            while await answers(f"{sidecar.url}/livez"):
                pass
            await _unavailable(run, call)
        # Entered before the call ends, and left after it.
        again = AsyncExitStack()
        await again.enter_async_context(scene.sidecar())
        try:
            await _answered(run, call)
            await later.aclose()
        finally:
            await again.aclose()


@asynccontextmanager
async def _call(run: Run, scene: _Scene, sidecar: Sidecar) -> AsyncIterator[TextCall]:
    """A call of which all events have to be stored in the end, whatever happened."""
    async with text_call(sidecar, scene.knowledge.names, OPEN_NUMBER) as call:
        yield call
        await call.report()
        async with connected(scene.database, "owner") as connection:
            cursor = await connection.execute(
                "select count(*) from session_event where session_id = %s", [call.ids.session_id]
            )
            row = await cursor.fetchone()
        stored = row[0] if row else 0
        run.check("kept", stored == len(call.timeline.kept), f"{stored} of {len(call.timeline.kept)} events are stored")


async def _answered(run: Run, call: TextCall) -> str:
    """Ask, and be answered with the fact; gives the guidance that the model had."""
    heard = await call.say(_ASK)
    run.turns.append(heard)
    run.check("status", heard.statuses == ["ok"], f"{heard.statuses}, where ok should come")
    run.check("ids", heard.found[:1] == ["parking"], f"parking should be first of: {', '.join(heard.found)}")
    run.check("words", says(heard.answer, _FACT), f"said: {heard.answer}")
    run.check("time", max(heard.ms, default=0) < _LIMIT_MS, f"{heard.ms} ms")
    return str(heard.tool_outputs[0]["guidance"]) if heard.tool_outputs else ""


async def _unavailable(run: Run, call: TextCall) -> None:
    """Ask, and be told in time that it cannot be looked up: neither an answer nor that there is none."""
    heard = await call.say(_ASK)
    run.turns.append(heard)
    run.check("status", heard.statuses == ["unavailable"], f"{heard.statuses}, where unavailable should come")
    words = line("knowledge.unavailable", "en")
    run.check("words", words in heard.answer and not says(heard.answer, _FACT), f"said: {heard.answer}")
    run.check("time", max(heard.ms, default=0) < _LIMIT_MS, f"{heard.ms} ms")


@asynccontextmanager
async def _locked(scene: _Scene) -> AsyncIterator[None]:
    """Nobody can read passages meanwhile."""
    async with connected(scene.database, "owner") as connection, connection.transaction():
        await connection.execute("lock table passage, passage_vector in access exclusive mode")
        yield


async def _until_waiting(scene: _Scene) -> None:
    """Until a search waits for the lock."""
    async with _superuser(scene) as connection:
        while True:
            cursor = await connection.execute(
                "select count(*) from pg_stat_activity where datname = %s and wait_event_type = 'Lock'",
                [scene.database.name],
            )
            row = await cursor.fetchone()
            if row and row[0]:
                return


@asynccontextmanager
async def _superuser(scene: _Scene) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
    url = scene.database.server.url("postgres", "postgres")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        yield connection


async def _ready(sidecar: Sidecar) -> None:
    while not await answers(f"{sidecar.url}/readyz"):
        pass


BENCH: Final = Bench(NAME, "Parts that are slow, broken or gone", run)
