"""Which sentences of a passage answer a question: by the words they share, kept exactly as written."""

import re
from itertools import pairwise
from typing import Final

_ABBREVIATION = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|St|No|vs|e\.g|i\.e|г|ул|им|руб|тг)\.$")
_SENTENCE_END = re.compile(r"(?<=[.!?؟。])\s+|\n+")
_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS: Final = frozenset(
    _WORD.findall(
        "a an and are can could do does for from have how i in is it me my of on or please s t tell that the there "
        "to was what when where which who why will with would you your "
        "в вы где для и или как какая какие какой когда кто ли мне можно на не о от по при с что это я "
        "في من على ما ماذا هل هو هي كم كيف متى أين عن إلى"
    )
)
_ASKS_FOR_A_NUMBER = re.compile(
    r"\b(?:how (?:much|many|long|far|old)|what time|when|costs?|price|fee|code|number|hours|"
    r"сколько|когда|цена|стоимость|номер|код|во сколько|қанша|қашан)\b|كم|متى|رقم|سعر|ساعات",
    re.IGNORECASE,
)
_LONGEST = 300  # characters: what a person still follows on the phone


def best_sentences(question: str, content: str) -> str:
    """The one or two sentences of the content that fit the question best, in their order.

    With no word in common, as across languages, it is the first sentence, or the first that holds
    a number when a number is asked for.
    """
    sentences = split_sentences(content)
    if not sentences:
        return ""
    asked = words(question)
    wants_number = bool(_ASKS_FOR_A_NUMBER.search(question))

    def fit(index: int) -> tuple[float, int]:
        shared = sum(any(same_word(a, b) for b in words(sentences[index])) for a in asked)
        has_number = any(c.isdigit() for c in sentences[index])
        return shared + (0.75 if wants_number and has_number else 0.0), -index

    ranked = sorted(range(len(sentences)), key=fit, reverse=True)
    chosen = ranked[:1]
    for other in ranked[1:2]:
        total = len(sentences[chosen[0]]) + len(sentences[other])
        if fit(other)[0] >= 1 and total <= _LONGEST:
            chosen.append(other)
    return " ".join(sentences[i] for i in sorted(chosen))


def split_sentences(text: str) -> list[str]:
    """Sentences and lines, without blank ones; "Dr. Ray" is not split."""
    parts: list[str] = []
    cuts = [0, *(m.end() for m in _SENTENCE_END.finditer(text)), len(text)]
    for start, end in pairwise(cuts):
        part = text[start:end].strip()
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += f" {part}"
        elif part:
            parts.append(part)
    return parts


def words(text: str) -> list[str]:
    """Case-folded words that carry meaning, each once, in order."""
    found = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(w for w in found if w not in _STOP_WORDS))


def same_word(a: str, b: str) -> bool:
    """Equal, or alike but for their endings: "cost" and "costs", "приём" and "приёма"."""
    if a == b:
        return True
    if any(c.isdigit() for c in a + b) or min(len(a), len(b)) < 4:
        return False
    common = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    stem = min(len(a), len(b)) if common is None else common
    return stem >= 4 and max(len(a), len(b)) - stem <= 3
