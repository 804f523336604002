"""Has the other stores measured, and judges what they found as ours is judged."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from retrieval_sidecar.embeddings.base import unit_rows
from tests.bench.database import Database
from tests.bench.figures import K, latency, ratio
from tests.bench.plan import Plan
from tests.bench.statements import Asked, Series
from tests.bench.tenant import ALL, SELECTIONS
from tests.support.database import TestDatabase

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".cache" / "peers" / "bin" / "python"
PEERS = ("langchain-postgres", "llama-index-vector-stores-postgres", "chromadb", "lancedb")
_PATIENCE_S = 900


def measure(
    plan: Plan, database: Database, asked: Asked, ours: dict[str, Series], folder: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of each store, or why there are none.

    Args:
        ours: the statement's, by vectors alone, one client, by selection, on the same rows.
        folder: keeps what the stores keep.
    """
    if not PYTHON.exists():
        return {name: {"skipped": "not installed: make peers"} for name in PEERS}
    folder = folder / "peers"
    _write(plan, database, asked, folder)
    test = TestDatabase(database.test.server, "bench_peers")
    test.server.create_database(test.name)
    with database.superuser() as connection:
        # For their indexes, which are built in memory where it suffices.
        connection.execute(
            sql.SQL("alter database {} set maintenance_work_mem = '1GB'").format(sql.Identifier(test.name))
        )
    found = {}
    for name in PEERS:
        say(f"Measuring {name} (loads {database.passages:,} rows the first time)")
        found[name] = _figures(_run(name, folder, test.url("owner")), database, asked, ours)
    return found


def _write(plan: Plan, database: Database, asked: Asked, folder: Path) -> None:
    """The stored vectors with their texts, and the questions: what every store is given."""
    folder.mkdir(exist_ok=True)
    organization = database.under_test
    questions = asked.centred(organization)
    series = [{"selection": each, "items": _items(database, each)} for each in SELECTIONS]
    (folder / "questions.json").write_text(
        json.dumps({"tenant": organization.number, "searches": plan.peer_searches, "series": series}), encoding="utf-8"
    )
    with database.superuser() as connection:
        register_vector(connection)
        rows = connection.execute(
            """
            select p.passage_id, v.embedding, p.content, v.space_id as tenant, v.owner_key, v.servable::integer
            from passage p
            join passage_vector v on v.organization_id = p.organization_id and v.passage_id = p.passage_id
            order by p.passage_id
            """,
            binary=True,
        ).fetchall()
    ids, embeddings, texts, tenants, items, told = zip(*rows, strict=True)
    vectors = np.stack([HalfVector.to_numpy(each) for each in embeddings]).astype(np.float32)
    np.savez(folder / "rows.npz", ids=np.array(ids), vectors=unit_rows(vectors), questions=questions)
    metadata = [
        {"tenant": tenant, "item": item, "told": flag} for tenant, item, flag in zip(tenants, items, told, strict=True)
    ]
    (folder / "rows.json").write_text(json.dumps({"texts": texts, "metadata": metadata}), encoding="utf-8")


def _items(database: Database, selection: str) -> Sequence[int] | None:
    if selection == ALL:
        return None
    organization = database.under_test
    places = set(organization.places[organization.allowed(selection)].tolist())
    return sorted(organization.items[place].number for place in places)


def _run(name: str, folder: Path, url: str) -> dict[str, Any]:
    argv = [str(PYTHON), str(Path(__file__).with_name("run.py")), name, str(folder), url]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=_PATIENCE_S, cwd=folder)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        return {"skipped": f"failed: {said[-1] if said else f'status {error.returncode}'}"}
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done within {_PATIENCE_S} s"}
    return found


def _figures(found: dict[str, Any], database: Database, asked: Asked, ours: dict[str, Series]) -> dict[str, Any]:
    if "skipped" in found:
        return found
    series = {}
    for selection, measured in found["series"].items():
        truth = asked.truth(database.under_test, selection)
        recalls = [truth.recall(turn % len(asked.questions), ids[:K]) for turn, ids in enumerate(measured["found"])]
        milliseconds = latency(measured["samples"])
        series[selection] = {
            "milliseconds": milliseconds,
            "recall": round(float(np.mean(recalls)), 4),
            "times_ours": ratio(milliseconds["p50"], ours[selection].milliseconds["p50"]),
        }
    return {"version": found["version"], "load_s": found["load_s"], "series": series}
