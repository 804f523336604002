"""Relevance is a probability that grows with the evidence."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.search.relevance import (
    GIVEN,
    GIVEN_BY_WORDS,
    Calibration,
    Evidence,
    Surroundings,
    calibration_of,
)

MODELS = ["multilingual-e5-small-q4", "fake-words", "a model that nobody measured"]
COSINE = st.floats(-1, 1)
SHARE = st.floats(0, 1)
EVIDENCE = st.builds(
    Evidence,
    meaning=st.none() | COSINE,
    words=SHARE,
    code=st.booleans(),
    is_foreign=st.booleans(),
    surroundings=st.builds(Surroundings, nearest=COSINE, neighbours=COSINE),
)
WEIGHT = st.floats(0, 100)
CALIBRATIONS = st.builds(
    Calibration,
    intercept=st.floats(-100, 100),
    meaning=WEIGHT,
    words=WEIGHT,
    code=WEIGHT,
    foreign=st.floats(-5, 5),
    nearest=WEIGHT,
    neighbours=WEIGHT,
)


def greater(evidence: Evidence, cosine: float, share: float, *, code: bool) -> Evidence:
    around = evidence.surroundings
    return replace(
        evidence,
        meaning=None if evidence.meaning is None else min(1.0, evidence.meaning + cosine),
        words=min(1.0, evidence.words + share),
        code=evidence.code or code,
        surroundings=Surroundings(min(1.0, around.nearest + cosine), min(1.0, around.neighbours + cosine)),
    )


@given(CALIBRATIONS | st.sampled_from([calibration_of(model) for model in MODELS]), EVIDENCE)
def test_it_is_between_nothing_and_certainty(calibration: Calibration, evidence: Evidence) -> None:
    assert 0 < calibration.relevance(evidence) < 1


@given(
    calibration=CALIBRATIONS | st.sampled_from([calibration_of(model) for model in MODELS]),
    evidence=EVIDENCE,
    cosine=st.floats(0, 1),
    share=SHARE,
    code=st.booleans(),
)
def test_more_evidence_never_makes_it_less(
    calibration: Calibration, evidence: Evidence, cosine: float, share: float, *, code: bool
) -> None:
    more = greater(evidence, cosine, share, code=code)
    assert calibration.relevance(more) >= calibration.relevance(evidence)


@pytest.mark.parametrize("model", MODELS)
def test_a_passage_that_is_nothing_like_the_question_is_never_given(model: str) -> None:
    relevance = calibration_of(model).relevance
    assert relevance(Evidence(0.0, 0.0)) < GIVEN_BY_WORDS
    assert relevance(Evidence(None, 0.0)) < GIVEN_BY_WORDS


@pytest.mark.parametrize("model", MODELS)
def test_a_passage_that_holds_all_of_the_question_is_given_with_and_without_a_vector(model: str) -> None:
    relevance = calibration_of(model).relevance
    assert relevance(Evidence(0.8, 1.0, surroundings=Surroundings(0.8, 0.2))) >= GIVEN
    assert relevance(Evidence(None, 1.0)) >= GIVEN
    assert relevance(Evidence(None, 0.5, code=True)) >= GIVEN


@pytest.mark.parametrize("model", MODELS)
def test_each_models_own_calibration_is_sound(model: str) -> None:
    assert calibration_of(model).is_sound()


@pytest.mark.parametrize(
    "changes",
    [
        {"intercept": 0.0},
        {"intercept": -100.0},
        {"intercept": float("nan")},
        {"meaning": float("inf")},
        {"words": -0.1},
        {"neighbours": -1.0},
        {"foreign": 20.0},
        {"foreign": -20.0},
    ],
)
def test_one_that_opens_the_gate_or_shuts_it_or_counts_backwards_is_not_sound(changes: dict[str, float]) -> None:
    assert not replace(calibration_of(MODELS[0]), **changes).is_sound()


def test_a_model_that_was_never_measured_has_the_cautious_calibration() -> None:
    assert calibration_of("new-model") == calibration_of(None) == calibration_of("multilingual-e5-small-q4")


@given(st.lists(st.none() | COSINE, max_size=9), st.data())
def test_surroundings_are_the_nearest_and_the_mean_of_the_five_nearest(
    cosines: list[float | None], data: st.DataObject
) -> None:
    around = Surroundings.of(data.draw(st.permutations(cosines)))
    assert around == Surroundings.of(cosines)
    known = sorted(each for each in cosines if each is not None)[-5:]
    if known:
        assert around.nearest == known[-1]
        assert around.neighbours == pytest.approx(sum(known) / len(known))
    else:
        assert around == Surroundings()
