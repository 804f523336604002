"""The calls of Bench 6, held in a process of their own, so that it can be put where only loopback is.

`python -m tests.evals.audio_calls PLAN REPORT`; the plan is the demo's with what is asked of it here.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from pydantic import BaseModel

from demo.audio import TELEPHONE_RATE, Samples, level, mu_law_round_trip, resample, trim_end
from demo.caller import CallEndedError, Caller, NoAnswerError, Utterance
from demo.conversation import AGENT, Plan, Server, bring_up
from demo.held import Asked, HeldCall
from demo.scenario import PlannedCall, Scenario
from demo.standins.voice import speak_off_loop

_VOICE_RATE: Final = 24000
_VARIANT: Final = "f3"
_PATIENCE_S: Final = 90.0  # for twenty calls on two cores that have other things to do


class AudioPlan(BaseModel):
    """What is held.

    Attributes:
        calls: of the scenario, so many.
        noisy: of those, so many again with noise.
        at_once: so many at the same time, of one question each.
        snr_db: how much louder than the noise the caller is.
    """

    demo: Plan
    calls: int
    noisy: int
    at_once: int
    snr_db: float = 15.0


class GroupedCall(BaseModel):
    """A call, and what it is an example of: "telephone", "noise" or "at once"."""

    group: str
    call: HeldCall


class AudioReport(BaseModel):
    """All calls that were held."""

    calls: list[GroupedCall]


def with_noise(speech: Samples, snr_db: float, seed: int) -> Samples:
    """Speech with white noise below it, and half a second of the noise alone on either side."""
    pause = np.zeros(TELEPHONE_RATE // 2, np.int16)
    padded = np.concatenate([pause, speech, pause]).astype(np.float64)
    loudness = level(speech) / 10 ** (snr_db / 20)
    noise = np.random.default_rng(seed).normal(0.0, loudness, len(padded))
    return np.clip(padded + noise, -32768, 32767).astype(np.int16)


class NoisyCaller(Caller):
    """A caller from a loud place."""

    snr_db: float = 15.0

    async def say(self, text: str) -> Utterance:
        speech = trim_end(await speak_off_loop(text, _VOICE_RATE, variant=_VARIANT))
        noisy = with_noise(resample(speech, _VOICE_RATE, TELEPHONE_RATE), self.snr_db, seed=len(text))
        return await self.play(mu_law_round_trip(noisy), text)


async def hold(plan: AudioPlan) -> AudioReport:
    """Bring everything up and hold all groups of calls one after the other. Raises DemoError."""
    scenario = Scenario.read()
    asking = [call for call in scenario.calls if call.questions]
    chosen = asking[: plan.calls]
    folder = plan.demo.folder
    held: list[GroupedCall] = []
    async with AsyncExitStack() as parts:
        server = await bring_up(plan.demo, scenario, parts)

        async def one(group: str, planned: PlannedCall, number: int) -> None:
            kind = NoisyCaller if group == "noise" else Caller
            recording = folder / f"{group.replace(' ', '-')}-{number}.wav"
            held.append(GroupedCall(group=group, call=await _call(kind, server, planned, recording)))

        for number, planned in enumerate(chosen):
            await one("telephone", planned, number)
        for number, planned in enumerate(chosen[: plan.noisy]):
            await one("noise", planned, number)
        await asyncio.gather(*(one("at once", each, n) for n, each in enumerate(_singles(asking, plan.at_once))))
    return AudioReport(calls=held)


def _singles(calls: Sequence[PlannedCall], count: int) -> list[PlannedCall]:
    """So many calls of one question each, all questions in turn."""
    every = [call.model_copy(update={"questions": [question]}) for call in calls for question in call.questions]
    return list(islice(cycle(every), count))


async def _call(kind: type[Caller], server: Server, planned: PlannedCall, recording: Path) -> HeldCall:
    caller = kind(
        server.url,
        server.key,
        server.secret,
        caller_number=planned.caller,
        called_number=planned.called,
        agent_name=AGENT,
        recording=recording,
        voice_variant=_VARIANT,
    )
    held = HeldCall(planned=planned, call_id=caller.call_id, dialled_at=datetime.now(UTC), recording=recording)
    try:
        async with caller:
            await caller.wait_for_answer(_PATIENCE_S)
            held.greeting_heard = True
            for question in planned.questions:
                spoken = await caller.say(question.say)
                heard = await caller.wait_for_answer(_PATIENCE_S)
                held.asked.append(
                    Asked(
                        question=question,
                        spoken_from=_instant(spoken.start),
                        spoken_until=_instant(spoken.end),
                        heard_from=_instant(heard.start),
                        heard_until=_instant(heard.end),
                    )
                )
    except (CallEndedError, NoAnswerError) as error:
        held.trouble = str(error)
    return held


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def main(plan: Annotated[Path, typer.Argument(exists=True)], report: Annotated[Path, typer.Argument()]) -> None:
    """Hold the calls of a plan and write the report."""
    held = asyncio.run(hold(AudioPlan.model_validate_json(plan.read_text("utf-8"))))
    report.write_text(held.model_dump_json(), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
