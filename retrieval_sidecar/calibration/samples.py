"""Questions made of the corpus itself, some with an answer in it and some without.

With an answer: a title or a sentence of a passage, asked of that passage without it (the inverse cloze task of
Lee, Chang and Toutanova, 2019), where the search still finds it first: what is left of the others answers no more than
any text does. Without one: words that stand together nowhere, and questions that no organization's knowledge is about
(background.yaml). Nothing is read but this organization's own passages.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from uuid import UUID

import yaml
from semantic_text_splitter import TextSplitter

from retrieval_sidecar.search.question import MAX_CHARACTERS
from retrieval_sidecar.text.languages import stop_words
from retrieval_sidecar.text.normalize import for_embedding, words

# Telling words: what a caller's question has, and the least that a text must keep to be an answer.
_ASKED_WORDS = 6
_FEWEST_WORDS = 3
_LEFT_WORDS = 5
# From this share of passages that are one sentence each, and so many of them, the corpus is taken for a list of ways to
# say the same things: one line is then an answer to another.
_LINES_SHARE, _LINES = 0.6, 100


@dataclass(frozen=True, slots=True)
class Sampled:
    """A stored passage.

    Attributes:
        siblings: how many passages its document has.
    """

    passage_id: int
    document_id: UUID
    chunk_index: int
    language: str
    title: str
    content: str
    siblings: int


@dataclass(frozen=True, slots=True)
class Made:
    """A question, and what must not be seen when it is asked.

    Attributes:
        left_out: the document that does not count.
        passage_id, reduced: the one passage of that document which does, and the text that it is then.
    """

    text: str
    language: str
    answerable: bool
    left_out: UUID | None = None
    passage_id: int | None = None
    reduced: str | None = None


@cache
def background() -> Mapping[str, Sequence[str]]:
    """The same questions in each language."""
    text = files(__package__).joinpath("background.yaml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = yaml.safe_load(text)
    return found


def made_from(passages: Sequence[Sampled], *, seed: int) -> list[Made]:
    """Questions with and without an answer; the same for the same passages and seed."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose, and no secret
    cloze = [made for passage in passages if (made := _cloze(passage, chance)) is not None]
    without_answer = shuffled(passages, chance) + unrelated(passages)
    if are_lines(passages):
        return [_said_again(passage) for passage in passages if _is_line(passage)] + without_answer
    return cloze + without_answer


def are_lines(passages: Sequence[Sampled]) -> bool:
    """Whether the corpus is a list of ways to say the same things, so that each line is asked of the others."""
    return sum(map(_is_line, passages)) >= max(_LINES, _LINES_SHARE * len(passages))


def unrelated(passages: Sequence[Sampled]) -> list[Made]:
    """Background questions in the languages of the passages."""
    languages = sorted({passage.language for passage in passages} & background().keys())
    return [Made(text, language, answerable=False) for language in languages for text in background()[language]]


def shuffled(passages: Sequence[Sampled], chance: random.Random) -> list[Made]:
    """Words that the corpus knows, each of another document of one language: no question at all."""
    by_language: dict[str, list[list[str]]] = {}
    for passage in passages:
        if found := _telling(passage.content, passage.language):
            by_language.setdefault(passage.language, []).append(found)
    made = []
    for language, texts in by_language.items():
        if len(texts) < 2 * _ASKED_WORDS:
            continue
        for _ in range(min(60, len(texts) // 2)):
            picked = [chance.choice(text) for text in chance.sample(texts, _ASKED_WORDS)]
            made.append(Made(" ".join(picked), language, answerable=False))
    return made


def _cloze(passage: Sampled, chance: random.Random) -> Made | None:
    """A question of the passage's title or of one sentence, with what is left of the passage without it."""
    asked = [cloze for cloze in (_of_title(passage), _of_sentence(passage)) if cloze is not None]
    if not asked:
        return None
    text, rest = chance.choice(asked)
    return Made(
        text[:MAX_CHARACTERS],
        passage.language,
        answerable=True,
        left_out=passage.document_id,
        passage_id=passage.passage_id,
        reduced=rest,
    )


def _of_title(passage: Sampled) -> tuple[str, str] | None:
    if passage.chunk_index > 0 or not _has_title(passage):
        return None
    return (passage.title, passage.content) if _tells(passage.title, passage.language, _FEWEST_WORDS) else None


def _of_sentence(passage: Sampled) -> tuple[str, str] | None:
    spans = list(_sentences().chunk_indices(passage.content))
    sized = [(abs(len(_telling(text, passage.language)) - _ASKED_WORDS), start, text) for start, text in spans]
    if len(sized) < 2:
        return None
    _, start, text = min(sized)
    rest = f"{passage.content[:start]} {passage.content[start + len(text) :]}"
    if not _tells(text, passage.language, _FEWEST_WORDS) or not _tells(rest, passage.language, _LEFT_WORDS):
        return None
    return text, f"{passage.title}. {rest}" if _has_title(passage) else rest


def _said_again(line: Sampled) -> Made:
    return Made(line.content[:MAX_CHARACTERS], line.language, answerable=True, left_out=line.document_id)


def _is_line(passage: Sampled) -> bool:
    return passage.siblings == 1 and not _has_title(passage) and len(_sentences().chunks(passage.content)) == 1


def _has_title(passage: Sampled) -> bool:
    return not for_embedding(passage.content).startswith(for_embedding(passage.title))


def _tells(text: str, language: str, fewest: int) -> bool:
    return len(_telling(text, language)) >= fewest


def _telling(text: str, language: str) -> list[str]:
    meaningless = stop_words(language)
    return [word for word in dict.fromkeys(words(text)) if word not in meaningless]


@cache
def _sentences() -> TextSplitter:
    """A range that begins at 1 makes each sentence a piece of its own."""
    return TextSplitter((1, MAX_CHARACTERS))
