"""What `retrieval-sidecar self-test` tries: each part that a search leans on, by itself."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from contracts import pins
from retrieval_sidecar import migrations
from retrieval_sidecar.database import Connection
from retrieval_sidecar.embeddings import Embedders
from retrieval_sidecar.sql import load as load_sql

_SQL = load_sql("retrieval_sidecar", "self_test.sql")
_MIN_POSTGRES = 150000
_MIN_PGVECTOR = (0, 8)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing tried.

    Attributes:
        found: what there is.
        hint: what to do where that is not enough.
    """

    name: str
    ok: bool
    found: str
    hint: str


async def run_checks(connection: Connection, embedders: Embedders) -> AsyncIterator[Check]:
    """Try everything in turn, on a connection of the voice role; changes nothing."""
    pin = pins.voice()
    yield Check("contract", ok=True, found=f"voice {pin.version} {pin.sha256[:12]}", hint="")

    number, version = await _row(connection, "postgres")
    yield Check("PostgreSQL", number >= _MIN_POSTGRES, version, "15 or later is needed.")

    (extension,) = await _row(connection, "pgvector") or (None,)
    new_enough = extension is not None and tuple(map(int, extension.split(".")[:2])) >= _MIN_PGVECTOR
    yield Check("pgvector", new_enough, extension or "none", "0.8 or later: create extension vector.")

    (revision,) = await _row(connection, "revision") or ("none",)
    needed = f"{migrations.head()} is needed: retrieval-sidecar migrate"
    yield Check("schema", migrations.suits(revision), revision, needed)

    (editable,) = await _row(connection, "may_edit")
    yield Check(
        "voice role",
        editable is None,
        f"may change {editable}" if editable else "reads only",
        "Connect as answerline_voice: set ANSWERLINE_VOICE_DATABASE_URL.",
    )

    cursor = await connection.execute(_SQL["active_models"])
    active: dict[str | None, int] = dict(await cursor.fetchall())
    missing = [model for model in active if model is not None and embedders.get(model) is None]
    yield Check(
        "embedding models",
        not missing,
        ", ".join(f"{count} organizations by {model or 'none yet'}" for model, count in active.items())
        or "none in use",
        f"Those by {', '.join(missing)} are searched by words alone: set ANSWERLINE_EMBEDDER… or"
        " ANSWERLINE_PREVIOUS_EMBEDDER… to it, or call retrieval-sidecar reembed --all.",
    )

    await embedders.start()
    for embedder in embedders:
        rows = await embedder.embed_queries(["opening hours", "when are you open", "tax on timber"])
        near, far = float(rows[0] @ rows[1]), float(rows[0] @ rows[2])
        yield Check(
            f"embedder {embedder.model}",
            embedder.model == "fake-words" or near > far,
            f"{rows.shape[1]} dimensions, {near:.3f} against {far:.3f}",
            "Like texts are not nearer than unlike ones: the model is not an embedding model.",
        )


async def _row(connection: Connection, name: str) -> Any:
    cursor = await connection.execute(_SQL[name])
    return await cursor.fetchone()
