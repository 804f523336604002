"""The bench of calls holds its calls, and finds in their traces what it measures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from demo import netns
from tests.support.requirements import in_ci

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.livekit


@pytest.mark.timeout(600)
def test_calls_are_measured_with_and_without_searching_ahead(tmp_path: Path) -> None:
    if reason := netns.available():
        refuse = pytest.fail if in_ci() else pytest.skip
        refuse(f"no network namespace: {reason}")
    report = tmp_path / "call.json"
    argv = [sys.executable, "-m", "tests.bench.call", "--calls", "2", "--report", str(report)]
    run = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    told = json.loads(report.read_text("utf-8"))
    assert [told[name]["measured"] for name in ("without", "with")] == [1, 1]
    assert [told[name]["answered_ahead"] for name in ("without", "with")] == [0, 1]
    assert [told[name]["ahead"]["used"] for name in ("without", "with")] == [0, 1], "counted in the call's own process"
    without = {name: figures["p50"] for name, figures in told["without"]["ms"].items()}
    assert 0 < without["tool"] < without["result"] < without["answer"]
    assert without["search"] >= told["delays_s"]["sidecar"] * 1000
    assert "1/1" in run.stdout, "progress is shown"
