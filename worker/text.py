"""Text on its way to the sidecar, and the language that it is in."""

import unicodedata
from typing import Final

# The scripts of languages whose script tells them apart from a call's other language.
_SCRIPTS: Final = {
    "ARABIC": ("ar", "fa", "ps", "ur"),
    "CYRILLIC": ("be", "bg", "kk", "ky", "mk", "mn", "ru", "tg", "uk"),
    "LATIN": ("da", "de", "en", "es", "fi", "fr", "id", "it", "nl", "no", "pl", "pt", "sv", "tr"),
}
_SCRIPT_OF: Final = {code: script for script, codes in _SCRIPTS.items() for code in codes}


def storable(text: str) -> str:
    """The text without what JSON in UTF-8 or PostgreSQL cannot hold: NUL and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")


def says_something(text: str) -> bool:
    """Whether there is a letter or a digit in it, of any script."""
    return any(character.isalnum() for character in text)


def language_of(query: str, spoken: str | None) -> str | None:
    """The language to search in: the call's, unless the query cannot be in it.

    Args:
        query: what is asked.
        spoken: the language that the caller is heard in, an ISO 639 code, if it is known.

    Returns:
        `spoken`, or `None` where the query has letters but none of that language's script: the
        caller or the model changed the language, and the sidecar decides by the query.
    """
    script = _SCRIPT_OF.get(spoken or "")
    letters = [unicodedata.name(character, "") for character in query if character.isalpha()]
    if script and letters and not any(name.startswith(script) for name in letters):
        return None
    return spoken
