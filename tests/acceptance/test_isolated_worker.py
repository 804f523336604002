"""A worker that can reach LiveKit, the voice API and its model provider, and nothing else, answers a call."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demo import livekit_server, netns
from demo.conversation import Plan
from demo.evidence import read_evidence
from demo.knowledge import knowledge, organization_id
from demo.verdict import judge
from tests.support.isolated_worker import LIVEKIT, MODELS, PRIVATE, VOICE, IsolatedReport

pytestmark = [pytest.mark.livekit, pytest.mark.timeout(300)]


def refusal() -> str | None:
    """Why no second namespace can be made here; None where it can."""
    if why := netns.available():
        return why
    if shutil.which("nsenter") is None:
        return "the command 'nsenter' is missing, package util-linux"
    nested = netns.command(["unshare", "--net", "--mount", "--propagation", "private", "true"])
    tried = subprocess.run(nested, capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"a namespace in a namespace failed: {tried.stderr.strip()}"


def test_its_call_succeeds_and_neither_database_nor_management_can_be_reached(tmp_path: Path) -> None:
    if why := refusal():
        pytest.skip(f"no network namespace here: {why}")
    with knowledge(tmp_path / "postgres") as environment:
        plan = Plan(
            environment=environment | {"ANSWERLINE_VOICE_HOST": "0.0.0.0"},
            livekit=None,
            livekit_program=livekit_server.find(),
            providers=None,
            folder=tmp_path,
        )
        (tmp_path / "plan.json").write_text(plan.model_dump_json())
        argv = [sys.executable, "-m", "tests.support.isolated_worker", "plan.json", "report.json"]
        done = subprocess.run(
            netns.command(argv),
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        report = IsolatedReport.model_validate_json((tmp_path / "report.json").read_text("utf-8"))
        evidence = read_evidence(environment["DATABASE_URL"], organization_id(), [report.call.call_id])

    answered, of_call = judge(report.call, evidence)
    assert not of_call
    assert [each.faults for each in answered] == [()]

    assert report.same_namespace, "the worker that answered is in the namespace that was looked at"
    hosts = {route.split()[0] for route in report.routes}
    assert hosts == {"10.77.0.0/30", LIVEKIT, VOICE, MODELS}, "no default route, and none to the private address"
    doors = {"livekit", "voice", "models"}
    assert {name for name, found in report.from_worker.items() if found == "open"} == doors
    assert report.from_worker["database"] == report.from_worker["management"] == "ENETUNREACH"
    assert not report.sees_socket, "nor by the file system"
    # They are up, and answer those who may ask.
    assert {name for name, found in report.from_site.items() if found == "open"} == doors | {"database", "management"}
    assert PRIVATE not in hosts
