"""From evidence to relevance: how sure we are, from 0 to 1, that a passage answers the question.

Raw cosines mean nothing by themselves (e5 lives between 0.7 and 1.0), so each embedding model has a calibration, and
`retrieval-sidecar calibrate` refines it for a corpus.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

# A passage is given when its relevance is at least this…
GIVEN = 0.5
# …or at least this, when it is also the best match by words.
GIVEN_BY_WORDS = 0.35
# How many of the nearest passages tell whether a question is about what is stored at all.
NEIGHBOURS = 5
_LONGEST_LOG_ODDS = 30.0  # beyond it 0 and 1 are reached in floating point, and they are no probabilities


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the question's other passages say about each of them.

    Attributes:
        nearest: the greatest centred cosine of any passage.
        neighbours: the mean of the five greatest, of all where there are fewer.
    """

    nearest: float = 0.0
    neighbours: float = 0.0

    @classmethod
    def of(cls, meanings: Iterable[float | None]) -> Self:
        """From the cosines of a question's candidates, in any order; those of a degraded search are None."""
        greatest = sorted((each for each in meanings if each is not None), reverse=True)[:NEIGHBOURS]
        return cls(greatest[0], math.fsum(greatest) / len(greatest)) if greatest else cls()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the search knows of a passage.

    Attributes:
        meaning: centred cosine with the question, -1..1; None in a degraded search.
        words: the share of the question's words that it holds, 0..1.
        code: whether it holds a code that the question names.
        is_foreign: whether it is in another language than the question: its cosines are lower throughout.
    """

    meaning: float | None
    words: float
    code: bool = False
    is_foreign: bool = False
    surroundings: Surroundings = Surroundings()


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic regression over the evidence.

    Attributes:
        intercept: log-odds of a passage that is nothing like the question.
        meaning: log-odds per unit of centred cosine.
        words: log-odds of holding every word of the question, against none.
        code: log-odds of holding a code that the question names.
        foreign: log-odds of being in another language than the question.
        nearest, neighbours: log-odds per unit of the cosine of the nearest passage, and of the mean of five.
        degraded_intercept, degraded_words: the same without a vector, where words must carry the decision.
    """

    intercept: float
    meaning: float
    words: float
    code: float
    foreign: float
    nearest: float = 0.0
    neighbours: float = 0.0
    degraded_intercept: float = -2.5
    degraded_words: float = 4.5

    def log_odds(self, evidence: Evidence) -> float:
        """Of the passage being an answer; 0 is as likely as not."""
        if evidence.meaning is None:
            log_odds = self.degraded_intercept + self.degraded_words * evidence.words
        else:
            log_odds = (
                self.intercept
                + self.meaning * evidence.meaning
                + self.nearest * evidence.surroundings.nearest
                + self.neighbours * evidence.surroundings.neighbours
                + self.words * evidence.words
                + self.foreign * float(evidence.is_foreign)
            )
        return log_odds + self.code * float(evidence.code)

    def relevance(self, evidence: Evidence) -> float:
        """Probability, between 0 and 1, that the passage answers the question."""
        bounded = max(-_LONGEST_LOG_ODDS, min(_LONGEST_LOG_ODDS, self.log_odds(evidence)))
        return 1 / (1 + math.exp(-bounded))

    def is_sound(self) -> bool:
        """Whether it can be trusted with the gate.

        More evidence never counts as less, what is nothing like the question is never given, and what says the same
        always is.
        """
        growing = (self.meaning, self.words, self.code, self.nearest, self.neighbours)
        if not all(map(math.isfinite, (self.intercept, self.foreign, *growing))) or min(growing) < 0:
            return False
        nothing_like_it = (self.relevance(Evidence(0.0, 0.0, is_foreign=foreign)) for foreign in (False, True))
        itself = (
            self.relevance(Evidence(1.0, 1.0 - foreign, is_foreign=bool(foreign), surroundings=Surroundings(1.0, 0.0)))
            for foreign in (0.0, 1.0)
        )
        return max(nothing_like_it) < GIVEN_BY_WORDS and min(itself) >= GIVEN


# Half-way at a cosine of about .36, of .28 in another language, no word shared: measured on XQuAD, KazQAD and the
# demo's questions against questions of other sets (docs/search.md). That some passage is near says that there is an
# answer; which one it is, each passage's own cosine must say too.
_DEFAULT = Calibration(intercept=-6.9, meaning=10.0, words=4.0, code=2.0, foreign=1.6, nearest=7.0, neighbours=3.0)
_BY_MODEL = {
    "multilingual-e5-small-q4": _DEFAULT,
    # Cosine is word overlap here, so it needs no second vote for words.
    "fake-words": Calibration(intercept=-3.0, meaning=8.0, words=2.0, code=3.0, foreign=0.0),
}


def calibration_of(model: str | None) -> Calibration:
    """The calibration of a model; a cautious one for a model that was never measured."""
    return _BY_MODEL.get(model or "", _DEFAULT)
