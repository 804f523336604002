"""A caller who does not wait, on a real LiveKit server: real ears, real turns, a real line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo import livekit_server, netns
from tests.support.barge_in_call import ANSWER
from tests.support.requirements import in_ci
from worker.messages import language

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.livekit


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The call, held once."""
    if reason := netns.available():
        refuse = pytest.fail if in_ci() else pytest.skip
        refuse(f"no network namespace: {reason}")
    program = livekit_server.find()
    assert program is not None
    folder = tmp_path_factory.mktemp("call")
    argv = [sys.executable, "-m", "tests.support.barge_in_call", str(program), str(folder)]
    run = subprocess.run(netns.command(argv), cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return report


def test_the_caller_hears_that_it_is_being_looked_up(held: dict[str, Any]) -> None:
    assert held["said"][1] in language("en").waiting
    assert 0.5 < held["filler_after"] < 2.5
    assert held["filler_seconds"] < 1


def test_the_search_is_given_up_within_a_second_of_the_next_turn(held: dict[str, Any]) -> None:
    # from the last word, so with what it takes to hear that it was the last: at most 1.5 s, and the recogniser
    assert held["given_up_after"] < 2.5
    assert held["outcomes"] == ["aborted", "ok"]


def test_what_the_caller_asked_then_is_answered(held: dict[str, Any]) -> None:
    assert ANSWER in held["said"][-1]
    assert held["answer_seconds"] > 1
    assert held["endings"] == [["completed", "caller_hung_up"]]
