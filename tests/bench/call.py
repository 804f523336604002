"""`make call-latency`: what a caller waits for in a call, measured; docs/call.md says what each number means.

The calls are held on a real LiveKit server by a real worker. What would be somebody else's machine answers after a
fixed time: recogniser, language model, voice, sidecar. The times are the worker's own, as its traces tell them; what is
heard is measured by the caller.
"""

import asyncio
import json
import logging
import os
import platform
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final
from unittest.mock import patch

import aiohttp
import typer
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from demo import livekit_server, netns
from demo.audio import Samples
from demo.caller import CallEndedError, Caller, NoAnswerError
from demo.livekit_server import LiveKitServer
from demo.processes import DemoError, running
from demo.standins import server as standins
from demo.standins.faults import Endpoint
from demo.standins.recognizer import Recognition
from demo.standins.responder import Message, Reply, Search, respond
from demo.standins.server import StandIns
from tests.bench.figures import latency
from tests.support.collector import Collector, Received, collecting
from tests.support.contract_exchange import ContractExchanges
from tests.support.fake_sidecar import TOKEN, FakeSidecar, bootstrap_answer, found, passage, serving

RESULTS: Final = Path("build") / "bench"
AGENT: Final = "answerline"
TOOL: Final = "execute_tool search_knowledge"
ANSWER: Final = "You can park behind the house."
_PATIENCE_S: Final = 30.0

# What callers say, and what a model searches for then: as it was said, shortened, put in its own words.
QUESTIONS: Final = {
    "where can i park my car": "where can i park my car",
    "what is the door code for the north entrance": "door code north entrance",
    "how much is a copy of my record": "price of a copy of my record",
    "when do you open on saturday": "opening hours saturday",
    "can i bring my dog along": "are pets allowed",
    "i lost my key card what do i do now": "lost key card replacement",
    "who is my contact for the insurance papers": "contact for insurance papers",
    "is there a lift to the second floor": "lift to the second floor",
    "do i need to fast before the blood test": "fast before blood test",
    "how do i cancel an appointment": "cancel appointment",
}


@dataclass(frozen=True)
class Delays:
    """Seconds after which each answers."""

    recognizer: float
    model: float
    voice: float
    sidecar: float


@dataclass(frozen=True)
class Waited:
    """One turn, in milliseconds from the caller's last word, but for `search`.

    Attributes:
        tool, result: when the model called the tool, and when it had the result; `search` lies between.
        first_audio, answer: when the agent began to send sound, and the answer's.
        heard: when the caller heard the first sound.
        ahead: whether the result was what had been searched ahead.
    """

    tool: float
    search: float
    result: float
    first_audio: float
    answer: float
    heard: float
    ahead: bool


@dataclass
class Bench:
    """What a call needs."""

    server: LiveKitServer
    collector: Collector
    ears: "_Ears"
    metrics_url: str

    async def ahead(self) -> dict[str, float]:
        """What the worker has counted of searching ahead: the calls' own numbers, served by its main process."""
        async with aiohttp.ClientSession() as http, http.get(self.metrics_url) as answer:
            families = list(text_string_to_metric_families(await answer.text()))
        counted = {(s.name, s.labels.get("result")): s.value for family in families for s in family.samples}
        number = counted.get(("answerline_search_ahead_saved_seconds_count", None), 0.0)
        saved = counted.get(("answerline_search_ahead_saved_seconds_sum", None), 0.0)
        return {
            "used": counted.get(("answerline_searches_ahead_total", "used"), 0.0),
            "unused": counted.get(("answerline_searches_ahead_total", "unused"), 0.0),
            "saved_ms_mean": round(saved / number * 1000, 1) if number else 0.0,
        }


class _Ears:
    """A recogniser that knows what is being said, so that it takes no time of its own."""

    words = ""

    async def transcribe(self, _samples: Samples, _rate: int) -> Recognition:
        return Recognition(self.words, 0.0)

    async def aclose(self) -> None:
        """There is nothing to let go of."""


def searches_in_its_own_words(messages: Sequence[Message], *, can_search: bool) -> Reply:
    """The responder's next turn, its query as a model would put it."""
    reply = respond(messages, can_search=can_search)
    return Search(QUESTIONS.get(reply.query, reply.query)) if isinstance(reply, Search) else reply


@asynccontextmanager
async def bench(delays: Delays, folder: Path, *, prefetch: bool) -> AsyncIterator[Bench]:
    """Everything that a call needs, up."""
    program = livekit_server.find()
    if program is None:
        raise DemoError("There is no LiveKit server: run `make livekit-server`.")
    sidecar, ears, worker_log = FakeSidecar(ContractExchanges()), _Ears(), folder / "worker.log"
    sidecar.bootstrap = _answer(201, bootstrap_answer(agent={"greeting": "Hello."}).to_wire())
    sidecar.search = _answer(200, found(passage(content=ANSWER)).to_wire(), delays.sidecar)
    waits = {
        Endpoint.TRANSCRIPTIONS: delays.recognizer,
        Endpoint.COMPLETIONS: delays.model,
        Endpoint.SPEECH: delays.voice,
    }
    models, metrics_port = StandIns([], delays=waits), _free_port()
    await models._recognizer.aclose()
    models._recognizer = ears  # type: ignore[assignment]

    async def registered() -> bool:
        return "registered worker" in worker_log.read_text(encoding="utf-8", errors="replace")

    async with (
        serving(sidecar),
        collecting() as collector,
        models.serve() as models_url,
        livekit_server.running(program, log=folder / "livekit.log") as server,
        running(
            "the worker",
            [sys.executable, "-m", "worker", "start"],
            log=worker_log,
            environment={
                "LIVEKIT_URL": server.url,
                "LIVEKIT_API_KEY": server.key,
                "LIVEKIT_API_SECRET": server.secret,
                "OPENAI_API_KEY": "none-needed",
                "OPENAI_BASE_URL": models_url,
                "ANSWERLINE_SIDECAR_URL": sidecar.url,
                "ANSWERLINE_SIDECAR_TOKEN": TOKEN,
                "ANSWERLINE_LOAD_THRESHOLD": "inf",
                "ANSWERLINE_IDLE_PROCESSES": "1",
                "ANSWERLINE_WORKER_PORT": "0",
                "ANSWERLINE_PREFETCH": str(prefetch).lower(),
                "ANSWERLINE_OTLP_ENDPOINT": collector.url,
                "ANSWERLINE_METRICS_PORT": str(metrics_port),
                "NO_PROXY": "127.0.0.1,localhost",
            },
            is_ready=registered,
        ),
    ):
        yield Bench(server, collector, ears, f"http://127.0.0.1:{metrics_port}/metrics")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answer(status: int, body: str, delay_s: float = 0.0) -> Callable[[web.Request], Any]:
    async def handler(_request: web.Request) -> web.Response:
        await asyncio.sleep(delay_s)
        return web.Response(status=status, text=body, content_type="application/json")

    return handler


async def hold(at: Bench, question: str) -> Waited | None:
    """One call with one question; None where it went wrong."""
    before = len(at.collector.turns())
    caller = Caller(
        at.server.url,
        at.server.key,
        at.server.secret,
        caller_number="+15550140",
        called_number="+15550100",
        agent_name=AGENT,
    )
    at.ears.words = question
    try:
        async with caller:
            await caller.wait_for_answer(_PATIENCE_S, silence=0.5)
            await caller.say(question)
            heard = await caller.wait_for_answer(_PATIENCE_S, silence=0.5)
        await at.collector.has_turns(before + 1, _PATIENCE_S)
    except (CallEndedError, NoAnswerError, TimeoutError):
        return None
    return waited(at.collector.turns()[-1], heard.delay)


def waited(turn: dict[str, Received], heard_s: float | None) -> Waited | None:
    """What a trace tells of a turn; None where it had no search and answer."""
    whole, tool = turn["turn"], turn.get(TOOL)
    first, answer = (whole.attributes.get(f"answerline.turn.{name}_s") for name in ("first_audio", "answer"))
    if tool is None or first is None or answer is None or heard_s is None:
        return None
    return Waited(
        tool=(tool.began - whole.began) * 1000,
        search=(tool.ended - tool.began) * 1000,
        result=(tool.ended - whole.began) * 1000,
        first_audio=first * 1000,
        answer=answer * 1000,
        heard=heard_s * 1000,
        ahead=tool.attributes.get("answerline.search.attempts") == 0,
    )


def summary(turns: Sequence[Waited], planned: int) -> dict[str, Any]:
    """The figures of one way of searching."""
    series = ("tool", "search", "result", "first_audio", "answer", "heard")
    figures = {name: latency([getattr(turn, name) for turn in turns]) for name in series} if turns else {}
    ahead = sum(turn.ahead for turn in turns)
    return {"calls": planned, "measured": len(turns), "answered_ahead": ahead, "ms": figures}


async def measure(calls: int, delays: Delays, folder: Path, console: Console) -> dict[str, Any]:
    """Hold so many calls, half of them with searching ahead; logs go to the folder."""
    said = list(QUESTIONS)
    report: dict[str, Any] = {}
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for name, prefetch in (("without", False), ("with", True)):
            task = progress.add_task(f"calls {name} searching ahead", total=calls // 2)
            turns = []
            with patch.object(standins, "respond", searches_in_its_own_words):
                async with bench(delays, folder, prefetch=prefetch) as at:
                    for number in range(calls // 2):
                        turn = await hold(at, said[number % len(said)])
                        turns += [turn] if turn else []
                        progress.advance(task)
                    ahead = await at.ahead()
            report[name] = summary(turns, calls // 2) | {"ahead": ahead}
    return report


def table(report: dict[str, Any]) -> Table:
    """The figures, as they are printed."""
    shown = Table("milliseconds, p50 / p95", "without searching ahead", "with")
    rows = {
        "tool": "last word → call of the tool",
        "search": "call of the tool → result",
        "result": "last word → result",
        "first_audio": "last word → first sound sent",
        "answer": "last word → answer's first sound sent",
        "heard": "last word → first sound heard",
    }
    for key, label in rows.items():
        cells = [report[name]["ms"].get(key) for name in ("without", "with")]
        shown.add_row(label, *(f"{cell['p50']:.0f} / {cell['p95']:.0f}" if cell else "-" for cell in cells))
    shares = (f"{report[name]['answered_ahead']} of {report[name]['measured']}" for name in ("without", "with"))
    shown.add_row("answered by what was searched ahead", *shares)
    saved = (report[name].get("ahead", {}).get("saved_ms_mean", 0) for name in ("without", "with"))
    shown.add_row("of such a search was over when it was asked for, mean", *(f"{each:.0f}" for each in saved))
    return shown


def main(
    calls: Annotated[int, typer.Option(min=2, help="How many; half of them with searching ahead.")] = 100,
    recognizer: Annotated[float, typer.Option(help="Seconds after which the recogniser answers.")] = 0.3,
    model: Annotated[float, typer.Option(help="The language model.")] = 0.6,
    voice: Annotated[float, typer.Option(help="The voice.")] = 0.2,
    sidecar: Annotated[float, typer.Option(help="The sidecar; past 0.7 a filler is heard first.")] = 0.4,
    written: Annotated[Path, typer.Option("--report", help="Where all of it goes, as JSON.")] = RESULTS / "call.json",
    *,
    inside: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Hold calls with fixed delays on a LiveKit server of our own, and show what callers wait for."""
    console = Console()
    if not inside and netns.available() is None:  # so that no packet of a call leaves the machine
        argv = [sys.executable, "-m", "tests.bench.call", *sys.argv[1:], "--inside"]
        raise typer.Exit(subprocess.run(netns.command(argv), check=False).returncode)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # who hangs up cuts off what was being asked
    delays = Delays(recognizer, model, voice, sidecar)
    logs = written.parent / "call-logs"
    logs.mkdir(parents=True, exist_ok=True)
    try:
        report = asyncio.run(measure(calls, delays, logs, console))
    except DemoError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from None
    machine = {"machine": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()}
    written.write_text(json.dumps({"delays_s": asdict(delays), **machine, **report}, indent=2) + "\n", "utf-8")
    console.print(table(report))
    missing = sum(report[name]["calls"] - report[name]["measured"] for name in ("without", "with"))
    if missing:
        console.print(f"{missing} calls brought no measurement.", style="red")
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
