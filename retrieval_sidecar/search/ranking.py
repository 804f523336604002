"""From candidates to an order of them: score, language, relevance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.relevance import Calibration, Evidence, Surroundings

W_MEANING, W_KEYWORD, W_REGION = 0.65, 0.25, 0.10
GLOBAL_REGION = "GLOBAL"
_GLOBAL_REGION_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that some leg of the search found.

    Attributes:
        meaning: centred cosine with the question, -1..1; None in a degraded search.
        matched: the question's words that it holds, each with its share of all of them, rare ones counting more.
        code: whether it holds a code that the question names.
        stands_at: of its document the base, the source's name and the external id; None of an instruction.
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
    matched: Mapping[str, float]
    code: bool
    stands_at: tuple[str, str, str] | None = None

    @property
    def words(self) -> float:
        """The share of the question's words that it holds, 0..1."""
        return min(1.0, sum(self.matched.values()))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its weighted score and its relevance."""

    candidate: Candidate
    score: float
    relevance: float


def rank(candidates: Iterable[Candidate], question: Question, *, region: str, calibration: Calibration) -> list[Ranked]:
    """All candidates, best first; ties are broken by the order of the question's languages, then by passage id.

    Words can only be matched within a language, so their votes reorder the hits of the question's language among the
    places that meaning gave to that language, and never push a hit of another language down.
    """
    found = list(candidates)
    most_words = max((each.words for each in found), default=0.0) or 1.0
    surroundings = Surroundings.of(each.meaning for each in found)
    scored: list[Ranked] = []
    without_words: dict[int, float] = {}
    for each in found:
        keyword = each.words / most_words if question.is_monologue else each.words * question.coverage_counts
        score = _Score(question, each, region)
        relevance = calibration.relevance(evidence_of(each, question, surroundings))
        scored.append(Ranked(each, score.given(keyword), relevance))
        without_words[each.passage_id] = score.given(0.0)
    by_meaning = sorted(
        scored,
        key=lambda each: (
            -without_words[each.candidate.passage_id],
            question.language_place(each.candidate.language),
            each.candidate.passage_id,
        ),
    )
    own = sorted(
        (each for each in scored if each.candidate.language == question.language),
        key=lambda each: (-each.score, each.candidate.passage_id),
    )
    next_own = iter(own)
    return [next(next_own) if each.candidate.language == question.language else each for each in by_meaning]


class _Score:
    """The weighted score of a candidate, as a function of its match by words."""

    def __init__(self, question: Question, candidate: Candidate, region: str) -> None:
        # One vector cannot stand for a monologue, so there the two votes change places; and among so many words there
        # is always some number that looks like a code.
        swapped = question.is_monologue
        meaning, self._keyword = (W_KEYWORD, W_MEANING) if swapped else (W_MEANING, W_KEYWORD)
        self._has_code = candidate.code and not swapped
        self._rest = meaning * max(candidate.meaning or 0.0, 0.0) + W_REGION * region_score(candidate, region)

    def given(self, keyword: float) -> float:
        """The score for a match by words of 0..1; a code is the same in every language and counts as all words."""
        return self._rest + self._keyword * (1.0 if self._has_code else keyword)


def evidence_of(candidate: Candidate, question: Question, surroundings: Surroundings) -> Evidence:
    """What speaks for a candidate, as the calibration reads it."""
    return Evidence(
        meaning=candidate.meaning,
        # Without a vector there are only the words, however few.
        words=candidate.words if candidate.meaning is None else candidate.words * question.coverage_counts,
        code=candidate.code,
        is_foreign=candidate.language != question.language,
        surroundings=surroundings,
    )


def region_score(candidate: Candidate, region: str) -> float:
    """1 for the region itself, less for one that holds everywhere, 0 for another."""
    if candidate.region_code == region:
        return 1.0
    return _GLOBAL_REGION_SCORE if candidate.region_code == GLOBAL_REGION else 0.0
