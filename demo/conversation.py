"""The demo's calls on real parts: stand-ins, sidecar, LiveKit server, worker, callers.

Run as a process of its own, `python -m demo.conversation PLAN REPORT`, so that it can be put into a network namespace
that has only loopback.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict

from demo import livekit_server
from demo.caller import CallEndedError, Caller, NoAnswerError
from demo.held import Asked, HeldCall, Report
from demo.processes import DemoError, answers, running
from demo.scenario import PlannedCall, Question, Scenario

AGENT = "answerline"
SIDECAR = "http://127.0.0.1:8090"
_STANDINS_PORT = 8095
_STANDINS = f"http://127.0.0.1:{_STANDINS_PORT}/v1"
_AT_ONCE = 4  # calls; two cores are enough for that
_GREETING_S = 20.0
_ANSWER_S = 40.0  # long, for a machine that is busy with other things: how long it took is in the table
_ENDED_BY_AGENT_S = 15.0


class Server(BaseModel):
    """A LiveKit server that is up already, and a key of its API."""

    model_config = ConfigDict(frozen=True)

    url: str
    key: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        """As LiveKit's tools read it."""
        return {"LIVEKIT_URL": self.url, "LIVEKIT_API_KEY": self.key, "LIVEKIT_API_SECRET": self.secret}


class Plan(BaseModel):
    """What the calls need.

    Attributes:
        environment: of the sidecar and the worker: database, voice token.
        livekit: a server that is up already; None to start one.
        livekit_program: the server's program, where one is to be started.
        providers: OPENAI_… variables of real providers; None to start the stand-ins.
        folder: where logs and recordings go.
    """

    model_config = ConfigDict(frozen=True)

    environment: dict[str, str]
    livekit: Server | None
    livekit_program: Path | None
    providers: dict[str, str] | None
    folder: Path


async def hold_calls(plan: Plan, scenario: Scenario) -> Report:
    """Bring everything up, hold all calls, two at a time, and let go of everything.

    Raises:
        DemoError: a part did not come up.
    """
    async with AsyncExitStack() as parts:
        server = await bring_up(plan, scenario, parts)
        lines = asyncio.Semaphore(_AT_ONCE)

        async def hold(planned: PlannedCall, number: int) -> HeldCall:
            async with lines:
                return await hold_call(server, planned, plan.folder / f"call-{number}.wav")

        calls = [hold(planned, number) for number, planned in enumerate(scenario.calls, start=1)]
        return Report(calls=list(await asyncio.gather(*calls)))


async def bring_up_services(plan: Plan, scenario: Scenario, parts: AsyncExitStack) -> dict[str, str]:
    """Start the stand-ins, unless real providers are given, and the sidecar; the providers' variables."""
    providers = plan.providers
    if providers is None:
        sentences = plan.folder / "sentences.txt"
        sentences.write_text("\n".join(scenario.sentences()) + "\n", encoding="utf-8")
        standins = ["--port", str(_STANDINS_PORT), "--sentences", str(sentences)]
        await parts.enter_async_context(
            running(
                "the stand-ins for model providers",
                [sys.executable, "-m", "demo.standins", *standins, "--log", str(plan.folder / "standins.jsonl")],
                log=plan.folder / "standins.log",
                environment={},
                is_ready=lambda: answers(f"{_STANDINS}/models"),
            )
        )
        providers = {"OPENAI_API_KEY": "none-needed", "OPENAI_BASE_URL": _STANDINS}
    await parts.enter_async_context(
        running(
            "the sidecar",
            [sys.executable, "-m", "retrieval_sidecar", "serve"],
            log=plan.folder / "sidecar.log",
            environment=plan.environment,
            is_ready=lambda: answers(f"{SIDECAR}/readyz"),
        )
    )
    return providers


async def bring_up(plan: Plan, scenario: Scenario, parts: AsyncExitStack) -> Server:
    """Start stand-ins, sidecar, LiveKit server and worker, each when the one before it is ready."""
    providers = await bring_up_services(plan, scenario, parts)
    server = plan.livekit
    if server is None:
        if plan.livekit_program is None:
            raise DemoError("There is no LiveKit server: run `make livekit-server`, or set LIVEKIT_URL.")
        started = await parts.enter_async_context(
            livekit_server.running(plan.livekit_program, log=plan.folder / "livekit.log")
        )
        server = Server(url=started.url, key=started.key, secret=started.secret)
    worker_log = plan.folder / "worker.log"

    async def registered() -> bool:
        return "registered worker" in worker_log.read_text(encoding="utf-8", errors="replace")

    await parts.enter_async_context(
        running(
            "the worker",
            [sys.executable, "-m", "worker", "start"],
            log=worker_log,
            environment=worker_environment(plan, server, providers),
            is_ready=registered,
        )
    )
    return server


def worker_environment(plan: Plan, server: Server, providers: dict[str, str]) -> dict[str, str]:
    """What the worker reads: no database, and no limit on load, for the machine is busy with everything else too."""
    return {
        **server.environment,
        **providers,
        "ANSWERLINE_SIDECAR_URL": SIDECAR,
        "ANSWERLINE_SIDECAR_TOKEN": plan.environment["ANSWERLINE_SIDECAR_TOKEN"],
        "ANSWERLINE_AGENT_NAME": AGENT,
        "ANSWERLINE_LOAD_THRESHOLD": "inf",
        "ANSWERLINE_IDLE_PROCESSES": str(_AT_ONCE),
        "ANSWERLINE_WORKER_PORT": "0",
        "DATABASE_URL": "",
        "NO_PROXY": "127.0.0.1,localhost",
    }


async def hold_call(server: Server, planned: PlannedCall, recording: Path) -> HeldCall:
    """One call: wait for the greeting, ask each question, hear each answer, hang up."""
    caller = Caller(
        server.url,
        server.key,
        server.secret,
        caller_number=planned.caller,
        called_number=planned.called,
        agent_name=AGENT,
        recording=recording,
    )
    held = HeldCall(planned=planned, call_id=caller.call_id, dialled_at=datetime.now(UTC), recording=recording)
    async with caller:
        try:
            await caller.wait_for_answer(_GREETING_S)
            held.greeting_heard = True
            for question in planned.questions:
                held.asked.append(await _ask(caller, question))
            if planned.expect_greeting == "unknown_number":
                await caller.wait_for_end(_ENDED_BY_AGENT_S)
                held.ended_by_agent = True
        except CallEndedError as error:
            held.trouble = f"the call ended: {error}"
        except NoAnswerError as error:
            held.trouble = str(error)
    return held


async def _ask(caller: Caller, question: Question) -> Asked:
    spoken = await caller.say(question.say)
    try:
        heard = await caller.wait_for_answer(_ANSWER_S)
    except NoAnswerError:
        heard = None
    return Asked(
        question=question,
        spoken_from=_instant(spoken.start),
        spoken_until=_instant(spoken.end),
        heard_from=_instant(heard.start) if heard else None,
        heard_until=_instant(heard.end) if heard else None,
    )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def run_plan(hold: Callable[[Plan, Scenario], Coroutine[Any, Any, Report]]) -> None:
    """The command PLAN REPORT of this process: hold the calls of a plan in that way and write the report."""

    def main(plan: Annotated[Path, typer.Argument(exists=True)], report: Annotated[Path, typer.Argument()]) -> None:
        try:
            held = asyncio.run(hold(Plan.model_validate_json(plan.read_text("utf-8")), Scenario.read()))
        except DemoError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
        report.write_text(held.model_dump_json(), encoding="utf-8")

    typer.run(main)


if __name__ == "__main__":
    run_plan(hold_calls)
