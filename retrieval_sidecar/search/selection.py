"""What of an order is given to the agent."""

from collections.abc import Sequence
from uuid import UUID

from retrieval_sidecar.search.question import Question
from retrieval_sidecar.search.ranking import Ranked, region_score
from retrieval_sidecar.search.relevance import GIVEN, GIVEN_BY_WORDS
from retrieval_sidecar.search.sameness import Thing

MAX_RESULTS = 5
# So many are compared, which is twice as many as are given: of two groups the versions that suit best may be of one
# document. Each comparison takes time, and a version of the first few that comes after ten others is none.
_DOCUMENTS = 2 * MAX_RESULTS


def select(ranked: Sequence[Ranked], question: Question, *, region: str) -> list[Ranked]:
    """What is given to the agent: relevant, each something else, at most five.

    Of one text that was loaded twice, or in several languages, the version that suits the caller best stands where the
    best of them stood. A document is given by its best passage; by others too once no other document is left, so that
    a base of one long document is not one passage to a caller.
    """
    best_by_words = max(ranked, key=lambda each: each.candidate.words, default=None)
    groups: list[list[tuple[Thing, Ranked]]] = []
    documents = set[UUID]()
    for each in ranked:
        needed = GIVEN_BY_WORDS if each is best_by_words and each.candidate.words > 0 else GIVEN
        if each.relevance < needed:
            continue
        thing = Thing(each.candidate)
        same = (group for group in groups if thing.is_same(group[0][0]))
        group = next(same, None)
        if group is not None:
            group.append((thing, each))
        elif len(documents) < _DOCUMENTS:
            groups.append([(thing, each)])
            documents.add(each.candidate.id)
        else:
            break
    suits = _Suits(question, region)
    chosen = [min((each for _, each in group), key=suits.order) for group in groups]
    best = {each.candidate.id: each for each in reversed(chosen)}
    first = [each for each in chosen if each is best[each.candidate.id]]
    further = [each for each in chosen if each is not best[each.candidate.id]]
    return (first + further)[:MAX_RESULTS]


class _Suits:
    """How well one of several versions of the same suits the caller: by region, then by language, then by rank."""

    def __init__(self, question: Question, region: str) -> None:
        self._question = question
        self._region = region

    def order(self, ranked: Ranked) -> tuple[float, int]:
        """The least suits best."""
        place = self._question.language_place(ranked.candidate.language)
        return -region_score(ranked.candidate, self._region), place
