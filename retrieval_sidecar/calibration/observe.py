"""What a search would see for a question, were some of the corpus not there."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from uuid import UUID

from retrieval_sidecar.calibration.samples import Made
from retrieval_sidecar.database import Connection
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.embeddings.base import unit_rows
from retrieval_sidecar.embeddings.centering import ANY_LANGUAGE, Center
from retrieval_sidecar.scope.resolve import Scope
from retrieval_sidecar.search.candidates import find_candidates
from retrieval_sidecar.search.question import Question, searchable
from retrieval_sidecar.search.ranking import Candidate, evidence_of
from retrieval_sidecar.search.relevance import Evidence, Surroundings
from retrieval_sidecar.search.statement import shape_of
from retrieval_sidecar.text import codes
from retrieval_sidecar.text.normalize import for_embedding, words

_PATIENCE_S = 60.0


def _cosine(centers: Mapping[str, Center], passage: Vectors, language: str, query: Vectors, asked_in: str) -> float:
    """Of a passage and a question as the embedder gave them, once both are centred."""
    one = unit_rows(passage - centers.get(language, centers[ANY_LANGUAGE]).of_passages)
    other = unit_rows(query - centers.get(asked_in, centers[ANY_LANGUAGE]).of_queries)
    return float(one @ other)


class Observer:
    """Searches as a call does, in everything that the scope holds, one short statement at a time."""

    def __init__(self, connection: Connection, embedder: Embedder, scope: Scope, centers: Mapping[str, Center]) -> None:
        self._connection = connection
        self._embedder = embedder
        self._scope = scope
        self._shape = shape_of(scope)
        self._centers = centers

    async def made(self, questions: Sequence[Made]) -> list[Evidence | None]:
        """The evidence of each; None where the search has none by meaning, or finds something else first."""
        vectors = await self._embedder.embed_queries([searchable(made.text, "query") for made in questions])
        reduced = [for_embedding(made.reduced) for made in questions if made.reduced is not None]
        passages = iter(await self._embedder.embed_passages(reduced)) if reduced else iter(())
        found = []
        for made, vector in zip(questions, vectors, strict=True):
            passage = None if made.reduced is None else next(passages)
            found.append(await self._of_made(made, vector, passage))
        return found

    async def _of_made(self, made: Made, vector: Vectors, passage: Vectors | None) -> Evidence | None:
        question = self._question(made.text, made.language)
        candidates = await self._candidates(question, vector)
        own = next((each for each in candidates if each.passage_id == made.passage_id), None)
        others = [each for each in candidates if each.id != made.left_out]
        if passage is None or made.reduced is None:
            return self._best(others, others, question)
        if own is None:
            return None
        stand_in = replace(
            own,
            meaning=_cosine(self._centers, passage, own.language, vector, question.language),
            matched={word: share for word, share in own.matched.items() if word in set(words(made.reduced))},
            code=own.code and not codes.in_document(made.reduced).isdisjoint(question.codes),
        )
        if any((other.meaning or -1.0) > (stand_in.meaning or -1.0) for other in others):
            return None
        return self._best([stand_in], [stand_in, *others], question)

    async def asked(
        self, texts: Sequence[str], languages: Sequence[str | None], expected: Sequence[frozenset[UUID]]
    ) -> list[Evidence | None]:
        """The evidence of labelled questions: of the expected documents, or the best of all where none is expected.

        None where the search does not find what is expected: that is no matter of the decision.
        """
        vectors = await self._embedder.embed_queries([searchable(text, "query") for text in texts])
        found = []
        for text, language, vector, right in zip(texts, languages, vectors, expected, strict=True):
            question = self._question(text, language)
            candidates = await self._candidates(question, vector)
            answers = [each for each in candidates if each.id in right] if right else candidates
            found.append(self._best(answers, candidates, question))
        return found

    def _question(self, text: str, language: str | None) -> Question:
        return Question.read(
            searchable(text, "query"), utterance=None, language=language, default_language=self._scope.language
        )

    async def _candidates(self, question: Question, vector: Vectors) -> list[Candidate]:
        deadline = Deadline(asyncio.get_running_loop().time() + _PATIENCE_S)  # nobody waits on the phone
        (found,) = await find_candidates(self._connection, self._scope, self._shape, [question], vector[None], deadline)
        return found

    def _best(self, answers: Iterable[Candidate], around: Iterable[Candidate], question: Question) -> Evidence | None:
        surroundings = Surroundings.of(each.meaning for each in around)
        evidence = [evidence_of(each, question, surroundings) for each in answers]
        with_meaning = [each for each in evidence if each.meaning is not None and isfinite(each.meaning)]
        return max(with_meaning, key=self._scope.calibration.log_odds, default=None)
