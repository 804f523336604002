"""A call in which, one after the other, everything that can fail does; run in a namespace, it prints JSON.

`python -m tests.support.failing_call SERVER FOLDER PIPELINE`: a question that has an answer, one that has none, one
while the sidecar is away, one that the model refuses, one in the middle of which a realtime model's connection drops,
one that is answered again, and one after which there is no model any more.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final

from demo.caller import CallEndedError, Caller
from demo.standins.faults import Endpoint, Fault
from tests.support.fake_sidecar import answering, found, nothing, passage, refusing
from tests.support.server_call import PATIENCE_S, CallSite, call_site

KNOWN: Final = "what is the door code for the north entrance"
OTHER: Final = "where can i park"
ANSWER: Final = "The code of the north entrance is LF-27-B."
# What answers a question, by pipeline.
MODEL: Final = {"cascade": Endpoint.COMPLETIONS, "realtime": Endpoint.RESPONSE}


async def hold(program: Path, folder: Path, pipeline: str) -> dict[str, Any]:
    async with call_site(program, folder, pipeline, [KNOWN, OTHER]) as site:
        caller = site.caller()
        async with caller:
            await caller.wait_for_answer(PATIENCE_S)
            heard = await _asked(site, caller, MODEL[pipeline], drops=pipeline == "realtime")
            await caller.wait_for_end(PATIENCE_S)
        await asyncio.wait_for(site.sidecar.ended.wait(), PATIENCE_S)
        return {
            "heard": heard,
            "ended_by": caller.end_reason,
            "outcomes": [event.outcome for event in site.sidecar.searched],
            "turns": [(event.role, event.text) for event in site.sidecar.timeline if event.type == "turn"],
            "errors": [(event.source, event.code) for event in site.sidecar.timeline if event.type == "error"],
            "endings": site.sidecar.endings,
        }


async def _asked(site: CallSite, caller: Caller, model: Endpoint, *, drops: bool) -> dict[str, float]:
    """Ask all of it; gives the seconds of sound that each question was answered with."""
    sidecar, faults = site.sidecar, site.stand_ins.faults
    is_known = answering(200, found(passage(content=ANSWER)).to_wire())
    heard = {}

    async def ask(name: str, question: str) -> None:
        await caller.say(question)
        answer = await caller.wait_for_answer(PATIENCE_S)
        heard[name] = answer.end - answer.start

    sidecar.search = is_known
    await ask("known", KNOWN)
    sidecar.search = answering(200, nothing().to_wire())
    await ask("miss", OTHER)
    sidecar.search = refusing(500)
    await ask("sidecar away", KNOWN)
    sidecar.search = is_known
    faults.set(Fault(endpoint=model, status=429, times=2 if model is Endpoint.COMPLETIONS else 1))
    await ask("model busy", OTHER)
    if drops:
        faults.set(Fault(endpoint=model, drop=True, times=1))
        await ask("connection drops", OTHER)
    await ask("answered again", KNOWN)
    faults.set(Fault(endpoint=Endpoint.REALTIME, status=503))
    faults.set(Fault(endpoint=model, **({"drop": True} if drops else {"status": 500})))
    try:
        while not caller.ended.is_set():
            await ask("no model", OTHER)
    except CallEndedError:
        pass
    return heard


if __name__ == "__main__":
    program, folder, pipeline = sys.argv[1:]
    print(json.dumps(asyncio.run(hold(Path(program), Path(folder), pipeline))))  # noqa: T201 - the test reads it
