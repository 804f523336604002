"""Whether a text fits an embedder, counted in the embedder's own tokens."""

from retrieval_sidecar.embeddings.collection import CountsTokens

# Counting takes the local model's tokenizer five milliseconds a passage. No token of it crosses white space, so that
# the sum of a text's words, which are kept, is the same; where it comes near the limit, the text itself is counted.
_NEAR = 0.85
_LONGEST_KEPT = 40  # characters of a word
_MOST_KEPT = 100_000


class TokenLimit:
    """The longest text that one vector of an embedder stands for undiluted. Remembers words: one for a whole corpus."""

    def __init__(self, embedder: CountsTokens) -> None:
        self._embedder = embedder
        self._words: dict[str, int] = {}
        # What comes with every text; a letter is one token in any vocabulary.
        self._always = embedder.count_tokens("a") - 1

    def fits(self, text: str) -> bool:
        """Whether a text is within the embedder's limit."""
        estimate = self._always + sum(map(self._count, text.split()))
        if estimate <= _NEAR * self._embedder.max_tokens:
            return True
        return self._embedder.count_tokens(text) <= self._embedder.max_tokens

    def _count(self, word: str) -> int:
        kept = self._words.get(word)
        if kept is not None:
            return kept
        count = self._embedder.count_tokens(word) - self._always
        if len(word) <= _LONGEST_KEPT and len(self._words) < _MOST_KEPT:
            self._words[word] = count
        return count
