"""What a call on a LiveKit server of our own needs: server, stand-ins, a sidecar that a test drives, a worker."""

import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from demo import livekit_server
from demo.caller import Caller
from demo.livekit_server import LiveKitServer
from demo.processes import running
from demo.standins.server import StandIns
from tests.support.contract_exchange import ContractExchanges
from tests.support.fake_sidecar import TOKEN, FakeSidecar, serving

PATIENCE_S = 30.0


@dataclass(frozen=True)
class CallSite:
    """All that stands there when somebody calls."""

    sidecar: FakeSidecar
    stand_ins: StandIns
    server: LiveKitServer
    folder: Path

    def caller(self) -> Caller:
        """Somebody who calls."""
        return Caller(
            self.server.url,
            self.server.key,
            self.server.secret,
            caller_number="+15550140",
            called_number="+15550100",
            agent_name="answerline",
            recording=self.folder / "call.wav",
        )

    def said(self) -> list[str]:
        """What the agent said, by the timeline."""
        return [event.text for event in self.sidecar.timeline if event.type == "turn" and event.role == "agent"]


@asynccontextmanager
async def call_site(program: Path, folder: Path, pipeline: str, sentences: Iterable[str]) -> AsyncIterator[CallSite]:
    """Bring it up, with a worker of that pipeline; callers say these sentences."""
    sidecar = FakeSidecar(ContractExchanges())
    stand_ins = StandIns(sentences, journal=folder / "standins.jsonl")
    worker_log = folder / "worker.log"

    async def registered() -> bool:
        return "registered worker" in worker_log.read_text(encoding="utf-8", errors="replace")

    async with (
        serving(sidecar),
        stand_ins.serve() as models,
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
                "OPENAI_BASE_URL": models,
                "ANSWERLINE_PIPELINE": pipeline,
                "ANSWERLINE_SIDECAR_URL": sidecar.url,
                "ANSWERLINE_SIDECAR_TOKEN": TOKEN,
                "ANSWERLINE_LOAD_THRESHOLD": "inf",
                "ANSWERLINE_IDLE_PROCESSES": "1",
                "ANSWERLINE_WORKER_PORT": "0",
                "NO_PROXY": "127.0.0.1,localhost",
            },
            is_ready=registered,
        ),
    ):
        yield CallSite(sidecar, stand_ins, server, folder)
