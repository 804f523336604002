"""A generated organization of the size that the numbers to hold speak of.

3,143 items of three or four passages; two in five are not for the telephone, which leaves 6,287 passages of 10,058.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, product
from typing import Any
from uuid import UUID

import numpy as np

from retrieval_sidecar.embeddings.base import EmbedderWrapper, Vectors

ITEMS = 3143
ORGANIZATION_ID = UUID("bec00000-0000-4000-8000-000000000001")
AGENT_ID = UUID("bec00000-0000-4000-8000-000000000002")
NUMBER = "+15555557000"
FOLDERS = 10

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
)
# Of each five items; the first has a passage more.
_HIDDEN: tuple[dict[str, Any], ...] = ({}, {"status": "draft"}, {}, {"channels": ["chat"]}, {})
_WORDS_A_SENTENCE, _SENTENCES_A_PASSAGE = 11, 10
_VOCABULARY = 20_000


class TitleEmbedder(EmbedderWrapper):
    """Embeds a passage by its title alone: what a search costs does not depend on what vectors say, loading does."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        titles = [text.partition(".")[0] for text in texts]
        distinct = list(dict.fromkeys(titles))
        of_title = dict(zip(distinct, await self._inner.embed_passages(distinct), strict=True))
        return np.stack([of_title[title] for title in titles])


def organization() -> dict[str, Any]:
    """What organization.yaml holds: one agent, which may tell everything."""
    return {
        "organization": {
            "id": str(ORGANIZATION_ID),
            "name": "Bench",
            "time_zone": "Europe/Berlin",
            "default_language": "en",
            "default_region": "DE",
        },
        "knowledge_bases": [{"key": "all", "name": "All"}],
        "agents": [
            {
                "key": "agent",
                "id": str(AGENT_ID),
                "name": "agent",
                "numbers": [NUMBER],
                "language": "en",
                "greeting": "Hello.",
                "prompt": "You answer the phone.",
            }
        ],
    }


def items() -> list[dict[str, Any]]:
    """What items.jsonl holds; the same each time."""
    chance = random.Random(3143)
    words = list(_invented_words(_VOCABULARY))
    # Zipf's law: few words are in nearly every passage and most are in few, as in real text.
    weights = list(accumulate(1 / rank for rank in range(1, _VOCABULARY + 1)))
    found = []
    for number, (name, kind) in enumerate(_named()):
        paragraphs = []
        for _, answer in _facts(number):
            fact = answer.format(
                name=name,
                kind=kind,
                price=chance.randrange(5, 900),
                days=chance.randrange(2, 90),
                code=f"{name[:3].upper()}-{chance.randrange(10, 1000)}-X",
            )
            sentences = [
                " ".join(chance.choices(words, cum_weights=weights, k=_WORDS_A_SENTENCE)).capitalize() + "."
                for _ in range(_SENTENCES_A_PASSAGE)
            ]
            paragraphs.append(" ".join([fact, *sentences]))
        found.append(
            {
                "external_id": f"item-{number}",
                "title": f"{name} {kind}",
                "content": "\n\n".join(paragraphs),
                "language": "en",
                "region_code": "DE",
                "status": "published",
                **_HIDDEN[number % len(_HIDDEN)],
                "source_hash": f"{number}",
                "folder": f"upload:{number % FOLDERS}",
            }
        )
    return found


def questions() -> list[str]:
    """Every question once, in no order: one for each fact of each item."""
    asked = [
        question.format(name=name, kind=kind)
        for number, (name, kind) in enumerate(_named())
        for question, _ in _facts(number)
    ]
    random.Random(1).shuffle(asked)
    return asked


def _facts(number: int) -> Sequence[tuple[str, str]]:
    """An item's questions and answers, one a passage: 3.2 on average."""
    return _ASKED if number % 5 == 0 else _ASKED[:3]


def _named() -> Iterator[tuple[str, str]]:
    names = list(_invented_words(_VOCABULARY + ITEMS))[_VOCABULARY:]
    for number, name in enumerate(names):
        yield name.capitalize(), _KINDS[number % len(_KINDS)]


def _invented_words(count: int) -> Iterator[str]:
    shuffled = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]
    random.Random(7).shuffle(shuffled)
    yield from shuffled[:count]
