"""Logistic regression that is pulled towards what is known of the model already."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from retrieval_sidecar.search.relevance import Calibration, Evidence, Surroundings

Floats = NDArray[np.float64]

# How far a coefficient may be expected to be from the model's own, as one standard deviation of a normal prior: some
# dozen questions move what they speak of, and nothing else.
PRIOR_SPREAD = {
    "intercept": 1.0,
    "meaning": 3.0,
    "nearest": 3.0,
    "neighbours": 4.0,
    "words": 1.0,
    "code": 1.0,
    "foreign": 0.5,
}
_MAY_BE_NEGATIVE = {"intercept", "foreign"}
# A coefficient moves only where so many questions of either kind have something to say about it.
_LEAST_SPEAKING = 5
# A code and little else: measured on callers' questions for errors and articles by their codes.
_NAMES_A_CODE = Evidence(0.35, 0.15, code=True, surroundings=Surroundings(0.35, 0.33))
_STEPS = 100
_CLOSE = 1e-9


def fit(
    evidence: Sequence[Evidence],
    answerable: Sequence[bool],
    prior: Calibration,
    *,
    held: Collection[str] = (),
    strength: float = 1.0,
) -> Calibration:
    """The most likely calibration, given the prior and the best evidence of each question.

    Both kinds of question weigh the same, as many as the rarer one has: the share of unanswerable questions among
    those given is not the share among callers.

    Args:
        evidence: of the right passage for an answerable question, of the best one for another; none degraded.
        held: coefficients that stay as they are.
        strength: of the prior; 0 is plain logistic regression.
    """
    rows, is_good = features(evidence), np.asarray(answerable, bool)
    free = _free(rows, is_good) | dict.fromkeys(held, False)
    if not any(free.values()):
        return prior
    weights = _balanced(is_good)
    while True:
        fitted = _newton(rows, is_good, weights, prior, [name for name, is_free in free.items() if is_free], strength)
        negative = [name for name, value in fitted.items() if value < 0 and name not in _MAY_BE_NEGATIVE]
        if not negative:
            return replace(prior, **fitted)
        # More evidence must not count as less: without those, the others are fitted again.
        prior = replace(prior, **dict.fromkeys(negative, 0.0))
        free |= dict.fromkeys(negative, False)


def features(evidence: Sequence[Evidence]) -> dict[str, Floats]:
    """Columns by the name of their coefficient. Raises ValueError for evidence of a degraded search."""
    if any(each.meaning is None for each in evidence):
        raise ValueError("without a meaning there is nothing to calibrate")
    columns = {
        "intercept": [1.0 for _ in evidence],
        "meaning": [each.meaning for each in evidence],
        "nearest": [each.surroundings.nearest for each in evidence],
        "neighbours": [each.surroundings.neighbours for each in evidence],
        "words": [each.words for each in evidence],
        "code": [float(each.code) for each in evidence],
        "foreign": [float(each.is_foreign) for each in evidence],
    }
    return {name: np.asarray(values, np.float64) for name, values in columns.items()}


def log_odds(evidence: Sequence[Evidence], calibration: Calibration) -> Floats:
    """Of each passage being an answer."""
    return np.asarray([calibration.log_odds(each) for each in evidence], np.float64)


def at_operating_point(
    calibration: Calibration, evidence: Sequence[Evidence], answerable: Sequence[bool], *, lost: float
) -> Calibration:
    """The same coefficients, moved so that at most a share `lost` of the answerable questions is refused.

    Where fewer are lost half-way between the two kinds already, that is where it stays.
    """
    odds = log_odds(evidence, calibration)[np.asarray(answerable, bool)]
    # The value below which at most that share lies.
    threshold = float(np.quantile(odds, lost, method="lower"))
    return calibration if threshold >= 0 else replace(calibration, intercept=calibration.intercept - threshold + _CLOSE)


def with_codes_of(default: Calibration, fitted: Calibration) -> Calibration:
    """The same, but a passage that holds a code which the question names is as likely an answer as it was by default.

    What is made of a corpus names no codes, and moves the intercept for questions that name none: of a corpus whose
    passages are all alike so far that "what is error E-6301" was refused though one passage says it.
    """
    lost = default.log_odds(_NAMES_A_CODE) - fitted.log_odds(_NAMES_A_CODE)
    return replace(fitted, code=fitted.code + max(0.0, lost))


def _free(rows: dict[str, Floats], is_good: NDArray[np.bool_]) -> dict[str, bool]:
    """Which coefficients the questions speak of: others would follow accidents."""
    free = {}
    for name, values in rows.items():
        speaking = [int(np.count_nonzero(values[kind])) for kind in (is_good, ~is_good)]
        # A word, a code, a language: one kind of question alone says what it is worth only with the other's silence.
        free[name] = min(speaking) >= _LEAST_SPEAKING if name in {"foreign", "code"} else max(speaking) > 0
    return free


def _balanced(is_good: NDArray[np.bool_]) -> Floats:
    good, bad = int(is_good.sum()), int((~is_good).sum())
    rarer = min(good, bad)
    return np.where(is_good, rarer / max(good, 1), rarer / max(bad, 1))


def _newton(
    rows: dict[str, Floats],
    is_good: NDArray[np.bool_],
    weights: Floats,
    prior: Calibration,
    free: Sequence[str],
    strength: float,
) -> dict[str, float]:
    matrix = np.stack([rows[name] for name in free], axis=1)
    held = [name for name in rows if name not in free]
    offset = np.zeros(len(is_good)) + sum(getattr(prior, name) * rows[name] for name in held)
    start = np.asarray([getattr(prior, name) for name in free], np.float64)
    pull = strength * np.asarray([PRIOR_SPREAD[name] ** -2.0 for name in free]) + 1e-9

    def loss(beta: Floats) -> float:
        odds = matrix @ beta + offset
        return float(weights @ (np.logaddexp(0.0, odds) - is_good * odds) + 0.5 * pull @ np.square(beta - start))

    beta, reached = start, loss(start)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(matrix @ beta + offset, -500, 500)))
        gradient = matrix.T @ (weights * (chance - is_good)) + pull * (beta - start)
        curvature = (matrix * (weights * chance * (1 - chance))[:, None]).T @ matrix + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        # Halved until it helps: far from the optimum a whole step may overshoot.
        size = 1.0
        while loss(beta - size * step) > reached and size > 1e-6:
            size /= 2
        beta, before = beta - size * step, reached
        reached = loss(beta)
        if before - reached < _CLOSE:
            break
    return dict(zip(free, map(float, beta), strict=True))
