"""An extractive responder in place of a language model.

It understands nothing. It hands what the caller said to `search_knowledge`, reads out sentences
of what came back, unchanged, and says one of a few fixed sentences where nothing came back. It
follows no instructions, neither the system prompt's nor a retrieved passage's, and cannot invent.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from demo.standins.passages import best_sentences
from demo.standins.phrases import Phrases, phrases_for
from demo.standins.spoken import pieces

SEARCH_TOOL: Final = "search_knowledge"

# What needs no search, most telling first: "okay, thank you, bye" is a goodbye.
_SMALL_TALK: Final = {
    "goodbye": r"good ?bye|bye|that(?:'s| is| will be) all|до свидания|пока|сау болыңыз|مع السلامة|وداعا",
    "thanks": r"thanks|thank you|спасибо|рахмет|شكرا",
    "greeting": (
        r"hello|hi|hey|good (?:morning|afternoon|evening)|здравствуйте|привет|добрый (?:день|вечер)"
        r"|сәлеметсіз бе|сәлем|مرحبا|السلام عليكم"
    ),
    "anything_else": (
        r"ok|okay|yes|yeah|no|all right|right|sure|mm[- ]?hm|uh[- ]?huh|да|нет|хорошо|ладно|понятно"
        r"|иә|жоқ|жақсы|نعم|لا|حسنا|طيب"
    ),
    "filler": r"very much|so much|a lot|there|again|большое|вам|جزيلا",
}
_SMALL_TALK_PHRASE = re.compile(
    "(?:" + "|".join(f"(?P<{name}>{phrases})" for name, phrases in _SMALL_TALK.items()) + r")\b[\s,.!؟?]*",
    re.IGNORECASE,
)


class Message(BaseModel):
    """A message of the chat completions request; only what the responder reads."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return " ".join(str(part.get("text", "")) for part in self.content).strip()
        return (self.content or "").strip()


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str = "knowledge"
    content: str = ""


class _ToolOutput(BaseModel):
    model_config = ConfigDict(extra="ignore")

    status: str
    results: list[_Result] = []
    answer_text: str | None = None
    suggested_reply: str | None = None


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Search:
    query: str


Reply = Say | Search


def respond(messages: Sequence[Message], *, can_search: bool) -> Reply:
    """The next turn: a sentence to say, or a search to make.

    Args:
        messages: the conversation so far, oldest first; the last one is answered.
        can_search: whether `search_knowledge` may be called now.
    """
    question = next((m.text for m in reversed(messages) if m.role == "user" and m.text), "")
    phrases = phrases_for(_language(question))
    last = next((m for m in reversed(messages) if m.role in ("user", "tool")), None)
    if last is None or not question:
        return Say(phrases.greeting)
    if last.role == "tool":
        return Say(_read_out(last.text, question, phrases))
    small_talk = _small_talk(last.text)
    if small_talk == "anything_else" and (pending := _unanswered(messages)) and can_search:
        return Search(pending)
    if small_talk:
        return Say(str(getattr(phrases, small_talk)))
    return Search(last.text) if can_search else Say(phrases.no_tool)


def _read_out(output: str, question: str, phrases: Phrases) -> str:
    found = _parse(output) or _ToolOutput(status="unavailable")
    match found.status:
        case "ok":
            return _answer(found, question) or f"{phrases.not_known} {phrases.person}"
        case "no_match" | "restricted_empty":
            own = phrases.not_known
        case "invalid_query":
            own = phrases.say_again
        case _:
            own = phrases.not_now
    suggested = (found.suggested_reply or "").strip()
    refusal = suggested if suggested and _language(suggested) == _language(question) else own
    return refusal if refusal.endswith(("?", "؟")) else f"{refusal} {phrases.person}"


def _answer(found: _ToolOutput, question: str) -> str:
    if found.answer_text and found.answer_text.strip():
        return found.answer_text.strip()
    # An instruction tells an agent how to behave; read out, it would be no answer.
    best = next((r.content for r in found.results if r.type == "knowledge"), "")
    return best_sentences(question, best)


def _parse(output: str) -> _ToolOutput | None:
    try:
        return _ToolOutput.model_validate_json(output[output.find("{") : output.rfind("}") + 1])
    except ValidationError:
        return None


def _unanswered(messages: Sequence[Message]) -> str | None:
    """What was asked when the last look-up broke off, since "okay" to that means "go on"."""
    outputs = [i for i, m in enumerate(messages) if m.role == "tool"]
    if not outputs:
        return None
    found = _parse(messages[outputs[-1]].text)
    if found is None or found.status != "aborted":
        return None
    asked = [m.text for m in messages[: outputs[-1]] if m.role == "user" and m.text]
    return asked[-1] if asked else None


def _small_talk(text: str) -> str | None:
    kinds, at = set(), 0
    while at < len(text):
        phrase = _SMALL_TALK_PHRASE.match(text, at)
        if phrase is None:
            return None
        kinds.add(phrase.lastgroup)
        at = phrase.end()
    return next((kind for kind in _SMALL_TALK if kind in kinds and kind != "filler"), None)


def _language(text: str) -> str:
    spoken = pieces(text)
    return max(spoken, key=lambda piece: len(piece.text)).voice if spoken else ""


def search_arguments(search: Search) -> str:
    """The tool call's arguments, as JSON."""
    return json.dumps({"query": search.query}, ensure_ascii=False)
