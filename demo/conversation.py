"""The demo's calls on real parts: stand-ins, sidecar, LiveKit server, worker, callers.

Run as a process of its own (`python -m demo.conversation`), so that it can be put into a network namespace that has only
loopback. What it needs comes in a plan, what came of it goes into a report, both JSON files.
"""

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

AGENT = "answerline"
SIDECAR = "http://127.0.0.1:8090"
_STANDINS = "http://127.0.0.1:8095"
_WORKER = "http://127.0.0.1:8081"
_AT_ONCE = 2  # calls: the machine that this must run on has two cores
_GREETING_S = 20.0
_ANSWER_S = 25.0
_HANG_UP_S = 20.0


class Plan(BaseModel):
    """What the calls need.

    Attributes:
        environment: of the sidecar and the worker: database, voice token.
        livekit: url, key and secret of a server that is up already; None to start one.
        providers: OPENAI_… variables of real providers; None to start the stand-ins.
        folder: where logs and recordings go.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment: dict[str, str]
    livekit: tuple[str, str, str] | None
    providers: dict[str, str] | None
    folder: Path
    only: str | None = None


class AskedOnLine(BaseModel):
    """A question as the caller's end knows it."""

    say: str
    spoken_from: datetime
    spoken_until: datetime
    heard_from: datetime | None
    heard_until: datetime | None


class CallOnLine(BaseModel):
    """A call as the caller's end knows it."""

    name: str
    call_id: str
    recording: Path | None
    greeting_heard: bool
    ended_by_agent: bool
    asked: list[AskedOnLine]
    trouble: str | None


class Report(BaseModel):
    """All calls, in the plan's order."""

    calls: list[CallOnLine]
