"""Language-centred vectors.

A multilingual embedder prefers passages in the query's own language so much that an answer in another is hardly found
(XQuAD, half English, half Arabic: R@5 .254 for Arabic questions with an English answer). Subtracting from each vector
most of the mean of its language removes that (.877), both when a passage is stored and when a query is embedded.

How much and which means was measured on XQuAD and CLINC; docs/search.md has the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import yaml

from retrieval_sidecar.embeddings.base import Vectors

# The centre for a language of which we know nothing.
ANY_LANGUAGE = "*"
# The share of a mean that is subtracted: all of it costs more within a language than it gains across.
_STRENGTH = 0.85
# How near to the corpus questions are expected, 0 being questions in general: in a language that it has, and in another
# one (XQuAD by meaning, Russian and Arabic questions to English passages, R@1 / R@5: .809 / .958 and .688 / .911 with a
# half, .815 / .961 and .691 / .915 with two thirds, .813 / .960 and .686 / .908 with all of it).
_NEAR_OWN, _NEAR_OTHERS = 1 / 2, 2 / 3
# A language's own mean is trusted as if so many more passages had voted for what is expected of it: the mean of three
# passages is mostly what those three are about.
_PRIOR_PASSAGES = 8
# The corpus changes with each document, and to centre anew rewrites every vector of a language: a centre stays until it
# is farther than this from what it would be now (vectors have length 1). That is a sixth of the 15 % of a mean that are
# left in, which cost or gain a point of R@1.
TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class Center:
    """What is subtracted from vectors of one language.

    Attributes:
        passages: how many stored passages are in it.
    """

    passages: int
    of_passages: Vectors
    of_queries: Vectors


@dataclass(frozen=True, slots=True)
class Mean:
    """What the stored passages of one language have in common.

    Attributes:
        passages: how many there are.
        vector: the mean of their unit vectors.
    """

    passages: int
    vector: Vectors


@cache
def language_samples() -> Mapping[str, Sequence[str]]:
    """The same sentences in each language, so that their means differ by the language alone."""
    text = files(__package__).joinpath("language_samples.yaml").read_text(encoding="utf-8")
    samples: dict[str, list[str]] = yaml.safe_load(text)
    return samples


def centers(
    stored: Mapping[str, Mean], sample_passages: Mapping[str, Vectors], sample_queries: Mapping[str, Vectors]
) -> dict[str, Center]:
    """The centres of every language that is stored or sampled, and of any other under ANY_LANGUAGE.

    Args:
        stored: the means of the corpus by language, as passages; not empty.
        sample_passages, sample_queries: unit rows of `language_samples`, embedded both ways.
    """
    corpus = _Corpus(stored)
    as_passages = {language: rows.mean(axis=0) for language, rows in sample_passages.items()}
    as_queries = {language: rows.mean(axis=0) for language, rows in sample_queries.items()}
    known = {}
    for language in {*stored, *as_queries}:
        # Without passages of its own a language is expected where the corpus is, moved by what sets it apart.
        expected = corpus.common + _apart(as_passages, language, corpus)
        mean = stored.get(language, Mean(0, expected))
        summed = mean.passages * mean.vector + _PRIOR_PASSAGES * expected
        own = np.asarray(summed / (mean.passages + _PRIOR_PASSAGES), np.float32)
        queries = own
        if language in as_queries:
            # Between questions in general and what this corpus is about.
            if mean.passages:
                near = _NEAR_OWN * (own - as_queries[language])
            else:
                near = -_NEAR_OTHERS * _apart_from(as_queries, corpus)
            queries = as_queries[language] + near
        known[language] = Center(mean.passages, _STRENGTH * own, _STRENGTH * queries)
    anywhere = _STRENGTH * corpus.common
    return known | {ANY_LANGUAGE: Center(corpus.passages, anywhere, anywhere)}


def has_drifted(kept: Center, now: Center) -> bool:
    """Whether a centre is so far from what it would be now that its vectors are to be centred anew."""
    moved = (kept.of_passages - now.of_passages, kept.of_queries - now.of_queries)
    return any(float(np.linalg.norm(each)) > TOLERANCE for each in moved)


class _Corpus:
    """The corpus as a whole, and the share of it that each language has."""

    def __init__(self, means: Mapping[str, Mean]) -> None:
        self.passages = sum(mean.passages for mean in means.values())
        self.shares = {language: mean.passages / self.passages for language, mean in means.items()}
        self.common: Vectors = sum(share * means[language].vector for language, share in self.shares.items())  # type: ignore[assignment]


def _apart(samples: Mapping[str, Vectors], language: str, corpus: _Corpus) -> Vectors:
    """What sets a language apart from the corpus's mixture of languages, by the samples; 0 where that is not known."""
    if language not in samples:
        return np.zeros_like(corpus.common)
    return samples[language] - _mixture(samples, corpus)


def _apart_from(as_queries: Mapping[str, Vectors], corpus: _Corpus) -> Vectors:
    """How far questions in the corpus's languages are from what is stored."""
    return _mixture(as_queries, corpus) - corpus.common


def _mixture(samples: Mapping[str, Vectors], corpus: _Corpus) -> Vectors:
    """The samples in the proportions of the corpus's languages; those without samples count as all of them."""
    everything = np.mean(list(samples.values()), axis=0)
    parts = [share * samples.get(language, everything) for language, share in corpus.shares.items()]
    return np.asarray(np.sum(parts, axis=0), np.float32)
