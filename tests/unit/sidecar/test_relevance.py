"""Relevance is a probability that grows with the evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.search.relevance import GIVEN, GIVEN_BY_WORDS, calibration_of

MODELS = ["multilingual-e5-small-q4", "fake-words", "a model that nobody measured"]
MEANING = st.none() | st.floats(-1, 1)
SHARE = st.floats(0, 1)


@pytest.mark.parametrize("model", MODELS)
@given(meaning=MEANING, words=SHARE, code=st.booleans())
def test_it_is_between_nothing_and_certainty(model: str, meaning: float | None, words: float, *, code: bool) -> None:
    assert 0 < calibration_of(model).relevance(meaning, words, code=code) < 1


@pytest.mark.parametrize("model", MODELS)
@given(one=st.tuples(st.floats(-1, 1), SHARE, st.booleans()), more=st.tuples(st.floats(0, 1), SHARE, st.booleans()))
def test_more_evidence_never_makes_it_less(
    model: str, one: tuple[float, float, bool], more: tuple[float, float, bool]
) -> None:
    relevance = calibration_of(model).relevance
    meaning, words, code = one
    greater = (min(1.0, meaning + more[0]), min(1.0, words + more[1]), code or more[2])
    assert relevance(greater[0], greater[1], code=greater[2]) >= relevance(meaning, words, code=code)
    assert relevance(None, greater[1], code=greater[2]) >= relevance(None, words, code=code)


@pytest.mark.parametrize("model", MODELS)
def test_a_passage_that_is_nothing_like_the_question_is_never_given(model: str) -> None:
    relevance = calibration_of(model).relevance
    assert relevance(0.0, 0.0, code=False) < GIVEN_BY_WORDS
    assert relevance(None, 0.0, code=False) < GIVEN_BY_WORDS


@pytest.mark.parametrize("model", MODELS)
def test_a_passage_that_holds_all_of_the_question_is_given_with_and_without_a_vector(model: str) -> None:
    relevance = calibration_of(model).relevance
    assert relevance(0.8, 1.0, code=False) >= GIVEN
    assert relevance(None, 1.0, code=False) >= GIVEN
    assert relevance(None, 0.5, code=True) >= GIVEN


def test_a_model_that_was_never_measured_has_the_cautious_calibration() -> None:
    assert calibration_of("new-model") == calibration_of("multilingual-e5-small-q4")
