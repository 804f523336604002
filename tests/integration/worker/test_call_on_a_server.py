"""Calls on a real LiveKit server, in both pipelines: a caller who does not wait, and one to whom everything fails."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo import livekit_server, netns
from tests.support import barge_in_call, failing_call
from tests.support.requirements import in_ci
from worker.messages import language, line

ROOT = Path(__file__).parents[3]
BOTH = pytest.mark.parametrize("pipeline", ["cascade", "realtime"], indirect=True, scope="module")

pytestmark = [pytest.mark.livekit, BOTH]


@pytest.fixture(scope="module")
def pipeline(request: pytest.FixtureRequest) -> str:
    """The pipeline of the worker."""
    return str(request.param)


def hold(call: Any, folder: Path, pipeline: str) -> dict[str, Any]:
    """Hold that call and give its report."""
    if reason := netns.available():
        refuse = pytest.fail if in_ci() else pytest.skip
        refuse(f"no network namespace: {reason}")
    program = livekit_server.find()
    assert program is not None
    argv = [sys.executable, "-m", call.__name__, str(program), str(folder), pipeline]
    run = subprocess.run(netns.command(argv), cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return report


@pytest.fixture(scope="module")
def held(pipeline: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The call of a caller who does not wait, held once in each pipeline."""
    return hold(barge_in_call, tmp_path_factory.mktemp("call"), pipeline)


@pytest.fixture(scope="module")
def failed(pipeline: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The call in which everything fails, held once in each pipeline."""
    return hold(failing_call, tmp_path_factory.mktemp("failing"), pipeline)


def test_the_caller_hears_that_it_is_being_looked_up(held: dict[str, Any]) -> None:
    assert held["said"][1] in language("en").waiting
    assert 0.5 < held["filler_after"] < 2.5
    assert held["filler_seconds"] < 1


def test_the_search_is_given_up_within_a_second_of_the_next_turn(held: dict[str, Any]) -> None:
    # from the last word, so with what it takes to hear that it was the last: at most 1.5 s, and the recogniser
    assert held["given_up_after"] < 2.5
    assert held["outcomes"] == ["aborted", "ok"]


def test_what_the_caller_asked_then_is_answered(held: dict[str, Any]) -> None:
    assert barge_in_call.ANSWER in held["said"][-1]
    assert held["answer_seconds"] > 1
    assert held["endings"] == [["completed", "caller_hung_up"]]


def test_the_timeline_has_what_was_said_by_both(held: dict[str, Any]) -> None:
    turns = [tuple(turn) for turn in held["turns"]]
    assert {("caller", barge_in_call.SLOW), ("caller", barge_in_call.QUICK)} <= set(turns)


def test_whatever_fails_something_true_is_said(failed: dict[str, Any], pipeline: str) -> None:
    said = [text for role, text in failed["turns"] if role == "agent"]
    assert failing_call.ANSWER in said[1]
    assert said[2].startswith(line("knowledge.no_match", "en"))
    assert said[3].startswith(line("knowledge.unavailable", "en"))
    trouble = line("call.trouble", "en")
    troubles = 2 if pipeline == "realtime" else 1
    assert said[4 : 4 + troubles] == [trouble] * troubles
    assert failing_call.ANSWER in said[4 + troubles]
    assert all(seconds > 0.5 for seconds in failed["heard"].values())
    assert failed["outcomes"][:3] == ["ok", "no_match", "unavailable"]


def test_without_a_model_the_call_ends_once_with_an_apology(failed: dict[str, Any], pipeline: str) -> None:
    assert failed["turns"][-1] == ["agent", line("call.out_of_order", "en")]
    assert failed["endings"] == [["failed", "outage"]]
    assert {source for source, _ in failed["errors"]} == {"realtime" if pipeline == "realtime" else "llm"}
