"""What of an order is given to the agent: relevant, each something else, the version that suits the caller."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.ranking import Ranked
from retrieval_sidecar.search.relevance import GIVEN, GIVEN_BY_WORDS
from retrieval_sidecar.search.sameness import family_of
from retrieval_sidecar.search.selection import select
from tests.support.candidates import candidate

QUESTION = Question("", "kk", "kk", words=(), codes=(), fallbacks=("ru",))
TERMS = "Parcels that were bought online may be sent back within a fortnight, unopened and in their own box."


def relevant(number: int, relevance: float = 0.9, **changes: Any) -> Ranked:
    return Ranked(candidate(number, **changes), score=0.0, relevance=relevance)


def given_of(ranked: Sequence[Ranked], *, region: str = "DE") -> list[int]:
    return [each.candidate.passage_id for each in select(ranked, QUESTION, region=region)]


def test_nothing_ranked_gives_nothing() -> None:
    assert given_of([]) == []


def test_what_is_relevant_enough_is_given_and_nothing_else() -> None:
    assert given_of([relevant(1, GIVEN), relevant(2, GIVEN - 0.01), relevant(3, 0.9), relevant(4, 0.0)]) == [1, 3]


@pytest.mark.parametrize(
    ("relevance", "words", "is_given"),
    [
        (GIVEN_BY_WORDS, 0.8, True),
        (GIVEN_BY_WORDS - 0.01, 0.8, False),
        (GIVEN_BY_WORDS, 0.0, False),
    ],
)
def test_the_best_match_by_words_needs_less(relevance: float, words: float, *, is_given: bool) -> None:
    assert bool(given_of([relevant(1, relevance, words=words)])) is is_given


def test_only_one_passage_is_the_best_match_by_words() -> None:
    assert given_of([relevant(number, 0.4, words=0.8) for number in (1, 2, 3)]) == [1]


def test_at_most_five_are_given() -> None:
    assert given_of([relevant(number) for number in range(9)]) == [0, 1, 2, 3, 4]


LONG = UUID(int=77)


def test_a_document_is_given_by_its_best_passage_before_any_by_another() -> None:
    ranked = [relevant(1, id=LONG, chunk_index=4), relevant(2, id=LONG, chunk_index=0), relevant(3)]
    assert given_of(ranked) == [1, 3, 2]


def test_further_passages_of_a_document_take_no_other_documents_place() -> None:
    ranked = [relevant(number, id=LONG, chunk_index=number) for number in range(4)]
    ranked += [relevant(number) for number in range(4, 8)]
    assert given_of(ranked) == [0, 4, 5, 6, 7]


def test_a_base_of_one_long_document_is_more_than_one_passage() -> None:
    assert given_of([relevant(number, id=LONG, chunk_index=number) for number in (3, 1, 2)]) == [3, 1, 2]


def test_a_further_passage_must_be_relevant_itself_and_say_something_else() -> None:
    ranked = [
        relevant(1, id=LONG, content=TERMS),
        relevant(2, id=LONG, content=TERMS + " Thank you."),
        relevant(3, 0.2, id=LONG),
    ]
    assert given_of(ranked) == [1]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(TERMS, id="the same"),
        pytest.param(TERMS.upper().replace(",", " –") + "\n", id="written otherwise"),
        pytest.param("Please note: " + TERMS, id="a few words before"),
        pytest.param(TERMS.replace("bought online", "bought here online"), id="a word more"),
    ],
)
def test_a_text_that_was_loaded_twice_is_given_once(other: str) -> None:
    assert given_of([relevant(1, content=TERMS, title="Returns"), relevant(2, content=other), relevant(3)]) == [1, 3]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(TERMS.replace("fortnight", "month"), id="another word"),
        pytest.param(TERMS + " Since 2026.", id="a number more"),
        pytest.param(
            TERMS.replace("unopened and in", "in").replace("sent back", "unopened sent back"), id="other order"
        ),
        pytest.param(TERMS + " Books, films, games and flowers are excluded from this rule.", id="a sentence more"),
    ],
)
def test_what_says_something_else_is_given_too(other: str) -> None:
    assert given_of([relevant(1, content=TERMS), relevant(2, content=other)]) == [1, 2]


def test_the_same_short_answer_to_another_question_is_another_thing() -> None:
    yes = "Yes, free of charge."
    dogs, bikes = relevant(1, title="Dogs allowed?", content=yes), relevant(2, title="Bikes allowed?", content=yes)
    assert given_of([dogs, bikes]) == [1, 2]
    assert given_of([dogs, relevant(2, title="Dogs allowed?", content=yes)]) == [1]


def test_an_instruction_is_no_copy_of_knowledge() -> None:
    ranked = [relevant(1, content=TERMS), relevant(2, content=TERMS, is_instruction=True)]
    assert given_of(ranked) == [1, 2]


def translations(*languages: str, **changes: Any) -> list[Ranked]:
    return [
        relevant(
            number,
            language=language,
            content=f"In {language}: {TERMS[number:]}",
            stands_at=("base", "source", "faq"),
            **changes,
        )
        for number, language in enumerate(languages, start=1)
    ]


@pytest.mark.parametrize(
    ("languages", "chosen"),
    [
        (("en", "ru", "kk"), 3),
        (("kk", "ru", "en"), 1),
        (("en", "ru"), 2),
        (("en", "ar"), 1),
    ],
)
def test_of_translations_the_one_in_the_asked_language_is_given_then_in_its_fallback(
    languages: tuple[str, ...], chosen: int
) -> None:
    assert given_of(translations(*languages)) == [chosen]


def test_the_version_given_stands_where_the_best_of_them_stood() -> None:
    english, kazakh = translations("en", "kk")
    assert given_of([english, relevant(9), kazakh]) == [2, 9]


def test_a_translation_that_is_not_relevant_is_no_version() -> None:
    english, kazakh = translations("en", "kk")
    assert given_of([english, Ranked(kazakh.candidate, 0.0, 0.1)]) == [1]


def test_another_part_of_a_translated_document_is_another_thing() -> None:
    english, kazakh = translations("en", "kk")
    other_part = relevant(7, language="kk", stands_at=("base", "source", "faq"), chunk_index=3, id=kazakh.candidate.id)
    assert given_of([english, other_part]) == [1, 7]


def test_of_copies_the_one_of_the_region_is_given_whatever_its_rank() -> None:
    copies = [relevant(number, content=TERMS, region_code=code) for number, code in enumerate(("KZ", "GLOBAL", "DE"))]
    assert given_of(copies) == [2]
    assert given_of(copies, region="US") == [1]
    assert given_of([*copies, relevant(9, region_code="KZ")], region="KZ") == [0, 9]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("faq.en.jsonl", "delivery-en", "en"), ("faq.ru.jsonl", "delivery-ru", "ru")),
        (("faq", "en:p017", "en"), ("faq", "ar:p017", "ar")),
        (("FAQ (kk)", "17", "kk"), ("faq", "17", "ru")),
        (("help", "ru/returns", "ru"), ("help", "returns", "en")),
    ],
)
def test_translations_are_of_one_family(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert family_of("base", *one) == family_of("base", *other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("faq", "p17-en", "en"), ("faq", "p18-ru", "ru")),
        (("faq", "17", "en"), ("products", "17", "ru")),
        (("faq", "ab", "en"), ("faq a", "b", "en")),
    ],
)
def test_what_stands_elsewhere_is_of_another_family(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert family_of("base", *one) != family_of("base", *other)


def test_bases_have_families_of_their_own() -> None:
    assert family_of("one", "faq", "17", "en") != family_of("other", "faq", "17", "ru")


def numbered(entries: list[dict[str, Any]]) -> list[Ranked]:
    return [relevant(number, **entry) for number, entry in enumerate(entries)]


RANKED = st.lists(
    st.fixed_dictionaries(
        {
            "relevance": st.sampled_from([0.0, 0.4, 0.6, 0.9]),
            "language": st.sampled_from(["en", "kk", "ru"]),
            "region_code": st.sampled_from(["DE", "KZ", "GLOBAL"]),
            "words": st.sampled_from([0.0, 0.5]),
            "content": st.sampled_from([TERMS, TERMS + " Thanks.", "Yes.", "Something else."]),
            "stands_at": st.sampled_from([None, ("base", "source", "a"), ("base", "source", "b")]),
            "id": st.integers(0, 3).map(lambda number: UUID(int=number)),
            "chunk_index": st.integers(0, 2),
        }
    ),
    max_size=12,
).map(numbered)


@given(RANKED)
def test_selection_is_of_the_ranked_each_once_documents_first(ranked: list[Ranked]) -> None:
    chosen = select(ranked, QUESTION, region="DE")
    assert len(chosen) <= 5
    assert len({each.candidate.passage_id for each in chosen}) == len(chosen)
    assert all(each in ranked and each.relevance >= GIVEN_BY_WORDS for each in chosen)
    assert chosen or not any(each.relevance >= GIVEN for each in ranked)
    documents = [each.candidate.id for each in chosen]
    assert len(set(documents[: len(set(documents))])) == len(set(documents))
