"""From evidence to relevance: how sure we are, from 0 to 1, that a passage answers the question.

Raw cosines mean nothing by themselves (e5 lives between 0.7 and 1.0), so each embedding model has a calibration.
"""

import math
from dataclasses import dataclass

# A passage is given when its relevance is at least this…
GIVEN = 0.5
# …or at least this, when it is also the best match by words.
GIVEN_BY_WORDS = 0.35


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic regression over what the search knows of a passage.

    Attributes:
        intercept: log-odds of a passage that is nothing like the question.
        meaning: log-odds per unit of centred cosine.
        words: log-odds of holding every word of the question, against none.
        code: log-odds of holding a code that the question names.
        foreign: log-odds of being in another language than the question: its cosines are lower throughout.
        degraded_intercept, degraded_words: the same without a vector, where words must carry the decision.
    """

    intercept: float
    meaning: float
    words: float
    code: float
    foreign: float
    degraded_intercept: float = -2.5
    degraded_words: float = 4.5

    def relevance(self, meaning: float | None, words: float, *, code: bool, is_foreign: bool = False) -> float:
        """Probability, 0..1, from a centred cosine (-1..1) and what it and the question share.

        Args:
            meaning: None in a degraded search.
            words: the share of the question's words, 0..1.
        """
        if meaning is None:
            log_odds = self.degraded_intercept + self.degraded_words * words
        else:
            log_odds = self.intercept + self.meaning * meaning + self.words * words + self.foreign * float(is_foreign)
        log_odds += self.code * float(code)
        return 1 / (1 + math.exp(-log_odds))


# Half-way at a cosine of .36, of .29 in another language: measured on XQuAD, KazQAD, CLINC and the demo's questions.
_DEFAULT = Calibration(intercept=-5.04, meaning=14.0, words=3.0, code=2.0, foreign=0.98)
_BY_MODEL = {
    "multilingual-e5-small-q4": _DEFAULT,
    # Cosine is word overlap here, so it needs no second vote for words.
    "fake-words": Calibration(intercept=-3.0, meaning=8.0, words=2.0, code=3.0, foreign=0.0),
}


def calibration_of(model: str) -> Calibration:
    """The calibration of a model; a cautious one for a model that was never measured."""
    return _BY_MODEL.get(model, _DEFAULT)
