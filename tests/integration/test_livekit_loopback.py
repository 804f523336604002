"""The caller on a real LiveKit server of our own, where nothing but loopback is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo import livekit_server, netns
from demo.audio import from_wav, level
from tests.support.loopback_call import ANSWER, QUESTION
from tests.support.requirements import in_ci

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.livekit


@pytest.fixture(scope="module", autouse=True)
def namespace() -> None:
    """Namespaces, which CI has and not every machine."""
    if reason := netns.available():
        refuse = pytest.fail if in_ci() else pytest.skip
        refuse(f"no network namespace: {reason}")


def in_namespace(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(netns.command(argv), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loopback") / "call.wav"


@pytest.fixture(scope="module")
def held(recording: Path) -> dict[str, Any]:
    program = livekit_server.find()
    assert program is not None
    log = recording.with_name("livekit.log")
    run = in_namespace(sys.executable, "-m", "tests.support.loopback_call", str(program), str(log), str(recording))
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def test_two_callers_understand_each_other(held: dict[str, Any]) -> None:
    assert (held["question_text"], held["answer_text"]) == (QUESTION, ANSWER)


def test_what_is_heard_is_as_long_as_what_was_said_and_little_later(held: dict[str, Any]) -> None:
    assert held["question_heard"] == pytest.approx(held["question_said"], abs=0.3)
    assert 0 < held["question_late"] < 0.5
    assert 0 < held["answer_late"] < 0.5


def test_the_delay_of_an_answer_is_measured_from_the_last_word(held: dict[str, Any]) -> None:
    # the other side noticed 1.2 s of silence before it began to speak
    assert 1.2 < held["answer_delay"] < 3.0


def test_a_caller_notices_that_the_other_side_left(held: dict[str, Any]) -> None:
    assert held["end_reason"] == "the other side left"
    assert held["refused_after_end"] is True


def test_the_recording_holds_the_other_side_only(held: dict[str, Any], recording: Path) -> None:
    samples, rate = from_wav(recording)
    loud = [level(samples[at : at + rate // 10]) > 180 for at in range(0, len(samples), rate // 10)]
    assert rate == 8000
    assert len(samples) / rate < held["seconds"] + 1
    assert 1 < sum(loud) / 10 < 4  # seconds: the answer, without the question


def test_only_loopback_is_in_the_namespace() -> None:
    run = in_namespace("ip", "-o", "-4", "addr")
    assert run.returncode == 0, run.stderr
    assert {line.split()[3] for line in run.stdout.splitlines()} <= {"127.0.0.1/8", "127.0.0.1/32"}
    assert in_namespace("ip", "-o", "-4", "route").stdout.strip() == ""


def test_pid_signals_and_status_are_those_of_the_command() -> None:
    assert in_namespace("sh", "-c", "exit 7").returncode == 7
    with subprocess.Popen(netns.command(["sh", "-c", "echo $$; exec cat"]), stdin=-1, stdout=-1, text=True) as child:
        assert child.stdout is not None
        assert int(child.stdout.readline()) == child.pid
        child.terminate()
        assert child.wait(timeout=20) == -15
