"""The order of candidates."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.ranking import Candidate, rank
from retrieval_sidecar.search.relevance import Calibration
from retrieval_sidecar.search.selection import select
from tests.support.candidates import candidate

CALIBRATION = Calibration(intercept=-3.0, meaning=8.0, words=2.0, code=3.0, foreign=0.0)


def asked(language: str, **changes: Any) -> Question:
    """A question of five telling words, so that words count in full."""
    return replace(Question("", language, language, words=tuple("abcde"), codes=()), **changes)


def ordered(*candidates: Candidate, language: str = "en", region: str = "DE") -> list[int]:
    ranked = rank(candidates, asked(language), region=region, calibration=CALIBRATION)
    return [each.candidate.passage_id for each in ranked]


FRACTIONS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
CANDIDATES = st.lists(
    st.fixed_dictionaries(
        {
            "language": st.sampled_from(["en", "ar", "ru"]),
            "region_code": st.sampled_from(["DE", "KZ", "GLOBAL"]),
            "meaning": FRACTIONS | st.none(),
            "words": FRACTIONS,
            "code": st.booleans(),
        }
    ),
    max_size=8,
).map(lambda entries: [candidate(number, **entry) for number, entry in enumerate(entries)])


@given(CANDIDATES, st.data())
def test_the_order_does_not_depend_on_the_order_of_arrival(candidates: list[Candidate], data: st.DataObject) -> None:
    assert ordered(*data.draw(st.permutations(candidates))) == ordered(*candidates)


@given(CANDIDATES)
def test_every_candidate_has_exactly_one_place(candidates: list[Candidate]) -> None:
    assert sorted(ordered(*candidates)) == [each.passage_id for each in candidates]


@given(CANDIDATES, st.data())
def test_words_of_the_questions_language_move_no_hit_of_another(
    candidates: list[Candidate], data: st.DataObject
) -> None:
    def places(words: float) -> list[int | None]:
        changed = [
            replace(each, matched={"word": words} if each.language == "en" and data.draw(st.booleans()) else {})
            for each in candidates
        ]
        foreign = {each.passage_id for each in changed if each.language != "en"}
        return [number if number in foreign else None for number in ordered(*changed)]

    assert places(1.0) == places(0.0)


def test_words_reorder_the_hits_of_the_questions_language_among_their_own_places() -> None:
    arabic = candidate(1, language="ar", meaning=0.8)
    others = (candidate(2, meaning=0.9), candidate(4, meaning=0.5))
    assert ordered(arabic, candidate(3, meaning=0.7), *others) == [2, 1, 3, 4]
    assert ordered(arabic, candidate(3, meaning=0.7, words=1.0), *others) == [3, 1, 2, 4]


def test_ties_are_broken_by_passage() -> None:
    assert ordered(*(candidate(number) for number in (3, 1, 2))) == [1, 2, 3]
    assert ordered(*(candidate(number, language="ar") for number in (3, 1, 2))) == [1, 2, 3]


def test_equals_come_in_the_order_of_the_languages_wanted() -> None:
    question = asked("kk", fallbacks=("ru",))
    equals = [candidate(number, language=language) for number, language in enumerate(("en", "ru", "ar", "kk"))]
    ranked = rank(equals, question, region="DE", calibration=CALIBRATION)
    assert [each.candidate.language for each in ranked] == ["kk", "ru", "en", "ar"]


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_code_wins_over_a_somewhat_nearer_passage_whatever_its_language(language: str) -> None:
    assert ordered(candidate(1, meaning=0.6), candidate(2, meaning=0.4, code=True, language=language)) == [2, 1]


def test_a_code_counts_as_every_word() -> None:
    assert ordered(candidate(1, words=1.0), candidate(2, words=0.2, code=True)) == [1, 2]
    assert ordered(candidate(1, words=0.9), candidate(2, words=0.2, code=True)) == [2, 1]


def test_the_asked_region_comes_before_the_global_one_and_that_before_another() -> None:
    regions = [candidate(number, region_code=code) for number, code in enumerate(("KZ", "GLOBAL", "DE"))]
    assert ordered(*regions) == [2, 1, 0]
    assert ordered(*regions, region="KZ") == [0, 1, 2]
    assert ordered(*regions, region="GLOBAL") == [1, 0, 2]


def test_without_vectors_words_decide() -> None:
    degraded = [candidate(number, meaning=None, words=words) for number, words in enumerate((0.1, 0.9, 0.5))]
    assert ordered(*degraded) == [1, 2, 0]


@pytest.mark.parametrize("words", [("one",), ("one", "two"), tuple("abcdef")])
def test_without_vectors_a_passage_that_holds_every_word_is_given_however_few_they_are(words: tuple[str, ...]) -> None:
    holds_all = candidate(1, meaning=None, words=1.0)
    question = asked("en", words=words)
    ranked = rank([holds_all], question, region="DE", calibration=CALIBRATION)
    assert [each.candidate for each in select(ranked, question, region="DE")] == [holds_all]


def test_a_meaning_that_points_away_scores_as_none() -> None:
    (away,) = rank([candidate(1, meaning=-0.8)], asked("en"), region="KZ", calibration=CALIBRATION)
    assert away.score == 0.0


def test_nothing_ranked_gives_nothing() -> None:
    assert ordered() == []


def test_words_count_less_in_a_question_of_few_words() -> None:
    near, wordy = candidate(1, meaning=0.6), candidate(2, meaning=0.5, words=1.0)

    def first(*words: str) -> int:
        question = asked("en", words=words)
        return rank([near, wordy], question, region="DE", calibration=CALIBRATION)[0].candidate.passage_id

    assert first("opening") == 1
    assert first(*"abcde") == 2


def test_in_a_monologue_words_decide_and_numbers_are_no_codes() -> None:
    story = asked("en", words=tuple("abcdefghijklmnopqrst"), is_monologue=True)
    by_meaning = candidate(1, meaning=0.6, words=0.05)
    by_words = candidate(2, meaning=0.4, words=0.2)
    with_number = candidate(3, meaning=0.3, code=True)
    ranked = rank([by_meaning, by_words, with_number], story, region="DE", calibration=CALIBRATION)
    assert [each.candidate.passage_id for each in ranked] == [2, 1, 3]
