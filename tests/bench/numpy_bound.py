"""The physical bound: mask and top five in numpy, one thread; `python -m tests.bench.numpy_bound file.npz`.

A process of its own, because the number of threads is settled when numpy is loaded.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.bench.figures import Latency, latency, nearest

if TYPE_CHECKING:  # the process has no use for them
    from tests.bench.statements import Asked
    from tests.bench.tenant import Searchable

_REPEATS = 300
_WARM = 20
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


def measure(organization: "Searchable", selections: Sequence[str], asked: "Asked") -> Mapping[str, Latency]:
    """Milliseconds of a brute-force search of all the organization's passages, of which each selection allows some."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        allowed = np.stack([organization.allowed(each) for each in selections])
        np.savez(file, vectors=organization.vectors, allowed=allowed, questions=asked.centred(organization))
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.numpy_bound", str(file)],
            env=os.environ | _ONE_THREAD,
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
        )
    found: list[Latency] = json.loads(done.stdout)
    return dict(zip(selections, found, strict=True))


def main(file: str) -> None:
    with np.load(file) as kept:
        vectors, masks, questions = kept["vectors"], kept["allowed"], kept["questions"]
    found = []
    for allowed in masks:
        samples = []
        for turn in range(_REPEATS + _WARM):
            started = time.perf_counter()
            nearest(vectors, allowed, questions[turn % len(questions)])
            samples.append((time.perf_counter() - started) * 1000)
        found.append(latency(samples[_WARM:]))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
