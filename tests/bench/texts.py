"""Generated documents: facts about invented things, each in a paragraph of filler words; the same each time.

Two items in five are not for the telephone; 3.2 passages an item. An organization of 3,143 items has 10,060 passages,
6,289 of which may be told.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product
from typing import Any

from retrieval_sidecar.text import codes
from retrieval_sidecar.text.normalize import words

LANGUAGE = "en"
FOLDERS = 10
# Passages of items of an organization, by turns; the first and the last together have five.
_PASSAGES = (4, 3, 5, 3, 1)
_HIDDEN: tuple[dict[str, Any], ...] = ({}, {"status": "draft"}, {}, {"channels": ["chat"]}, {})

_SYLLABLES = (
    "ba", "bre", "cal", "dor", "el", "fen", "gri", "hul", "ix", "jor", "kel", "lum", "mar", "nex", "ol",
    "pra", "quin", "ros", "sil", "tar", "ulm", "ver", "wen", "yor", "zan", "ada", "eno", "iru", "umi",
)  # fmt: skip
_KINDS = (
    "tariff", "router", "policy", "membership", "voucher", "contract", "card", "plan", "ticket", "package",
    "insurance", "warranty", "account", "terminal", "course", "locker", "parcel", "delivery", "repair", "rental",
    "camera", "printer", "charger", "battery", "kitchen", "sofa", "mattress", "bicycle", "helmet", "heater", "boiler",
    "window", "garden", "pool", "sauna", "massage", "vaccination", "blood test", "dental check", "eye test", "room",
    "suite", "breakfast", "conference hall", "shuttle", "tour", "museum pass", "concert", "season ticket",
)  # fmt: skip
_ASKED = (
    ("What does the {name} {kind} cost?", "The {name} {kind} costs €{price} a month."),
    ("How do I cancel my {name} {kind}?", "A {name} {kind} is cancelled in writing, {days} days ahead."),
    ("Which code do I need for the {name} {kind}?", "The code of the {name} {kind} is {code}."),
    ("How long does the warranty of the {name} {kind} last?", "The warranty of the {name} {kind} lasts {days} weeks."),
    ("Who repairs a {name} {kind}?", "A {name} {kind} is repaired by the workshop at gate {days}."),
)
_WORDS_A_SENTENCE, _SENTENCES_A_PASSAGE = 11, 10
_VOCABULARY = 20_000
_FILLERS = 2_000
_STEP = 366_683  # has no factor in common with the number of names, so that neighbours have unlike names


@dataclass(frozen=True, slots=True)
class Item:
    """A document.

    Attributes:
        number: among all items of all organizations.
        status, channels: as the table has them.
        facts: what it says, one a passage.
        questions: what each of them answers.
    """

    number: int
    title: str
    status: str
    channels: tuple[str, ...]
    facts: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def is_told(self) -> bool:
        """Whether it may be told on the telephone."""
        return self.status == "published" and "phone" in self.channels


def items(first: int, passages: int, *, hidden: bool = True) -> list[Item]:
    """Items with so many passages together, numbered from `first`; with `hidden`, two in five are not to be told."""
    found = []
    left = passages
    for place in range(passages):
        if left == 0:
            break
        count = min(left, _PASSAGES[place % len(_PASSAGES)])
        found.append(_item(first + place, count, _HIDDEN[place % len(_HIDDEN)] if hidden else {}))
        left -= count
    return found


def passages_of(items: int) -> int:
    """How many passages so many items have."""
    whole, rest = divmod(items, len(_PASSAGES))
    return whole * sum(_PASSAGES) + sum(_PASSAGES[:rest])


def _item(number: int, count: int, hiding: dict[str, Any]) -> Item:
    name = _name(number).capitalize()
    values = {
        "name": name,
        "kind": _KINDS[number % len(_KINDS)],
        "price": 5 + number * 7 % 895,
        "days": 2 + number * 3 % 88,
        "code": f"{name[:3].upper()}-{10 + number * 13 % 990}-X",
    }
    return Item(
        number,
        "{name} {kind}".format(**values),
        hiding.get("status", "published"),
        tuple(hiding.get("channels", ("phone",))),
        tuple(fact.format(**values) for _, fact in _ASKED[:count]),
        tuple(question.format(**values) for question, _ in _ASKED[:count]),
    )


def _name(number: int) -> str:
    """Four syllables: a name of its own for each of 707,281 items."""
    size = len(_SYLLABLES)
    code = number * _STEP % size**4
    return "".join(_SYLLABLES[code // size**place % size] for place in range(4))


@dataclass(frozen=True, slots=True)
class Filler:
    """A paragraph that says nothing, and its distinct words."""

    text: str
    words: frozenset[str]


class Fillers:
    """Paragraphs that passages share. Their words follow Zipf's law: a few are in nearly every passage, most in few."""

    @cached_property
    def _all(self) -> Sequence[Filler]:
        chance = random.Random(3143)
        vocabulary = list(_invented_words(_VOCABULARY))
        weights = list(accumulate(1 / rank for rank in range(1, _VOCABULARY + 1)))
        found = []
        for _ in range(_FILLERS):
            chosen = [
                chance.choices(vocabulary, cum_weights=weights, k=_WORDS_A_SENTENCE)
                for _ in range(_SENTENCES_A_PASSAGE)
            ]
            text = " ".join(" ".join(sentence).capitalize() + "." for sentence in chosen)
            found.append(Filler(text, frozenset(words(text))))
        return found

    def __getitem__(self, number: int) -> Filler:
        return self._all[number % _FILLERS]


def words_of(title: str, fact: str, filler: Filler) -> Sequence[str]:
    """The words that indexing finds in a passage, sorted."""
    return sorted({*words(f"{title} {fact}"), *filler.words})


def codes_of(title: str, fact: str) -> Sequence[str]:
    """The codes that indexing finds in a passage, sorted; fillers have none."""
    return sorted(codes.in_document(f"{title} {fact}"))


def _invented_words(count: int) -> Iterator[str]:
    shuffled = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]
    random.Random(7).shuffle(shuffled)
    yield from shuffled[:count]
