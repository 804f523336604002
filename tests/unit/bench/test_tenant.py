"""What the generated organizations hold, and what their agents may tell."""

from typing import Any

import numpy as np

from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.base import unit_rows
from retrieval_sidecar.text.codes import in_document
from retrieval_sidecar.text.normalize import words
from tests.bench.tenant import FIVE_ROWS, SELECTIONS, Searchable, agent_id, asked_of, phone_number
from tests.bench.texts import Fillers, codes_of, items, passages_of, words_of
from tests.bench.vectors import Mixtures

ITEMS = 3143


def searchable() -> Searchable:
    documents = items(1, passages_of(ITEMS))
    places = np.array([place for place, item in enumerate(documents) for _ in item.facts])
    told = np.array([documents[place].is_told for place in places])
    rows = np.zeros((len(places), 2), np.float32)
    return Searchable(
        1, documents, np.arange(len(places)), places, told, rows, ["en", "*"], np.zeros((2, 2), np.float32)
    )


def test_the_organization_under_test_is_the_one_that_the_numbers_speak_of() -> None:
    documents = items(1, passages_of(ITEMS))
    assert len(documents) == ITEMS
    assert sum(len(item.facts) for item in documents) == 10_060
    assert sum(len(item.facts) for item in documents if item.is_told) == 6_289
    assert len({item.title for item in documents}) == ITEMS


def test_selections_allow_the_shares_that_they_are_named_for() -> None:
    organization = searchable()
    rows = {selection: int(organization.allowed(selection).sum()) for selection in SELECTIONS}
    assert rows["all"] == organization.told.sum()
    assert 0.07 < rows["10 %"] / rows["all"] < 0.13
    assert 0.005 < rows["1 %"] / rows["all"] < 0.015
    assert 1 <= rows["0.1 %"] <= 15
    assert rows[FIVE_ROWS] == 5


def test_a_selection_is_the_same_each_time_and_never_tells_what_is_hidden() -> None:
    first, again = searchable(), searchable()
    for selection in SELECTIONS:
        assert (first.allowed(selection) == again.allowed(selection)).all()
        assert not (first.allowed(selection) & ~first.told).any()


def test_even_a_tiny_organization_has_something_to_tell_in_each_selection() -> None:
    documents = items(1, 20)
    places = np.array([place for place, item in enumerate(documents) for _ in item.facts])
    told = np.array([documents[place].is_told for place in places])
    rows = np.empty((20, 0), np.float32)
    for number in range(1, 30):
        tiny = Searchable(number, documents, places, places, told, rows, ["*"], rows[:1])
        assert all(tiny.allowed(selection).any() for selection in SELECTIONS)


def test_agents_and_their_numbers_are_distinct() -> None:
    agents = [(number, selection) for number in range(1, 120) for selection in SELECTIONS]
    assert len({agent_id(*each) for each in agents}) == len(agents)
    assert len({phone_number(*each) for each in agents}) == len(agents)
    assert all(len(phone_number(*each)) == len("+15550000000") for each in agents)


def test_what_indexing_would_find_is_what_is_written() -> None:
    fillers = Fillers()
    for item in items(500, 60):
        for number, fact in enumerate(item.facts):
            filler = fillers[number]
            text = f"{item.title} {fact} {filler.text}"
            assert words_of(item.title, fact, filler) == sorted(set(words(text)))
            assert codes_of(item.title, fact) == sorted(in_document(text))


def test_questions_never_end_and_never_come_twice() -> None:
    documents = items(1, 20)
    asked = asked_of(documents)
    taken = [next(asked) for _ in range(100)]
    assert len(set(taken)) == 100


def test_mixtures_lie_as_the_real_ones_do() -> None:
    chance = np.random.default_rng(1)
    # A narrow cone of few dimensions, as embeddings are.
    real = unit_rows(
        (np.eye(64)[0] * 3 + chance.standard_normal((500, 8)) @ chance.standard_normal((8, 64)) / 4).astype(np.float32)
    )
    mixed = Mixtures(real).draw(2_000, seed=3)
    assert np.allclose(np.linalg.norm(mixed, axis=1), 1, atol=1e-5)
    assert mixed.mean(axis=0) @ real.mean(axis=0) > 0.95 * np.linalg.norm(real.mean(axis=0)) ** 2

    def spread(rows: Vectors) -> Any:
        return np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:8] / np.sqrt(len(rows))

    assert np.allclose(spread(mixed), spread(real), rtol=0.2)
    assert (Mixtures(real).draw(5, seed=3) == Mixtures(real).draw(5, seed=3)).all()
    assert not (Mixtures(real).draw(5, seed=3) == Mixtures(real).draw(5, seed=4)).any()
