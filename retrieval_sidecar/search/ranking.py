"""From candidates to results: score, language, relevance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from retrieval_sidecar.search.relevance import GIVEN, GIVEN_BY_WORDS, Calibration

MAX_RESULTS = 5
W_MEANING, W_KEYWORD, W_REGION = 0.65, 0.25, 0.10
GLOBAL_REGION = "GLOBAL"
_GLOBAL_REGION_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that some leg of the search found.

    Attributes:
        meaning: centred cosine with the question, -1..1; None in a degraded search.
        words: the share of the question's words that it holds, rare ones counting more, 0..1.
        code: whether it holds a code that the question names.
    """

    passage_id: int
    is_instruction: bool
    id: UUID
    chunk_index: int
    title: str
    content: str
    source_url: str | None
    language: str
    region_code: str
    meaning: float | None
    words: float
    code: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its weighted score and its relevance."""

    candidate: Candidate
    score: float
    relevance: float


def rank(candidates: Iterable[Candidate], *, language: str, region: str, calibration: Calibration) -> list[Ranked]:
    """All candidates, best first; ties are broken by passage id.

    Words can only be matched within a language, so their votes reorder the hits of the question's language among the
    places that meaning gave to that language, and never push a hit of another language down.
    """
    scored = [_scored(candidate, region, calibration) for candidate in candidates]
    by_meaning = sorted(scored, key=lambda each: (-_without_words(each, region), each.candidate.passage_id))
    own = sorted(
        (each for each in scored if each.candidate.language == language),
        key=lambda each: (-each.score, each.candidate.passage_id),
    )
    next_own = iter(own)
    return [next(next_own) if each.candidate.language == language else each for each in by_meaning]


def select(ranked: Sequence[Ranked]) -> list[Ranked]:
    """What is given to the agent: relevant, one passage of each document, at most five."""
    best_by_words = max(ranked, key=lambda each: each.candidate.words, default=None)
    chosen: dict[UUID, Ranked] = {}
    for each in ranked:
        needed = GIVEN_BY_WORDS if each is best_by_words and each.candidate.words > 0 else GIVEN
        if each.relevance >= needed:
            chosen.setdefault(each.candidate.id, each)
    return list(chosen.values())[:MAX_RESULTS]


def _scored(candidate: Candidate, region: str, calibration: Calibration) -> Ranked:
    keyword = 1.0 if candidate.code else candidate.words
    meaning = candidate.meaning or 0.0
    return Ranked(
        candidate,
        score=W_MEANING * max(meaning, 0.0) + W_KEYWORD * keyword + W_REGION * _region_score(candidate, region),
        relevance=calibration.relevance(candidate.meaning, candidate.words, code=candidate.code),
    )


def _without_words(ranked: Ranked, region: str) -> float:
    """The score without the vote of words; a code is the same in every language and keeps its own."""
    candidate = ranked.candidate
    return (
        W_MEANING * max(candidate.meaning or 0.0, 0.0)
        + W_KEYWORD * float(candidate.code)
        + W_REGION * _region_score(candidate, region)
    )


def _region_score(candidate: Candidate, region: str) -> float:
    if candidate.region_code == region:
        return 1.0
    return _GLOBAL_REGION_SCORE if candidate.region_code == GLOBAL_REGION else 0.0
