"""The generated organization in a database: loaded once, kept between runs, copied for each."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path

from rich.console import Console

from retrieval_sidecar import migrations
from retrieval_sidecar.embeddings import Embedder
from retrieval_sidecar.local_database import local_server
from tests.bench.organization import TitleEmbedder, items, organization
from tests.support.database import TestDatabase, clone
from tests.support.sidecar import load

ROOT = Path(__file__).parents[2]
_TEMPLATE = "bench"


@asynccontextmanager
async def bench_database(embedder: Embedder, console: Console) -> AsyncIterator[TestDatabase]:
    """A database with the generated organization, embedded by this embedder, which must be started."""
    folder = ROOT / ".cache" / "bench" / _fingerprint(embedder.model)
    loaded = folder / "loaded"
    with local_server(folder / "data") as server:
        if not loaded.exists():
            console.print("Loading the organization: some minutes, this once ...")
            template = TestDatabase(server, _TEMPLATE)
            server.drop_database(_TEMPLATE)
            server.create_database(_TEMPLATE)
            migrations.upgrade(template.url("owner"))
            with tempfile.TemporaryDirectory() as files:
                await load(template, Path(files), organization(), items(), TitleEmbedder(embedder))
            loaded.touch()
        with clone(server, _TEMPLATE) as database:
            yield database


def _fingerprint(model: str) -> str:
    """Of what decides the content of the database: another one is made where any of it has changed."""
    sources = [*sorted(Path(migrations.__file__).parent.rglob("*.sql")), Path(__file__).with_name("organization.py")]
    content = b"".join(path.read_bytes() for path in sources)
    return blake2b(content + model.encode(), digest_size=6).hexdigest()
