"""Language-centred vectors.

A multilingual embedder prefers passages in the query's own language so much that an answer in another is hardly found
(XQuAD, half English, half Arabic: R@5 .267 for Arabic questions with an English answer). Subtracting from each vector
the mean of its language removes that (.877), both when a passage is stored and when a query is embedded.
"""

from collections.abc import Mapping

import numpy as np

from retrieval_sidecar.embeddings.base import Vectors, unit_rows

# The mean over all languages, for a language of which nothing is stored.
ANY_LANGUAGE = "*"
# A language's own mean is trusted as if so many more passages had voted for the common one: the mean of three passages
# is mostly what those three are about.
_PRIOR_PASSAGES = 8
_ROUNDING = 1e-3


def language_means(vectors: Mapping[str, Vectors]) -> dict[str, Vectors]:
    """The mean of each language, shrunk towards the mean of all; that one stands under `ANY_LANGUAGE`.

    Args:
        vectors: unit rows by language, (n, dimensions) each.
    """
    if not vectors:
        return {}
    common = np.concatenate(list(vectors.values())).mean(axis=0)
    means = {
        language: (rows.sum(axis=0) + _PRIOR_PASSAGES * common) / (len(rows) + _PRIOR_PASSAGES)
        for language, rows in vectors.items()
    }
    return means | {ANY_LANGUAGE: common}


def center(vector: Vectors, mean: Vectors) -> Vectors:
    """A unit vector without what its language has in common; zero where nothing else is left of it."""
    rest = vector - mean
    # Where all texts are alike, the rest is rounding: made a unit vector, it would point anywhere.
    return unit_rows(np.where(np.linalg.norm(rest, axis=-1, keepdims=True) < _ROUNDING, 0, rest))
