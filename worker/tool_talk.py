"""A model that writes its call of a tool into its words: none of that is spoken."""

import re
from typing import Final

_NAMES: Final = ("search_knowledge", "transfer_to_person")
_BEFORE_NAMES: Final = ("to=", "functions.", "function.", "default_api.")
_NAME: Final = re.compile(rf"(?:{'|'.join(map(re.escape, _BEFORE_NAMES))})*(?:{'|'.join(_NAMES)})\b\s*:?")
_FENCE: Final = re.compile(r"```(?:json|tool_call|tool_code)?|</?(?:tool_call|function)[^>]*>")
# What may be the beginning of any of these is held back until it is told.
_BEGINNING: Final = re.compile(r"(?:[`<][^>\s]*|[A-Za-z=._]+)$")


class ToolTalk:
    """Takes objects in braces and the names of tools out of words that come piece by piece."""

    def __init__(self) -> None:
        self._held = ""
        self._depth = 0

    def spoken(self, piece: str) -> str:
        """What of the words so far can be said now."""
        text = self._held + self._outside_braces(piece)
        beginning = _BEGINNING.search(text)
        self._held = ""
        if beginning and _may_begin(beginning.group()):
            text, self._held = text[: beginning.start()], beginning.group()
        return _clean(text)

    def rest(self) -> str:
        """What was held back, at the end."""
        text, self._held = _clean(self._held), ""
        return text

    def _outside_braces(self, text: str) -> str:
        kept = []
        for character in text:
            if character == "{":
                self._depth += 1
            elif character == "}" and self._depth:
                self._depth -= 1
            elif not self._depth:
                kept.append(character)
        return "".join(kept)


def _clean(text: str) -> str:
    return _FENCE.sub("", _NAME.sub("", text))


def _may_begin(text: str) -> bool:
    last = re.split(r"(?<=[=.])", text)[-1]
    return text[0] in "`<" or any(known.startswith(last) for known in (*_NAMES, *_BEFORE_NAMES))
