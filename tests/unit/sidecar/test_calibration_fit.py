"""The fit finds what made the data, and stays where it was where data are few or say nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_sidecar.calibration.fit import at_operating_point, features, fit, log_odds, with_codes_of
from retrieval_sidecar.search.relevance import Calibration, Evidence, Surroundings, calibration_of

DEFAULT = calibration_of(None)


def drawn(truth: Calibration, count: int, *, seed: int = 1) -> tuple[list[Evidence], list[bool]]:
    """Questions of random evidence, answerable with the probability that `truth` gives."""
    chance = np.random.default_rng(seed)
    evidence = []
    for meaning, nearer, far, words, code, foreign in chance.random((count, 6)):
        nearest = min(1.0, meaning + 0.2 * nearer)
        around = Surroundings(float(nearest), float(nearest * far))
        evidence.append(Evidence(float(meaning), float(words), bool(code > 0.7), bool(foreign > 0.6), around))
    odds = log_odds(evidence, truth)
    return evidence, list(map(bool, chance.random(count) < 1 / (1 + np.exp(-odds))))


def test_it_recovers_the_coefficients_that_made_the_data() -> None:
    truth = Calibration(intercept=-6.0, meaning=5.0, words=1.5, code=1.0, foreign=-0.5, nearest=3.0, neighbours=2.0)
    evidence, answerable = drawn(truth, 60_000)
    fitted = fit(evidence, answerable, DEFAULT, strength=0.0)
    for name in ("meaning", "words", "code", "foreign", "nearest", "neighbours"):
        assert getattr(fitted, name) == pytest.approx(getattr(truth, name), abs=0.35), name
    # Both kinds of question weigh the same in the fit, so the intercept is that of an even share.
    share = np.mean(answerable)
    assert fitted.intercept == pytest.approx(truth.intercept - np.log(share / (1 - share)), abs=0.3)


def test_few_questions_move_it_little_and_many_more() -> None:
    truth = Calibration(intercept=-9.0, meaning=20.0, words=1.0, code=1.0, foreign=0.0)

    def distance(count: int) -> float:
        fitted = fit(*drawn(truth, count), DEFAULT)
        return abs(fitted.intercept - DEFAULT.intercept)

    assert distance(12) < 1.0 < distance(2000)


def test_a_strong_prior_is_what_remains() -> None:
    fitted = fit(*drawn(replace(DEFAULT, intercept=0.0), 500), DEFAULT, strength=1e9)
    for name in ("intercept", "meaning", "words"):
        assert getattr(fitted, name) == pytest.approx(getattr(DEFAULT, name), abs=1e-3)


def test_what_the_questions_do_not_speak_of_stays() -> None:
    evidence = [Evidence(0.8, 0.5), Evidence(0.1, 0.0)] * 50
    fitted = fit(evidence, [True, False] * 50, DEFAULT)
    assert (fitted.foreign, fitted.code) == (DEFAULT.foreign, DEFAULT.code)
    assert (fitted.degraded_intercept, fitted.degraded_words) == (DEFAULT.degraded_intercept, DEFAULT.degraded_words)


def test_what_is_held_stays() -> None:
    fitted = fit(*drawn(replace(DEFAULT, code=0.0, foreign=0.0), 2000), DEFAULT, held=("code", "foreign"))
    assert (fitted.foreign, fitted.code) == (DEFAULT.foreign, DEFAULT.code)


def test_words_that_speak_against_an_answer_count_nothing_rather_than_less() -> None:
    evidence = [Evidence(0.6, 0.0), Evidence(0.4, 1.0)] * 400
    fitted = fit(evidence, [True, False] * 400, DEFAULT)
    assert fitted.words == 0.0
    assert fitted.meaning > 0


@pytest.mark.parametrize(
    ("evidence", "answerable"),
    [
        ([], []),
        ([Evidence(0.5, 0.5)], [True]),
        ([Evidence(0.5, 0.5)] * 40, [True] * 40),
        ([Evidence(0.5, 0.5)] * 40, [True, False] * 20),
        ([Evidence(0.0, 0.0)] * 40, [True, False] * 20),
        ([Evidence(1.0, 1.0), Evidence(-1.0, 0.0)] * 20, [True, False] * 20),
    ],
    ids=["nothing", "one", "one kind", "all alike", "all zero", "perfectly apart"],
)
def test_it_holds_on_what_is_no_sample(evidence: list[Evidence], answerable: list[bool]) -> None:
    fitted = fit(evidence, answerable, DEFAULT)
    assert all(np.isfinite(value) for value in (fitted.intercept, fitted.meaning, fitted.words))
    assert min(fitted.meaning, fitted.words, fitted.code, fitted.nearest, fitted.neighbours) >= 0


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0, 1), st.booleans(), st.booleans(), st.booleans()),
        min_size=2,
        max_size=60,
    )
)
def test_whatever_it_is_given_more_evidence_counts_for_more(
    rows: list[tuple[float, float, bool, bool, bool]],
) -> None:
    evidence = [
        Evidence(meaning, words, code, foreign, Surroundings(meaning, meaning))
        for meaning, words, code, foreign, _ in rows
    ]
    fitted = fit(evidence, [row[-1] for row in rows], DEFAULT)
    values = (fitted.intercept, fitted.meaning, fitted.words, fitted.code, fitted.foreign, fitted.nearest)
    assert all(np.isfinite(value) for value in values)
    assert min(fitted.meaning, fitted.words, fitted.code, fitted.nearest, fitted.neighbours) >= 0


def test_without_a_meaning_there_is_nothing_to_fit() -> None:
    with pytest.raises(ValueError, match="meaning"):
        features([Evidence(None, 1.0)])


@pytest.mark.parametrize("lost", [0.01, 0.05, 0.2])
def test_the_operating_point_loses_at_most_the_share_that_it_may(lost: float) -> None:
    evidence, answerable = drawn(Calibration(intercept=-3.0, meaning=4.0, words=1.0, code=0.0, foreign=0.0), 1000)
    strict = replace(DEFAULT, intercept=-30.0)
    moved = at_operating_point(strict, evidence, answerable, lost=lost)
    odds = log_odds(evidence, moved)[np.asarray(answerable)]
    assert lost - 0.01 <= (odds < 0).mean() <= lost


def test_an_operating_point_that_loses_less_already_stays() -> None:
    evidence, answerable = [Evidence(0.9, 1.0), Evidence(0.0, 0.0)] * 20, [True, False] * 20
    assert at_operating_point(DEFAULT, evidence, answerable, lost=0.05) == DEFAULT


def test_a_code_that_is_named_counts_as_before_where_a_corpus_is_all_alike() -> None:
    strict = replace(DEFAULT, intercept=DEFAULT.intercept - 4.0)
    named = Evidence(0.4, 0.2, code=True, surroundings=Surroundings(0.4, 0.4))
    assert strict.relevance(named) < 0.5 <= DEFAULT.relevance(named)
    fitted = with_codes_of(DEFAULT, strict)
    assert fitted.log_odds(named) == pytest.approx(DEFAULT.log_odds(named))
    assert fitted.log_odds(replace(named, code=False)) == strict.log_odds(replace(named, code=False))


def test_a_code_never_counts_for_less_than_by_default() -> None:
    lax = replace(DEFAULT, intercept=DEFAULT.intercept + 4.0)
    assert with_codes_of(DEFAULT, lax) == lax
