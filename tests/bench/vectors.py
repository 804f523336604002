"""Vectors shaped like embeddings: a few thousand real ones, and mixtures of them for the rest.

Isotropic noise would flatter every index: real embeddings lie in a narrow cone, have neighbours and few effective
dimensions, and that is what makes approximate search lose answers.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from retrieval_sidecar.embeddings import Embedder, Vectors
from retrieval_sidecar.embeddings.base import unit_rows
from retrieval_sidecar.embeddings.centering import language_samples
from tests.bench.texts import LANGUAGE, Item

_BATCH = 64
# Of a mixture: one real vector, a second one, and noise with the covariance of all. The squares sum up to one, so that
# mixtures lie as far from the mean as real ones do.
_FIRST, _SECOND, _NOISE = 0.8, 0.4, 0.447


@dataclass(frozen=True, slots=True)
class Embedded:
    """What the model said of the generated texts; unit rows, as it gave them.

    Attributes:
        passages: of the first facts of the organization under test, in their order.
        questions: one a text of `texts`.
        sample_passages, sample_queries: of the language samples in the texts' language, which centres are made of.
    """

    passages: Vectors
    texts: Sequence[str]
    questions: Vectors
    sample_passages: Mapping[str, Vectors]
    sample_queries: Mapping[str, Vectors]


async def embed(
    embedder: Embedder, items: Sequence[Item], passages: int, questions: int, folder: Path, console: Console
) -> Embedded:
    """Embed the first so many facts of the items, and so many of the questions that these answer, evenly spread.

    Args:
        embedder: started.
        folder: where the vectors are kept, for as long as texts and model are the same.
    """
    facts = [(item, fact, asked) for item in items for fact, asked in zip(item.facts, item.questions, strict=True)]
    chosen = facts[:passages]
    # Of what may be told, so that a question has an answer.
    told = [asked for item, _, asked in chosen if item.is_told]
    texts = [told[place * len(told) // questions] for place in range(min(questions, len(told)))]
    samples = {language: language_samples()[language] for language in (LANGUAGE,)}
    sample_texts = [text for of_language in samples.values() for text in of_language]
    as_passages = [f"{item.title}. {fact}" for item, fact, _ in chosen]
    key = blake2b(repr((embedder.model, as_passages, texts, sample_texts)).encode(), digest_size=6).hexdigest()
    file = folder / f"vectors-{key}.npz"
    if not file.exists():
        rows = await _embed(embedder, [*as_passages, *sample_texts], [*texts, *sample_texts], console)
        np.savez(file, passages=rows[0], questions=rows[1])
    with np.load(file) as kept:
        of_passages, of_questions = kept["passages"], kept["questions"]
    return Embedded(
        of_passages[: len(as_passages)],
        texts,
        of_questions[: len(texts)],
        _by_language(samples, of_passages[len(as_passages) :]),
        _by_language(samples, of_questions[len(texts) :]),
    )


async def _embed(
    embedder: Embedder, passages: Sequence[str], questions: Sequence[str], console: Console
) -> tuple[Vectors, Vectors]:
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("Embedding", total=len(passages) + len(questions))

        async def rows(texts: Sequence[str], embed: Callable[[Sequence[str]], Awaitable[Vectors]]) -> Vectors:
            found = []
            for start in range(0, len(texts), _BATCH):
                found.append(await embed(texts[start : start + _BATCH]))
                progress.advance(task, len(found[-1]))
            return np.concatenate(found)

        return await rows(passages, embedder.embed_passages), await rows(questions, embedder.embed_queries)


def _by_language(samples: Mapping[str, Sequence[str]], rows: Vectors) -> dict[str, Vectors]:
    found, start = {}, 0
    for language, texts in samples.items():
        found[language] = rows[start : start + len(texts)]
        start += len(texts)
    return found


class Mixtures:
    """Draws vectors that lie as the given ones do."""

    def __init__(self, real: Vectors) -> None:
        self._mean = real.mean(axis=0)
        self._centred = real - self._mean
        _, spread, axes = np.linalg.svd(self._centred, full_matrices=False)
        self._factor = spread[:, None] / np.sqrt(len(real)) * axes

    def draw(self, count: int, seed: int) -> Vectors:
        """Unit rows, (count, d); the same for the same seed."""
        chance = np.random.default_rng(seed)
        first, second = chance.integers(len(self._centred), size=(2, count))
        noise = chance.standard_normal((count, len(self._factor)), np.float32) @ self._factor
        mixed = self._mean + _FIRST * self._centred[first] + _SECOND * self._centred[second] + _NOISE * noise
        return unit_rows(mixed.astype(np.float32))
