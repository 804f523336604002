"""Numbers in words, as digits: "forty-four", «сорок четыре», "أربعة وأربعون"."""

from dataclasses import dataclass

from text_to_num import alpha2digit

from retrieval_sidecar.text.vocabulary import Vocabulary, vocabulary

_BY_LIBRARY = frozenset({"de", "en", "es", "fr", "it", "pt"})
_THOUSAND, _MILLION = 1000, 1_000_000


def read_by_library(text: str, language: str) -> str:
    """A text with its number words as digits, if a library reads the language; else as it is."""
    return str(alpha2digit(text, language, 0)) if language in _BY_LIBRARY else text


def read_by_words(parts: list[str], language: str) -> list[str]:
    """The folded words of a text, those of numbers as digits, if the vocabulary has the language's; else as they are.

    Each number is read as far as its words go: «сорок четыре» is 44, «четыре сорок» 4 and 40.
    """
    said = vocabulary(language)
    if not said.numbers:
        return parts
    found: list[str] = []
    number = _Number(said)
    for index, part in enumerate(parts):
        value, is_joined = _value(part, said)
        if value is None:
            if part == said.joining and number and index + 1 < len(parts) and parts[index + 1] in said.numbers:
                number.is_joined = True
                continue
            found += number.taken()
            found.append(part)
        elif not number.add(value, is_joined=is_joined):
            found += number.taken()
            number.add(value, is_joined=False)
    return found + number.taken()


def _value(part: str, said: Vocabulary) -> tuple[int | None, bool]:
    """The value of a number's word, and whether it is joined to the one before."""
    if part in said.numbers or said.joining is None or not part.startswith(said.joining):
        return said.numbers.get(part), False
    value = said.numbers.get(part.removeprefix(said.joining))
    return value, value is not None


@dataclass(slots=True)
class _Number:
    """A number while its words come in: thousands that are complete, and the group below a thousand that is not."""

    said: Vocabulary
    thousands: int = 0
    group: int = 0
    has_words: bool = False
    is_joined: bool = False

    def __bool__(self) -> bool:
        return self.has_words

    def add(self, value: int, *, is_joined: bool) -> bool:
        """Take another word in; False if the number ends before it."""
        is_joined, self.is_joined = is_joined or self.is_joined, False
        if self.has_words and not self._goes_on(value, is_joined=is_joined):
            return False
        if value >= _THOUSAND:
            self.thousands += max(1, self.group) * value if value in (_THOUSAND, _MILLION) else value
            self.group = 0
        elif value == 100 and 0 < self.group < 10:
            self.group *= value
        else:
            self.group += value
        self.has_words = True
        return True

    def taken(self) -> list[str]:
        """The number as digits, if there is one; the next begins afresh."""
        digits = [str(self.thousands + self.group)] if self.has_words else []
        self.thousands = self.group = 0
        self.has_words = self.is_joined = False
        return digits

    def _goes_on(self, value: int, *, is_joined: bool) -> bool:
        if value == 0 or self.thousands + self.group == 0:
            return False
        if value >= _THOUSAND:
            unit = _MILLION if value == _MILLION else _THOUSAND
            is_counted = value == unit and self.group > 0
            return (is_counted or (self.group == 0 and self.thousands > value)) and self.thousands % (unit * 1000) == 0
        below = self.group % 100
        if value >= 100:
            return self.group == 0 or (value == 100 and 1 < self.group < 10)
        if value >= 10:
            # "أربعة وأربعون": four and forty; "خمسة عشر": five ten.
            is_backwards = self.said.joining is not None and 0 < below < 10
            return below == 0 or (is_backwards and (value == 10 or (is_joined and value >= 20)))
        # Where eleven has a word of its own, ten and one are two numbers.
        return below == 0 or (below % 10 == 0 and (below > 10 or 11 not in self.said.numbers.values()))
