"""What is kept of each case: everything that its verdict follows from, as JSON, so that nobody has to run it again."""

import json
import re
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.evals.prices import Usage, price_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge says.

    Attributes:
        reason: what it saw; of a failure what was wrong.
    """

    judge: str
    passed: bool
    reason: str


@dataclass(slots=True)
class Heard:
    """What came of one thing that was said.

    Attributes:
        tool_inputs, tool_outputs: of each call of a tool, as the model wrote and got them.
        statuses: of each search.
        ids: of the results, best first, as the wire has them; `found` names them for people.
        ms: of each search, by the worker's own clock.
        answer: what the agent said.
    """

    say: str
    tool_inputs: list[Any] = field(default_factory=list)
    tool_outputs: list[Any] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    answer: str = ""


@dataclass(slots=True)
class Run:
    """One run of a case.

    Attributes:
        scope: the snapshot that was stored with the session.
        audio: the recording of the call, where there was sound.
        price: in US dollars; None where nothing says what the models cost.
        trace: of an error of the harness or of what it runs, which is a failure too.
        more: what belongs to this bench alone.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    scope: dict[str, Any] | None = None
    turns: list[Heard] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    audio: str | None = None
    usage: Usage = field(default_factory=Usage)
    price: float | None = None
    seconds: float = 0.0
    trace: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def check(self, judge: str, ok: bool, reason: str) -> bool:  # noqa: FBT001 - it is what is checked
        """Take note of a verdict, and give it back."""
        self.verdicts.append(Verdict(judge, ok, reason))
        return ok

    @property
    def passed(self) -> bool:
        """Whether every judge agreed, and there was one."""
        return self.trace is None and bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)


@dataclass(slots=True)
class Result:
    """A case and its runs; it passed if all of them did."""

    bench: str
    case: str
    kind: str
    language: str
    selectivity: str
    file: str
    runs: list[Run]

    @property
    def passed(self) -> bool:
        return all(run.passed for run in self.runs)

    @property
    def reasons(self) -> list[str]:
        """What was wrong, each once."""
        found = [f"{v.judge}: {v.reason}" for run in self.runs for v in run.verdicts if not v.passed]
        found += [run.trace.strip().splitlines()[-1] for run in self.runs if run.trace]
        return list(dict.fromkeys(found)) or ([] if self.passed else ["no judge has judged it"])


class Recorder:
    """Runs the cases of one bench and keeps an artifact of each.

    Args:
        folder: `<folder>/<bench>/<case>.json`; what an earlier run left there is gone.
        times: how often each case is run.
    """

    def __init__(self, folder: Path, bench: str, times: int) -> None:
        self.bench, self.times = bench, times
        self.folder = folder / bench
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob("*.json"):
            left.unlink()
        self.results: list[Result] = []

    async def run(
        self,
        case: str,
        kind: str,
        once: Callable[[Run], Awaitable[None]],
        *,
        language: str = "en",
        selectivity: str = "",
        times: int | None = None,
    ) -> Result:
        """Run a case so many times; what it raises is a failure with its trace, and the others go on."""
        runs = []
        for _ in range(times or self.times):
            run, started = Run(), time.monotonic()
            try:
                await once(run)
            except Exception:  # noqa: BLE001 - whatever breaks is what is to be told
                run.trace = traceback.format_exc()
            run.seconds = round(time.monotonic() - started, 3)
            run.price = price_of(run.usage)
            runs.append(run)
        return self.keep(case, kind, runs, language=language, selectivity=selectivity)

    def keep(self, case: str, kind: str, runs: list[Run], *, language: str = "en", selectivity: str = "") -> Result:
        """Write the artifact of a case that was run."""
        file = self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', case)}.json"
        result = Result(self.bench, case, kind, language, selectivity, f"{self.bench}/{file.name}", runs)
        document = asdict(result) | {"passed": result.passed, "reasons": result.reasons}
        file.write_text(json.dumps(document, indent=1, ensure_ascii=False, default=str), encoding="utf-8")
        self.results.append(result)
        return result
