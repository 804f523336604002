"""An answer made of the returned content alone, for agents that speak without a language model."""

import re
from functools import cache
from itertools import pairwise

from semantic_text_splitter import TextSplitter

from retrieval_sidecar.text.languages import stop_words
from retrieval_sidecar.text.normalize import words

# Between paragraphs, and before an item of a list, a row of a table or a heading.
_BLOCK_END = re.compile(r"\n\s*\n|\n(?=\s*[-*•|#\d])")
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
def _pieces(longest: int) -> TextSplitter:
    """A range that begins at 1 makes each sentence a piece of its own, and cuts one that is longer than `longest`."""
    return TextSplitter((1, longest))


def cut(content: str, limit: int) -> str:
    """The content, ended at a sentence end if it is longer than `limit` characters.

    Within a sentence only where what is whole before it is less than half of the limit, a heading for instance.
    """
    if len(content) <= limit:
        return content
    # What decides about the place to cut at lies within twice the limit.
    beginning = content.strip()[: 2 * limit]
    whole = _end(beginning, 2 * limit, limit)
    return beginning[: whole if 2 * whole >= limit else _end(beginning, limit, limit)]


def _end(text: str, longest: int, limit: int) -> int:
    """Where the last sentence ends that is within the limit; one that is longer than `longest` is cut to pieces."""
    starts = [0, *(match.end() for match in _BLOCK_END.finditer(text)), len(text)]
    ends = (
        begin + start + len(piece)
        for begin, end in pairwise(starts)
        # Of the same length, but a line end within a block ends no sentence.
        for start, piece in _pieces(longest).chunk_indices(text[begin:end].replace("\n", " "))
    )
    return max((end for end in ends if end <= limit), default=0)


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
        (start, start + len(text), asked & set(words(text)))
        for start, text in _pieces(_LONGEST_ANSWER).chunk_indices(content)
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
