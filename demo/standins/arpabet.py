"""From espeak-ng's IPA to the 39 ARPAbet phones that pocketsphinx's English model knows.

So that any word espeak-ng can say, an invented name or a word of another language, gets a
pronunciation that the English acoustic model can look for. Sounds that English lacks go to the
nearest one it has; what has no sound of its own (a glottal stop, a length mark) is dropped.
"""

from typing import Final

PHONES: Final = frozenset(
    [
        "AA",
        "AE",
        "AH",
        "AO",
        "AW",
        "AY",
        "B",
        "CH",
        "D",
        "DH",
        "EH",
        "ER",
        "EY",
        "F",
        "G",
        "HH",
        "IH",
        "IY",
        "JH",
        "K",
        "L",
        "M",
        "N",
        "NG",
        "OW",
        "OY",
        "P",
        "R",
        "S",
        "SH",
        "T",
        "TH",
        "UH",
        "UW",
        "V",
        "W",
        "Y",
        "Z",
        "ZH",
    ]
)

_NEAREST: Final[dict[str, str]] = {
    # diphthongs, affricates and r-coloured vowels, before the sounds they begin with
    "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY", "ju": "Y UW",
    "tʃ": "CH", "dʒ": "JH", "tɕ": "CH", "ts": "T S", "əl": "AH L",
    "ɪɹ": "IH R", "ɔːɹ": "AO R", "ɑːɹ": "AA R", "ɛɹ": "EH R", "ʊɹ": "UH R",
    "iː": "IY", "uː": "UW", "ɜː": "ER", "ɔː": "AO", "ɑː": "AA", "aː": "AA",
    # vowels
    "a": "AA", "ɑ": "AA", "æ": "AE", "ə": "AH", "ɐ": "AH", "ʌ": "AH", "ɔ": "AO", "e": "EH",
    "ɛ": "EH", "ɚ": "ER", "ɜ": "ER", "ɵ": "ER", "ø": "ER", "œ": "ER", "i": "IY", "ɪ": "IH",
    "ᵻ": "IH", "y": "IH", "ɨ": "IH", "o": "OW", "u": "UW", "ʊ": "UH", "ɯ": "UH",
    # consonants
    "b": "B", "d": "D", "ɖ": "D", "ɾ": "D", "ð": "DH", "f": "F", "ɡ": "G", "ɣ": "G", "h": "HH",
    "x": "HH", "χ": "HH", "ħ": "HH", "ç": "HH", "j": "Y", "k": "K", "q": "K", "c": "K", "l": "L",
    "ɫ": "L", "ɭ": "L", "ʎ": "L", "m": "M", "n": "N", "ɲ": "N", "ŋ": "NG", "p": "P", "r": "R",
    "ɹ": "R", "ʁ": "R", "ɻ": "R", "s": "S", "ʃ": "SH", "ʂ": "SH", "ɕ": "SH", "t": "T", "ʈ": "T",
    "θ": "TH", "v": "V", "β": "V", "w": "W", "z": "Z", "ʒ": "ZH", "ʐ": "ZH", "ʕ": "AA",
}  # fmt: skip
_LONGEST: Final = max(map(len, _NEAREST))
_STRESS_AND_TIES: Final = str.maketrans("", "", "ˈˌʲ_")


def from_ipa(word: str) -> tuple[str, ...]:
    """The phones of one IPA word; empty when nothing of it has a sound in English."""
    word = word.translate(_STRESS_AND_TIES)
    phones: list[str] = []
    at = 0
    while at < len(word):
        for length in range(_LONGEST, 0, -1):
            if nearest := _NEAREST.get(word[at : at + length]):
                phones += nearest.split()
                at += length
                break
        else:
            at += 1
    return tuple(phones)
