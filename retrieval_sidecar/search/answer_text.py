"""An answer made of the returned content alone, for agents that speak without a language model."""

from functools import cache

from semantic_text_splitter import TextSplitter

from retrieval_sidecar.text.languages import stop_words
from retrieval_sidecar.text.normalize import words

_MAX_CHARACTERS = 1000
_SENTENCE_CHARACTERS = 320

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
    return TextSplitter((1, _SENTENCE_CHARACTERS))


@cache
def _cutter(limit: int) -> TextSplitter:
    return TextSplitter(limit)


def cut(content: str, limit: int) -> str:
    """The content, ended at a sentence end if it is longer than `limit` characters."""
    return content if len(content) <= limit else next(iter(_cutter(limit).chunks(content)), "")


def answer_text(content: str, *, question: str, language: str, asked_in: str) -> str:
    """The sentences of a passage that share most with the question; the whole of a short passage.

    Args:
        content: the best result's.
        language: of the content; a frame in `asked_in` stands before it where the two differ.
    """
    chosen = _best_part(content, question, language)
    if language == asked_in:
        return chosen
    return f"{_FRAMES.get(asked_in, _FRAMES['en'])} {chosen}"


def _best_part(content: str, question: str, language: str) -> str:
    content = content.strip()
    if len(content) <= _SENTENCE_CHARACTERS:
        return content
    asked = set(words(question)) - stop_words(language)
    parts = _sentences().chunks(content)
    best = max(range(len(parts)), key=lambda index: (len(asked & set(words(parts[index]))), -index))
    return cut(str(parts[best]), _MAX_CHARACTERS)
