"""Two callers in one room of a LiveKit server of our own; run inside a namespace, it prints what they heard as JSON.

`python -m tests.support.loopback_call SERVER LOG RECORDING`
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from demo import livekit_server
from demo.audio import TELEPHONE_RATE
from demo.caller import CallEndedError, Caller
from demo.standins.recognizer import Recognizer

QUESTION = "Where can I leave my umbrella?"
ANSWER = "There is a stand behind the second door."
PATIENCE_S = 20.0


async def hold(program: Path, log: Path, recording: Path) -> dict[str, Any]:
    async with livekit_server.running(program, log=log) as server:
        access = (server.url, server.key, server.secret)
        asking = Caller(
            *access,
            caller_number="+15550140",
            called_number="+15550100",
            agent_name=None,
            room="both",
            recording=recording,
        )
        answering = Caller(
            *access,
            caller_number="+15550141",
            called_number="+15550100",
            agent_name=None,
            room="both",
            voice_variant="m1",
        )
        started = time.monotonic()
        async with asking:
            async with answering:
                question, heard_question = await asyncio.gather(
                    asking.say(QUESTION), answering.wait_for_answer(PATIENCE_S)
                )
                answer, heard_answer = await asyncio.gather(answering.say(ANSWER), asking.wait_for_answer(PATIENCE_S))
                recognizer = Recognizer([QUESTION, ANSWER])
                texts = {
                    "question_text": recognizer.transcribe(
                        answering.heard(heard_question.start - 0.3, heard_question.end + 0.3), TELEPHONE_RATE
                    ).text,
                    "answer_text": recognizer.transcribe(
                        asking.heard(heard_answer.start - 0.3, heard_answer.end + 0.3), TELEPHONE_RATE
                    ).text,
                }
            reason = await asking.wait_for_end(PATIENCE_S)
            try:
                await asking.say(QUESTION)
            except CallEndedError:
                refused = True
            else:
                refused = False
        return {
            **texts,
            "question_said": question.end - question.start,
            "question_heard": heard_question.end - heard_question.start,
            "question_late": heard_question.start - question.start,
            "answer_late": heard_answer.start - answer.start,
            "answer_delay": heard_answer.delay,
            "end_reason": reason,
            "refused_after_end": refused,
            "seconds": time.monotonic() - started,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(hold(*map(Path, sys.argv[1:])))))  # noqa: T201 - the test reads it
