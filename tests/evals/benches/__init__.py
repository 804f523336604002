"""The benches, in the order in which they are run."""

from typing import Final

from tests.evals.bench import Bench
from tests.evals.benches import audio, help_centre, injection, leak, outage, real_questions

BENCHES: Final[tuple[Bench, ...]] = (
    help_centre.BENCH,
    real_questions.BENCH,
    leak.BENCH,
    injection.BENCH,
    outage.BENCH,
    audio.BENCH,
)
