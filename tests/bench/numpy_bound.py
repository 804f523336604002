"""The physical bound: mask and top five in numpy, one thread; `python -m tests.bench.numpy_bound file.npz`.

A process of its own, because the number of threads is settled when numpy is loaded.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.bench.figures import Latency, latency, nearest
from tests.bench.statements import Asked
from tests.bench.tenant import Searchable

_REPEATS = 300
_WARM = 20
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


def measure(organization: Searchable, selection: str, asked: Asked) -> Latency:
    """Milliseconds of a brute-force search of all the organization's passages, of which some are allowed."""
    questions = np.stack(
        [
            organization.centred(vector, question.language)
            for question, vector in zip(asked.questions, asked.vectors, strict=True)
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, vectors=organization.vectors, allowed=organization.allowed(selection), questions=questions)
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.numpy_bound", str(file)],
            env=os.environ | _ONE_THREAD,
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
        )
    found: Latency = json.loads(done.stdout)
    return found


def main(file: str) -> None:
    with np.load(file) as kept:
        vectors, allowed, questions = kept["vectors"], kept["allowed"], kept["questions"]
    samples = []
    for turn in range(_REPEATS + _WARM):
        started = time.perf_counter()
        nearest(vectors, allowed, questions[turn % len(questions)])
        samples.append((time.perf_counter() - started) * 1000)
    sys.stdout.write(json.dumps(latency(samples[_WARM:])))


if __name__ == "__main__":
    main(sys.argv[1])
