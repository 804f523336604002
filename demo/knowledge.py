"""The demo's database: embedded PostgreSQL, the schema, the sample organization, a voice token."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import yaml

from demo.processes import DemoError
from demo.scenario import SAMPLE
from retrieval_sidecar.local_database import OWNER, local_server

DATABASE = "answerline"


@contextmanager
def knowledge(data_dir: Path) -> Iterator[dict[str, str]]:
    """Start the database and load the sample into it; yields the sidecar's and the worker's environment.

    The second time nothing is embedded again: vectors are kept by the text they are of.
    """
    with local_server(data_dir) as server:
        server.create_database(DATABASE)
        environment = {
            "DATABASE_URL": server.url(OWNER, DATABASE),
            "ANSWERLINE_VOICE_DATABASE_URL": server.url("answerline_voice", DATABASE),
            "ANSWERLINE_MANAGE_DATABASE_URL": server.url("answerline_manage", DATABASE),
            "ANSWERLINE_EMBEDDER": "local",
        }
        sidecar("migrate", environment=environment)
        sidecar("load", str(SAMPLE / "organization.yaml"), str(SAMPLE / "items.jsonl"), environment=environment)
        token = sidecar(
            "token", "create", "demo", "--organization", str(organization_id()), environment=environment, capture=True
        )
        yield environment | {"ANSWERLINE_SIDECAR_TOKEN": token.strip()}


def organization_id() -> UUID:
    """The sample's."""
    document = yaml.safe_load((SAMPLE / "organization.yaml").read_text(encoding="utf-8"))
    return UUID(document["organization"]["id"])


def sidecar(*arguments: str, environment: Mapping[str, str], capture: bool = False) -> str:
    """Run a command of the sidecar as a user would; its output, where that is captured.

    Raises DemoError where it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "retrieval_sidecar", *arguments],
        env=os.environ | dict(environment),
        stdout=subprocess.PIPE if capture else None,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise DemoError(f"retrieval-sidecar {arguments[0]} failed with status {done.returncode}")
    return done.stdout or ""
