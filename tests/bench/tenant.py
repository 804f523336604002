"""Organizations of the bench: who they are, what they hold, and what each of their agents may tell."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from retrieval_sidecar.embeddings import Vectors
from retrieval_sidecar.embeddings.base import unit_rows
from retrieval_sidecar.embeddings.centering import Center, Mean, centers
from tests.bench.texts import LANGUAGE, Item
from tests.bench.vectors import Embedded

UNDER_TEST = 1  # the number of the organization under test; all others have higher ones
# The agents of an organization, by what they may tell: everything, or a share of its items.
ALL = "all"
SHARES = {"10 %": 0.1, "1 %": 0.01, "0.1 %": 0.001}
FIVE_ROWS = "5 rows"
SELECTIONS = (ALL, *SHARES, FIVE_ROWS)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage; `place` is that of its item among the organization's."""

    id: int
    place: int
    index: int
    fact: str


@dataclass(frozen=True)
class Tenant:
    """An organization that is to be written.

    Attributes:
        number: distinct among the organizations of a database.
        first_passage: the id of its first passage; ids are consecutive.
        raw: unit rows as the model would give them, one a passage.
    """

    number: int
    items: Sequence[Item]
    first_passage: int
    raw: Vectors
    embedded: Embedded

    @property
    def id(self) -> UUID:
        return organization_id(self.number)

    @cached_property
    def passages(self) -> Sequence[Passage]:
        found: list[Passage] = []
        for place, item in enumerate(self.items):
            for index, fact in enumerate(item.facts):
                found.append(Passage(self.first_passage + len(found), place, index, fact))
        return found

    @cached_property
    def centers(self) -> dict[str, Center]:
        mean = Mean(len(self.raw), self.raw.mean(axis=0))
        return centers({LANGUAGE: mean}, self.embedded.sample_passages, self.embedded.sample_queries)

    @cached_property
    def stored(self) -> NDArray[np.float16]:
        """The rows as the product stores them: centred, and rounded to halves."""
        halves: NDArray[np.float16] = unit_rows(self.raw - self.centers[LANGUAGE].of_passages).astype(np.float16)
        return halves

    @cached_property
    def selections(self) -> dict[str, frozenset[int] | None]:
        """The places of the items that each agent may tell; None for all."""
        return {ALL: None} | {
            name: places for name in SELECTIONS if (places := _selected(name, self.items, self.number)) is not None
        }


def _selected(name: str, items: Sequence[Item], seed: int) -> frozenset[int] | None:
    if name == FIVE_ROWS:
        return _exactly(5, items)
    if name not in SHARES:
        return None
    count = max(1, round(SHARES[name] * len(items)))
    chosen = random.Random(seed).sample(range(len(items)), count)
    if not any(items[place].is_told for place in chosen):
        chosen[0] = next(place for place, item in enumerate(items) if item.is_told)
    return frozenset(chosen)


def _exactly(rows: int, items: Sequence[Item]) -> frozenset[int]:
    """Items with so many passages to tell together, the first that fit. Raises ValueError where none do."""
    chosen, left = set(), rows
    for place, item in enumerate(items):
        if item.is_told and len(item.facts) <= left:
            chosen.add(place)
            left -= len(item.facts)
        if left == 0:
            return frozenset(chosen)
    raise ValueError(f"no items have {rows} passages together")


def organization_id(number: int) -> UUID:
    return _uuid(number, 0, 0)


def agent_id(number: int, selection: str) -> UUID:
    return _uuid(number, 1, SELECTIONS.index(selection))


def phone_number(number: int, selection: str) -> str:
    """The number that this agent answers."""
    return f"+1555{number * len(SELECTIONS) + SELECTIONS.index(selection):07d}"


def item_id(item: Item) -> UUID:
    """Of any organization: items are numbered through."""
    return _uuid(0, 2, item.number)


def base_id(number: int) -> UUID:
    return _uuid(number, 3, 0)


def source_id(number: int) -> UUID:
    return _uuid(number, 4, 0)


def _uuid(number: int, kind: int, serial: int) -> UUID:
    return UUID(f"bec{number:05x}-{kind:04x}-4000-8000-{serial:012x}")


@dataclass(frozen=True, slots=True)
class Searchable:
    """What brute force needs of an organization that was written.

    Attributes:
        ids: of the passages, (n,).
        places: of their items, (n,).
        told: whether they may be told on the telephone, (n,).
        vectors: float32 of the stored halves, unit rows, (n, d).
        languages, of_queries: what is subtracted from questions in each language, (l,) and (l, d).
    """

    number: int
    items: Sequence[Item]
    ids: NDArray[np.int64]
    places: NDArray[np.int64]
    told: NDArray[np.bool_]
    vectors: Vectors
    languages: Sequence[str]
    of_queries: Vectors

    @classmethod
    def of(cls, tenant: Tenant) -> Self:
        return cls(
            tenant.number,
            tenant.items,
            np.array([each.id for each in tenant.passages], np.int64),
            np.array([each.place for each in tenant.passages], np.int64),
            np.array([tenant.items[each.place].is_told for each in tenant.passages], np.bool_),
            unit_rows(tenant.stored.astype(np.float32)),
            list(tenant.centers),
            np.stack([each.of_queries for each in tenant.centers.values()]),
        )

    def save(self, file: Path) -> None:
        """Keep it, without the items, which are generated again."""
        arrays = {name: getattr(self, name) for name in ("ids", "places", "told", "vectors", "of_queries")}
        np.savez(file, languages=np.array(self.languages), **arrays)

    @classmethod
    def load(cls, file: Path, number: int, items: Sequence[Item]) -> Self:
        with np.load(file) as kept:
            return cls(
                number,
                items,
                kept["ids"],
                kept["places"],
                kept["told"],
                kept["vectors"],
                [str(each) for each in kept["languages"]],
                kept["of_queries"],
            )

    def allowed(self, selection: str) -> NDArray[np.bool_]:
        """Which passages an agent may tell, (n,)."""
        if selection == ALL:
            return self.told
        places = _selected(selection, self.items, self.number) or frozenset()
        allowed: NDArray[np.bool_] = self.told & np.isin(self.places, sorted(places))
        return allowed

    def allowed_items(self, selection: str) -> frozenset[str]:
        """The ids of the items that an agent may tell, as the wire has them."""
        return frozenset(str(item_id(self.items[place])) for place in set(self.places[self.allowed(selection)]))

    def centred(self, question: Vectors, language: str) -> Vectors:
        """A question's vector as the statement compares it: centred, of length one, rounded to halves."""
        row = self.languages.index(language if language in self.languages else "*")
        half = unit_rows(question - self.of_queries[row]).astype(np.float16)
        return unit_rows(half.astype(np.float32))


def asked_of(items: Sequence[Item]) -> Iterator[str]:
    """Every question that an item to be told answers, in no order but the same each time; then again, put otherwise."""
    asked = [question for item in items if item.is_told for question in item.questions]
    random.Random(1).shuffle(asked)
    yield from asked
    for again in itertools.count(2):
        yield from (f"{question} I ask for number {again}." for question in asked)
