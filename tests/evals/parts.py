"""What the benches run on: a database with an organization in it, and the sidecar as a process of its own."""

import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from demo.processes import answers, running
from retrieval_sidecar.calibration.run import calibrate
from retrieval_sidecar.embeddings import Embedder, Embedders
from tests.support.database import TestDatabase
from tests.support.sidecar import connected, load, token_for

_PATIENCE_S: Final = 120.0  # a machine that is busy with other things starts processes slowly


@dataclass(frozen=True, slots=True)
class Knowledge:
    """An organization in a database.

    Attributes:
        names: external ids by the ids that the wire has; of instructions their titles.
    """

    database: TestDatabase
    organization_id: UUID
    names: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A sidecar process that is ready, and a token for its calls."""

    url: str
    token: str = field(repr=False)
    pid: int = 0


async def loaded(
    database: TestDatabase,
    organization: dict[str, Any],
    items: Sequence[dict[str, Any]],
    embedder: Embedder | Embedders,
    *,
    calibrated: bool = True,
) -> Knowledge:
    """Load an organization through the product's own loading, and calibrate it by its corpus as an operator would."""
    organization_id = UUID(organization["organization"]["id"])
    with tempfile.TemporaryDirectory() as folder:
        await load(database, Path(folder), organization, list(items), embedder)
    if calibrated:
        async with connected(database, "manage") as connection:
            await calibrate(connection, embedder, organization_id)
    async with connected(database, "owner") as connection:
        rows = await connection.execute(
            "select item_id, external_id from knowledge_item where organization_id = %(id)s"
            " union all select instruction_id, title from instruction where organization_id = %(id)s",
            {"id": organization_id},
        )
        names = {str(id_): name for id_, name in await rows.fetchall()}
    return Knowledge(database, organization_id, names)


@asynccontextmanager
async def sidecar_process(
    database: TestDatabase,
    organization_id: UUID,
    log: Path,
    *,
    port: int | None = None,
    token: str | None = None,
    module: str = "retrieval_sidecar",
    **variables: str,
) -> AsyncIterator[Sidecar]:
    """A sidecar process as in production, ready.

    Args:
        port: the same as before, for one that comes back; else a free one.
        token: for its calls; by default a new one.
        module: what is run by the interpreter, with `serve`.
        variables: of its environment, without their prefix: embedder="local".

    Raises:
        DemoError: it did not come up; the log says why.
    """
    port = port or free_port()
    url = f"http://127.0.0.1:{port}"
    environment = database.environment | {"ANSWERLINE_VOICE_PORT": str(port)}
    environment |= {f"ANSWERLINE_{name.upper()}": value for name, value in variables.items()}
    token = token or await token_for(database, organization_id)
    async with running(
        "the retrieval sidecar",
        [sys.executable, "-m", module, "serve"],
        log=log,
        environment=environment,
        is_ready=partial(answers, f"{url}/readyz"),
        patience_s=_PATIENCE_S,
    ) as process:
        yield Sidecar(url, token, process.pid)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
