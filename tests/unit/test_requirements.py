"""A missing tool is seen: skipped by name at home, a failure in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = """
from pathlib import Path
from tests.support import requirements

requirements.TOOLS = (
    requirements.Tool("kettle", "a kettle", lambda: Path("kettle").exists(), "buy one"),
)
pytest_plugins = ["tests.support.requirements"]
"""
TEST = """
import pytest

@pytest.fixture
def boiling():
    print("the kettle was started")

@pytest.mark.kettle
def test_tea(boiling):
    pass

def test_water():
    pass
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "test_kitchen.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    return tmp_path


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_the_tool_a_test_is_skipped_and_named(kitchen: Path) -> None:
    done = run(kitchen)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
    assert "test_kitchen.py::test_tea: not here: a kettle; buy one" in done.stdout


def test_in_ci_a_missing_tool_is_a_failure(kitchen: Path) -> None:
    done = run(kitchen, CI="true")
    assert done.returncode == 1
    assert "not here: a kettle; buy one" in done.stdout
    assert "the kettle was started" not in done.stdout


def test_with_the_tool_everything_runs(kitchen: Path) -> None:
    (kitchen / "kettle").touch()
    done = run(kitchen, CI="true")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    assert "not run" not in done.stdout
