"""An answer made of the returned content alone, for agents that speak without a language model."""

from functools import cache

from semantic_text_splitter import TextSplitter

from retrieval_sidecar.text.languages import stop_words
from retrieval_sidecar.text.normalize import words

_LONGEST_ANSWER = 220  # characters: about fifteen seconds of speech

# Said before sentences in another language than the one asked in.
_FRAMES = {
    "ar": "لدي هذه المعلومة بلغة أخرى فقط:",
    "de": "Das habe ich nur in einer anderen Sprache:",
    "en": "I only have this in another language:",
    "es": "Solo tengo esto en otro idioma:",
    "fr": "Je n'ai ceci que dans une autre langue :",
    "kk": "Бұл ақпарат менде тек басқа тілде бар:",
    "ru": "Это есть у меня только на другом языке:",
    "tr": "Bu bilgi bende yalnızca başka bir dilde var:",
}


@cache
def _sentences() -> TextSplitter:
    """A range that begins at 1 makes each sentence a piece of its own, and cuts one that is too long to be said."""
    return TextSplitter((1, _LONGEST_ANSWER))


@cache
def _cutter(limit: int) -> TextSplitter:
    return TextSplitter(limit)


def cut(content: str, limit: int) -> str:
    """The content, ended at a sentence end if it is longer than `limit` characters."""
    return content if len(content) <= limit else next(iter(_cutter(limit).chunks(content)), "")


def answer_text(content: str, *, question: str, language: str, asked_in: str) -> str:
    """The sentences of a passage that answer a question: neighbours that together hold most of its words.

    Args:
        content: the best result's.
        language: of the content; a frame in `asked_in` stands before it where the two differ.
    """
    chosen = _best_neighbours(content, question, language)
    if language == asked_in:
        return chosen
    return f"{_FRAMES.get(asked_in, _FRAMES['en'])} {chosen}"


def _best_neighbours(content: str, question: str, language: str) -> str:
    asked = set(words(question)) - stop_words(language)
    sentences = [
        (start, start + len(text), asked & set(words(text))) for start, text in _sentences().chunk_indices(content)
    ]
    # Most of the question first, then the shortest, then the earliest.
    best, span = (0, 0), slice(0)
    for index, (start, _, _) in enumerate(sentences):
        shared: set[str] = set()
        for _, end, words_of_it in sentences[index:]:
            if end - start > _LONGEST_ANSWER:
                break
            shared |= words_of_it
            if (len(shared), start - end) > best:
                best, span = (len(shared), start - end), slice(start, end)
    # Across languages no word is shared, and what a text is about it says first.
    return content[span] or cut(content.strip(), _LONGEST_ANSWER)
