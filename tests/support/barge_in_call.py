"""A call on a LiveKit server of our own in which the caller does not wait; run in a namespace, it prints JSON.

`python -m tests.support.barge_in_call SERVER FOLDER PIPELINE`: the first question is never answered by the sidecar. The
caller hears that it is being looked up, and then asks something else.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.support.fake_sidecar import found, passage
from tests.support.server_call import PATIENCE_S, call_site

SLOW, QUICK = "what is the door code for the north entrance", "where can i park"
ANSWER = "You can park behind the house, in the row nearest to the door."


async def hold(program: Path, folder: Path, pipeline: str) -> dict[str, Any]:
    async with call_site(program, folder, pipeline, [SLOW, QUICK]) as site:
        sidecar = site.sidecar

        async def search(_request: web.Request) -> web.Response:
            if sidecar.searches[-1].query == SLOW:
                await asyncio.Event().wait()
            return web.Response(text=found(passage(content=ANSWER)).to_wire(), content_type="application/json")

        sidecar.search = search
        caller = site.caller()
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
            "said": site.said(),
            "turns": [(event.role, event.text) for event in sidecar.timeline if event.type == "turn"],
            "endings": sidecar.endings,
        }


if __name__ == "__main__":
    program, folder, pipeline = sys.argv[1:]
    print(json.dumps(asyncio.run(hold(Path(program), Path(folder), pipeline))))  # noqa: T201 - the test reads it
