"""A call on a LiveKit server of our own in which the caller does not wait; run in a namespace, it prints JSON.

`python -m tests.support.barge_in_call SERVER FOLDER`: the first question is never answered by the sidecar. The caller
hears that it is being looked up, and then asks something else.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from demo import livekit_server
from demo.caller import Caller
from demo.processes import running
from demo.standins.server import StandIns
from tests.support.contract_exchange import ContractExchanges
from tests.support.fake_sidecar import TOKEN, FakeSidecar, found, passage, serving

SLOW, QUICK = "what is the door code for the north entrance", "where can i park"
ANSWER = "You can park behind the house, in the row nearest to the door."
PATIENCE_S = 30.0


async def hold(program: Path, folder: Path) -> dict[str, Any]:
    sidecar = FakeSidecar(ContractExchanges())
    worker_log = folder / "worker.log"

    async def search(_request: web.Request) -> web.Response:
        if sidecar.searches[-1].query == SLOW:
            await asyncio.Event().wait()
        return web.Response(text=found(passage(content=ANSWER)).to_wire(), content_type="application/json")

    sidecar.search = search

    async def registered() -> bool:
        return "registered worker" in worker_log.read_text(encoding="utf-8", errors="replace")

    async with (
        serving(sidecar),
        StandIns([SLOW, QUICK], journal=folder / "standins.jsonl").serve() as models,
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
        caller = Caller(
            server.url,
            server.key,
            server.secret,
            caller_number="+15550140",
            called_number="+15550100",
            agent_name="answerline",
            recording=folder / "call.wav",
        )
        async with caller:
            await caller.wait_for_answer(PATIENCE_S)
            await caller.say(SLOW)
            await asyncio.wait_for(sidecar.searching.wait(), PATIENCE_S)
            searching = time.time()
            bursts = caller._ear.bursts
            await caller._until(lambda: bursts[-1].start > searching, PATIENCE_S)
            filler = bursts[-1]
            asked = await caller.say(QUICK)
            await asyncio.wait_for(sidecar.disconnected.wait(), PATIENCE_S)
            given_up = time.time()
            answer = await caller.wait_for_answer(PATIENCE_S)
        await asyncio.wait_for(sidecar.ended.wait(), PATIENCE_S)
    return {
        "filler_after": filler.start - searching,
        "filler_seconds": filler.end - filler.start,
        "given_up_after": given_up - asked.end,
        "answered_after": answer.start - asked.end,
        "answer_seconds": answer.end - answer.start,
        "outcomes": [event.outcome for event in sidecar.searched],
        "said": [event.text for event in sidecar.timeline if event.type == "turn" and event.role == "agent"],
        "endings": sidecar.endings,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(hold(*map(Path, sys.argv[1:])))))  # noqa: T201 - the test reads it
