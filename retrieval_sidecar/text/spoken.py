"""The parts of a code as a caller says them: "pin forty-four x", "B for Bravo, double four", «две четвёрки икс»."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, product

from retrieval_sidecar.text.normalize import for_embedding
from retrieval_sidecar.text.numerals import read_by_library, read_by_words
from retrieval_sidecar.text.vocabulary import Vocabulary, folded, vocabulary

# What a part of a code may stand for, the likeliest first.
Part = tuple[str, ...]

PARTS = re.compile(r"[^\W_]+")
# As the library writes "forty-fourth": what is called by it is written 44.
_ORDINAL = re.compile(r"^(\d+)(?:st|nd|rd|th|er|ere|eme|e|o|a)$")
_LONGEST_LATIN = 5  # letters of a word that may be the name of a code's part in another script
_MAX_SPELLINGS = 4
_TIMES = frozenset("234")


def said_parts(text: str, language: str) -> list[Part]:
    """The parts of a text heard in a language, in order, each with all it may stand for in a code."""
    text = for_embedding(text).lower()
    words = PARTS.findall(folded(text))
    if (read := read_by_library(text, language)) != text:
        written = set(words)
        words = [word if word in written else _ORDINAL.sub(r"\1", word) for word in PARTS.findall(folded(read))]
    words = read_by_words(words, language)
    return list(_parts(words, [_meant(word, language) for word in words], vocabulary(language)))


def _parts(words: Sequence[str], meant: Sequence[Part], said: Vocabulary) -> Iterator[Part]:
    """What each word may stand for; joints left out, repetitions written out."""
    # The part last read, which a word after it may still repeat.
    before: Part = ()
    times = 1
    skip = 0
    for index, (word, part) in enumerate(zip(words, meant, strict=True)):
        if skip:
            skip -= 1
            continue
        count = int(before[0]) if before and before[0] in _TIMES else 0
        precedes_sign = index + 1 < len(words) and _is_sign(meant[index + 1])
        if word in said.joints:
            continue
        if count and word in said.digits:
            before = (str(said.digits[word]) * count,)
        elif count and word in said.times and precedes_sign:
            before, times = (), count
        elif before and word in said.repeated and _is_sign(before):
            before = _repeated(before, said.repeated[word])
        else:
            if before:
                yield before
            if word in said.repeat and precedes_sign:
                before, times = (), said.repeat[word]
            else:
                before, times = _repeated(part, times), 1
                skip = _such_as(words, index, part, said)
    if before:
        yield before


@lru_cache(maxsize=8192)
def _meant(word: str, language: str) -> Part:
    """All that one word may stand for in a code."""
    said = vocabulary(language)
    meant = [*said.letters.get(word, ())]
    if word in said.zeros:
        meant.insert(0, "0")
    if word in said.digits:
        meant.append(str(said.digits[word]))
    if not meant and len(word) <= _LONGEST_LATIN and said.latin:
        spellings = product(*(said.latin.get(char, (char,)) for char in word))
        meant += map("".join, islice(spellings, _MAX_SPELLINGS))
    # "Hotel" or «а» may be meant as it is; the name of a letter in another script is not.
    if not meant or word.isascii() or len(word) == 1:
        meant.append(word)
    return tuple(dict.fromkeys(meant))


def _is_sign(part: Part) -> bool:
    return len(part[0]) == 1


def _repeated(part: Part, times: int) -> Part:
    return tuple(each * times for each in part)


def _such_as(words: Sequence[str], index: int, part: Part, said: Vocabulary) -> int:
    """How many words after a letter only say which one it is: "as in Alpha" are three."""
    if not _is_sign(part) or part[0].isdigit():
        return 0
    for phrase in said.such_as:
        end = index + 1 + len(phrase)
        if end < len(words) and tuple(words[index + 1 : end]) == phrase:
            first = words[end][0]
            if first in part or any(latin in part for latin in said.latin.get(first, ())):
                return len(phrase) + 1
    return 0
