"""Bench 6: spoken calls on a real LiveKit server: sound in, evidence in the database, sound out, recognised again."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from demo import livekit_server, netns
from demo.audio import from_wav
from demo.conversation import Plan as CallPlan
from demo.evidence import Event, Evidence, read_evidence
from demo.knowledge import knowledge, organization_id
from demo.processes import DemoError
from demo.standins.recognizer import Recognizer
from demo.verdict import Answered, agent_text, judge
from tests.evals.artifacts import Heard, Run
from tests.evals.audio_calls import AudioPlan, AudioReport, GroupedCall
from tests.evals.bench import Bench, Outcome, Plan, quantiles
from tests.evals.judges import SEARCH_LIMIT_MS

NAME: Final = "audio"
_ROOT: Final = Path(__file__).parents[3]
_DATABASE: Final = _ROOT / ".cache" / "eval" / "calls-postgres"  # its vectors are kept with it
_PROVIDERS: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL")


async def run(plan: Plan) -> Outcome:
    """Hold the calls, with the real providers where their key is set, and judge what is stored and was heard."""
    program = livekit_server.find()
    if program is None:
        return Outcome(skipped="there is no LiveKit server: `make livekit-server` builds one")
    folder = plan.folder / "audio"
    folder.mkdir(parents=True, exist_ok=True)
    given = {name: os.environ[name] for name in _PROVIDERS if os.environ.get(name)}
    with knowledge(_DATABASE) as environment:
        calls = AudioPlan(
            demo=CallPlan(
                environment=environment,
                livekit=None,
                livekit_program=program,
                providers={"OPENAI_API_KEY": "none-needed"} | given if given else None,
                folder=folder,
            ),
            calls=1 if plan.quick else 3,
            noisy=1 if plan.quick else 2,
            at_once=2 if plan.quick else 20,
        )
        report = await _held(calls, folder, alone=not given)
        call_ids = [each.call.call_id for each in report.calls]
        evidence = read_evidence(environment["DATABASE_URL"], organization_id(), call_ids)
    return _outcome(plan, report, evidence)


async def _held(calls: AudioPlan, folder: Path, *, alone: bool) -> AudioReport:
    """Hold the calls in a process of their own, without a network where they need none. Raises DemoError."""
    plan_file, report_file = folder / "plan.json", folder / "report.json"
    report_file.unlink(missing_ok=True)
    plan_file.touch(mode=0o600)
    plan_file.write_text(calls.model_dump_json(), encoding="utf-8")
    argv = [sys.executable, "-m", "tests.evals.audio_calls", str(plan_file), str(report_file)]
    if alone and netns.available() is None:
        argv = netns.command(argv)
    try:
        process = await asyncio.create_subprocess_exec(*argv, cwd=_ROOT)
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                await process.wait()
    finally:
        plan_file.unlink()  # it holds the voice token
    if status != 0 or not report_file.exists():
        raise DemoError(f"The calls could not be held; the logs are in {folder}")
    return AudioReport.model_validate_json(report_file.read_text("utf-8"))


def _outcome(plan: Plan, report: AudioReport, evidence: Evidence) -> Outcome:
    recorder = plan.recorder(NAME)
    silences: list[float] = []
    searches: list[float] = []
    recognised: list[bool] = []
    for number, each in enumerate(report.calls):
        run = Run()
        answered, faults = judge(each.call, evidence)
        run.check("call", not faults, "; ".join(faults) or "held to its end")
        stored = evidence.calls.get(each.call.call_id)
        run.scope = stored.scope if stored else None
        run.audio = str(each.call.recording)
        for one in answered:
            run.turns.append(_heard(one, evidence))
            run.check(
                "answer", not one.faults, f"{one.asked.question.say}: {'; '.join(one.faults) or 'as it should be'}"
            )
            slow = [ms for ms in run.turns[-1].ms if ms >= SEARCH_LIMIT_MS]
            run.check("time", not slow, f"searches over 3 s: {len(slow)}")
            run.transcript += [f"caller: {one.asked.question.say}", f"agent: {run.turns[-1].answer}"]
            searches += run.turns[-1].ms
            if one.asked.silence_ms is not None:
                silences.append(one.asked.silence_ms)
        if each.group == "telephone":
            recognised += _recognise(run, each, answered)
        recorder.keep(f"{each.group} {number}: {each.call.planned.name}", each.group, [run])
    figures = quantiles(searches, "search ms") | quantiles(silences, "silence before the answer ms")
    if recognised:
        figures["recognised again"] = sum(recognised) / len(recognised)
    return Outcome(recorder.results, figures, {"latency of calls": {"search in a spoken call": searches}})


def _heard(answered: Answered, evidence: Evidence) -> Heard:
    heard = Heard(answered.asked.question.say, answer=agent_text(answered.events))
    for event in _searches(answered.events):
        heard.statuses.append(event.data["outcome"])
        heard.ms.append(float(event.data["ms"]))
        heard.ids += event.data["resultIds"]
        heard.tool_outputs.append(event.search)
    heard.found = [evidence.external_ids.get(id_, "an instruction") for id_ in heard.ids]
    return heard


def _searches(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.type == "kb.search"]


def _recognise(run: Run, each: GroupedCall, answered: Sequence[Answered]) -> list[bool]:
    """The recording, heard again: of answers that differ in the code alone it must never be one with a wrong code.

    Gives for each answer with a code whether it was recognised: the offline recogniser gives up on some long sentences,
    which is counted and judged by its share.
    """
    found: list[bool] = []
    assert each.call.recording is not None
    samples, rate = from_wav(each.call.recording)
    for one in answered:
        codes = [text for text in one.asked.question.hear if "-" in text]
        if not codes or one.asked.heard_from is None or one.asked.heard_until is None:
            continue
        said = agent_text(one.events)
        decoys = [said.replace(codes[0], wrong) for wrong in ("LF-72-D", "MX-99-Z", "LF-27-D") if wrong != codes[0]]
        start, end = (
            int((moment - each.call.dialled_at).total_seconds() * rate)
            for moment in (one.asked.heard_from, one.asked.heard_until)
        )
        part = samples[max(0, start - rate // 2) : end + rate // 2]
        recognized = Recognizer([*decoys, said]).transcribe(part, rate).text
        found.append(codes[0] in recognized)
        run.check("heard", found[-1] or not recognized, f"recognised again: {recognized or 'nothing'}")
    return found


BENCH: Final = Bench(NAME, "Spoken calls on a LiveKit server", run)
