"""`python -m demo`: spoken calls, answered from knowledge. `python -m demo run`: the sidecar and worker kept up."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from demo import livekit_server, netns
from demo.conversation import AGENT, SIDECAR, Plan, Server
from demo.evidence import Evidence, read_evidence
from demo.held import Report
from demo.knowledge import knowledge, organization_id
from demo.printing import print_call, print_latencies
from demo.processes import DemoError, answers, running
from demo.verdict import Answered, judge

ROOT = Path(__file__).parents[1]
DATA = ROOT / ".cache" / "demo" / "postgres"
BUILD = ROOT / "build" / "demo"

app = typer.Typer(help=__doc__, pretty_exceptions_enable=False, add_completion=False)
console = Console(highlight=False)


@app.callback(invoke_without_command=True)
def demo(
    context: typer.Context,
    picture: Annotated[Path | None, typer.Option(help="Also draw the timeline as SVG, here.")] = None,
) -> None:
    """Hold the sample's calls and say whether they did what they should."""
    if context.invoked_subcommand is None:
        try:
            raise typer.Exit(_demo(picture))
        except DemoError as error:
            console.print(str(error), style="red", markup=False)
            raise typer.Exit(1) from None


@app.command()
def run() -> None:
    """Keep the sidecar and its jobs up on the sample organization, and the worker when LIVEKIT_URL is set.

    Ctrl-C ends them.
    """
    try:
        with knowledge(DATA) as environment:
            asyncio.run(_keep_up(environment))
    except DemoError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from None


def _demo(picture: Path | None) -> int:
    started = time.monotonic()
    BUILD.mkdir(parents=True, exist_ok=True)
    console.rule("[bold]1. Knowledge: PostgreSQL with pgvector, the sample organization", align="left")
    with knowledge(DATA) as environment:
        plan = Plan(
            environment=environment,
            livekit=_given_server(),
            livekit_program=livekit_server.find(),
            providers=_given_providers(),
            folder=BUILD,
        )
        console.rule("[bold]2. Calls", align="left")
        report = hold_calls(plan)
        evidence = read_evidence(
            environment["DATABASE_URL"], organization_id(), [call.call_id for call in report.calls]
        )
    recorder = Console(record=True, width=150, highlight=False) if picture else console
    faults, answered = _show(report, evidence, recorder)
    if picture:
        # Rich's page asks another host for its fonts; any monospace one will do.
        svg = re.sub(r"@font-face \{.*?\}", "", recorder.export_svg(title="make demo"), flags=re.DOTALL)
        picture.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")
    asked = len(answered)
    right = sum(not each.faults for each in answered)
    verdict = "passed" if not faults else "FAILED"
    console.rule(
        f"[bold]{verdict}[/]: {right} of {asked} questions answered as they should be in"
        f" {len(report.calls)} calls, {time.monotonic() - started:.0f} s",
        align="left",
    )
    return 1 if faults else 0


def hold_calls(plan: Plan) -> Report:
    """Hold the calls in a process of their own, in a namespace of their own where one can be made."""
    plan_file, report_file = plan.folder / "plan.json", plan.folder / "report.json"
    report_file.unlink(missing_ok=True)
    plan_file.touch(mode=0o600)
    plan_file.write_text(plan.model_dump_json(), encoding="utf-8")
    in_writing = plan.livekit is None and plan.livekit_program is None
    module = "demo.in_writing" if in_writing else "demo.conversation"
    argv = [sys.executable, "-m", module, str(plan_file), str(report_file)]
    if in_writing:
        console.print("No LiveKit server and no Go to build one: the same conversation is held in writing.")
    if plan.livekit or plan.providers:
        console.print("Real services were named, so these calls use the network.")
    elif reason := netns.available():
        console.print(f"No network namespace here ({reason}): the calls use this machine's own loopback.", markup=False)
    else:
        console.print("In a network namespace that has only loopback.")
        argv = netns.command(argv)
    console.print(f"Logs and recordings: {os.path.relpath(plan.folder)}", markup=False, style="dim")
    try:
        with console.status("Starting the parts and holding the calls ..."):
            status = asyncio.run(_wait_for(argv))
    finally:
        plan_file.unlink()  # it holds the voice token
    if status != 0 or not report_file.exists():
        raise DemoError(f"The calls could not be held; the logs are in {plan.folder}")
    return Report.model_validate_json(report_file.read_text("utf-8"))


async def _wait_for(argv: list[str]) -> int:
    process = await asyncio.create_subprocess_exec(*argv, cwd=ROOT)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            await process.wait()


def _show(report: Report, evidence: Evidence, out: Console) -> tuple[list[str], list[Answered]]:
    faults: list[str] = []
    every: list[Answered] = []
    for call in report.calls:
        answered, of_call = judge(call, evidence)
        print_call(out, call, answered, of_call, evidence)
        every += answered
        faults += of_call + [fault for each in answered for fault in each.faults]
    print_latencies(out, every)
    (BUILD / "verdict.json").write_text(
        json.dumps({"faults": faults, "questions": len(every), "calls": len(report.calls)}), encoding="utf-8"
    )
    return faults, every


async def _keep_up(environment: dict[str, str]) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    BUILD.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as parts:
        sidecar = [sys.executable, "-m", "retrieval_sidecar", "serve"]
        log = BUILD / "sidecar.log"
        await parts.enter_async_context(
            running(
                "the sidecar", sidecar, log=log, environment=environment, is_ready=lambda: answers(f"{SIDECAR}/readyz")
            )
        )
        console.print(f"The voice API is ready at {SIDECAR}; its log is {log}", markup=False)
        jobs = BUILD / "jobs.log"
        work = [sys.executable, "-m", "retrieval_sidecar", "work"]
        await parts.enter_async_context(
            running(
                "the work on sources", work, log=jobs, environment=environment, is_ready=lambda: _says(jobs, "Starting")
            )
        )
        console.print(f"Sources that are added are worked on; the log is {jobs}", markup=False)
        if _given_server():
            log = BUILD / "worker.log"
            given = {"ANSWERLINE_SIDECAR_TOKEN": environment["ANSWERLINE_SIDECAR_TOKEN"], "DATABASE_URL": ""}
            worker = [sys.executable, "-m", "worker", "start"]
            await parts.enter_async_context(
                running(
                    "the worker", worker, log=log, environment=given, is_ready=lambda: _says(log, "registered worker")
                )
            )
            console.print(f"The worker answers as {AGENT!r}; its log is {log}", markup=False)
        else:
            console.print("No worker: set LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET and OPENAI_API_KEY for one.")
        console.print("Ctrl-C ends it.")
        await told.wait()


async def _says(log: Path, words: str) -> bool:
    return words in await asyncio.to_thread(log.read_text, encoding="utf-8", errors="replace")


def _given_server() -> Server | None:
    url = os.environ.get("LIVEKIT_URL")
    if not url:
        return None
    missing = [name for name in ("LIVEKIT_API_KEY", "LIVEKIT_API_SECRET") if not os.environ.get(name)]
    if missing:
        raise DemoError(f"LIVEKIT_URL is set; set {' and '.join(missing)} too.")
    return Server(url=url, key=os.environ["LIVEKIT_API_KEY"], secret=os.environ["LIVEKIT_API_SECRET"])


def _given_providers() -> dict[str, str] | None:
    given = {name: os.environ[name] for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL") if os.environ.get(name)}
    if not given:
        return None
    return {"OPENAI_API_KEY": "none-needed"} | given


if __name__ == "__main__":
    app()
