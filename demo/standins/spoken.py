"""What is said when a written text is read out: pieces of one language, codes and prices in words.

A written "PIN-44-X" would be read as "P I N minus forty-four X", and "4 500 ₸" as two numbers.
"""

import re
from dataclasses import dataclass
from typing import Final

# Voice of a script. Latin text is read as English: the stand-in has no language detector.
_SCRIPTS: Final = (
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("cmn", re.compile(r"[\u4e00-\u9fff]")),
)
_KAZAKH = re.compile(r"[әғқңөұүһӘҒҚҢӨҰҮҺ]")
_DEFAULT: Final = "en-us"

_CURRENCIES: Final[dict[str, dict[str, str]]] = {
    "$": {"en-us": "dollars", "ru": "долларов", "kk": "доллар", "ar": "دولار"},
    "€": {"en-us": "euros", "ru": "евро", "kk": "еуро", "ar": "يورو"},
    "£": {"en-us": "pounds", "ru": "фунтов", "kk": "фунт", "ar": "جنيه"},
    "₹": {"en-us": "rupees", "ru": "рупий", "kk": "рупия", "ar": "روبية"},
    "₸": {"en-us": "tenge", "ru": "тенге", "kk": "теңге", "ar": "تنغي"},
    "₽": {"en-us": "roubles", "ru": "рублей", "kk": "рубль", "ar": "روبل"},
}
_AMOUNT = r"\d+(?:[.,]\d+)?"
_PREFIXED = re.compile(rf"([$€£₹₸₽])\s?({_AMOUNT})")
_SUFFIXED = re.compile(rf"({_AMOUNT})\s?([$€£₹₸₽])")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ ,\u00a0\u202f]\d{3})+(?!\d)")
_GROUP_MARK = re.compile(r"[ ,\u00a0\u202f]")
_CODE = re.compile(r"(?<!\w)(?=[\w-]*[^\W\d_])(?=[\w-]*\d)[A-ZА-ЯЁ\d]+(?:-[A-ZА-ЯЁ\d]+)+(?!\w)")
_LONG_NUMBER = re.compile(r"\+?\d{7,}|(?<!\d)0\d{2,}")
_VOWEL = re.compile(r"[AEIOUYАЕЁИОУЫЭЮЯ]")


@dataclass(frozen=True)
class Piece:
    """A run of text in one language: `voice` is an espeak-ng voice name without a variant."""

    text: str
    voice: str


def pieces(text: str) -> list[Piece]:
    """The text in the order it is spoken, each piece with its voice; empty when nothing is said."""
    runs: list[Piece] = []
    for word in re.findall(r"\S+\s*", text):
        voice = _voice_of(word)
        if runs and voice in (None, runs[-1].voice):
            runs[-1] = Piece(runs[-1].text + word, runs[-1].voice)
        elif runs and runs[-1].voice == "":
            runs[-1] = Piece(runs[-1].text + word, voice or "")
        else:
            runs.append(Piece(word, voice or ""))
    return [
        Piece(_in_words(run.text.strip(), voice), voice)
        for run in runs
        if any(c.isalnum() for c in run.text)
        for voice in [_refine(run)]
    ]


def _voice_of(word: str) -> str | None:
    """The voice that the first letter asks for; None where there is no letter."""
    for character in word:
        for voice, script in _SCRIPTS:
            if script.match(character):
                return voice
        if character.isalpha():
            return _DEFAULT
    return None


def _refine(run: Piece) -> str:
    if run.voice == "ru" and _KAZAKH.search(run.text):
        return "kk"
    return run.voice or _DEFAULT


def _in_words(text: str, voice: str) -> str:
    text = _GROUPED.sub(lambda m: _GROUP_MARK.sub("", m[0]), text)
    text = _PREFIXED.sub(lambda m: _money(m[2], m[1], voice), text)
    text = _SUFFIXED.sub(lambda m: _money(m[1], m[2], voice), text)
    text = _CODE.sub(lambda m: " ".join(_code_part(part) for part in m[0].split("-")), text)
    return _LONG_NUMBER.sub(lambda m: " ".join(m[0].lstrip("+")), text)


def _money(amount: str, sign: str, voice: str) -> str:
    unit = _CURRENCIES[sign].get(voice, _CURRENCIES[sign][_DEFAULT])
    whole, _, rest = amount.replace(",", ".").partition(".")
    return f"{whole} {unit} {rest}" if rest.strip("0") else f"{whole} {unit}"


def _code_part(part: str) -> str:
    """How it is said: PIN as a word, QT and X as letters, 44 as a number."""
    if part.isdigit():
        return part
    if part.isalpha() and len(part) > 2 and _VOWEL.search(part):
        return part.lower()
    return " ".join(part)
