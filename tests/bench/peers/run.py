"""Measures one store, in an environment of its own: `python run.py <store> <folder> <database URL>`.

Reads `rows.npz`, `rows.json` and `questions.json` of the folder; writes the figures to standard output as JSON.
"""

import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from stores import STORES, Rows, Wanted

_WARM = 5


def main(name: str, folder: Path, url: str) -> None:
    asked = json.loads((folder / "questions.json").read_text("utf-8"))
    with np.load(folder / "rows.npz") as kept:
        ids, vectors, questions = kept["ids"], kept["vectors"], kept["questions"]
    own = folder / name
    own.mkdir(exist_ok=True)
    store = STORES[name](url, own, vectors.shape[1])
    loaded = own / "loaded"
    if not loaded.exists():
        kept_rows = json.loads((folder / "rows.json").read_text("utf-8"))
        started = time.perf_counter()
        store.load(Rows(ids.tolist(), vectors, kept_rows["texts"], kept_rows["metadata"]))
        loaded.write_text(f"{time.perf_counter() - started:.0f}", encoding="utf-8")
    store.open()
    found = {
        series["selection"]: _measure(store, questions, Wanted(asked["tenant"], series["items"]), asked["searches"])
        for series in asked["series"]
    }
    json.dump({"version": version(name), "load_s": int(loaded.read_text("utf-8")), "series": found}, sys.stdout)


def _measure(store: Any, questions: Sequence[Any], wanted: Wanted, searches: int) -> dict[str, Any]:
    for turn in range(_WARM):
        store.search(questions[turn % len(questions)], wanted)
    samples, found = [], []
    for turn in range(searches):
        started = time.perf_counter()
        found.append(store.search(questions[turn % len(questions)], wanted))
        samples.append((time.perf_counter() - started) * 1000)
    return {"samples": samples, "found": found}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
