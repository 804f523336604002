"""What the model says, or what is said in its place: a turn never ends in silence."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Final, TypeAlias

from livekit.agents import FlushSentinel
from livekit.agents.llm import ChatChunk, ChatContext, ChatItem, ChatMessage

from worker.deadline import Deadline
from worker.tool_talk import ToolTalk

Chunk: TypeAlias = ChatChunk | str | FlushSentinel
BETWEEN_S: Final = 3.0  # once it speaks, between one word and the next
_TURN_S: Final = 0.7  # from the end of the caller's speech to the model's turn, counted on top of what the model has
_LEAST_S: Final = 1.2  # what a model has, however long the search before it took
NOT_HEARD: Final = (
    "The caller interrupted what you said last and has not heard it to its end. If it still matters, say it again."
)
NOT_TOLD: Final = "The caller has not been told this result yet."


def patience(reply_s: float, waited_s: float) -> float:
    """The seconds a model has to its first word, when the caller has waited for so many already."""
    return min(reply_s, max(_LEAST_S, reply_s + _TURN_S - waited_s))


async def reply(
    chunks: AsyncGenerator[Chunk, None],
    patience_s: float,
    report: Callable[[str | None], str | None],
    *,
    may_call: bool = True,
) -> AsyncGenerator[Chunk, None]:
    """The model's reply as it comes; where it fails, is late or says nothing, other words.

    Args:
        chunks: the model's.
        patience_s: seconds to its first word or call of a tool, retries and fallbacks included.
        report: takes the code of a failure, or `None` for a reply that came, and gives the words
            to say in its place; no words where somebody else speaks now.
        may_call: whether a call of a tool is carried out; it is not after the last step of a turn.
    """
    deadline = Deadline.after(patience_s)
    filtered = ToolTalk()
    told = called = False
    try:
        while True:
            async with asyncio.timeout(BETWEEN_S if told else deadline.remaining()):
                chunk = await anext(chunks, None)
            if chunk is None:
                break
            if isinstance(chunk, ChatChunk) and chunk.delta:
                called = called or bool(may_call and chunk.delta.tool_calls)
                chunk.delta.content = filtered.spoken(chunk.delta.content or "") or None
                told = told or called or bool(chunk.delta.content)
            yield chunk
        if rest := filtered.rest():
            told = True
            yield rest
        code = None if told else "empty"
    except Exception as error:  # noqa: BLE001 - whatever a provider's library raises, the caller hears words
        code = code_of(error)
    finally:
        await chunks.aclose()
    words = report(code)
    if code and words and not called:
        yield f" {words}" if told else words


def code_of(error: Exception) -> str:
    """A short code of a provider's error: the HTTP status where there is one, the provider's own, or its type."""
    # after the last try LiveKit raises an error of its own, from the provider's
    causes = (error, error.__cause__)
    status = next((s for each in causes if isinstance(s := getattr(each, "status_code", None), int) and s > 0), None)
    own = next((c for each in causes if isinstance(c := getattr(getattr(each, "body", None), "code", None), str)), None)
    return short_code(f"http_{status}" if status else own or type(error).__name__)


def short_code(code: str) -> str:
    """A provider's code as the timeline can hold it."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in code)[:64]


def with_notes(chat_ctx: ChatContext) -> ChatContext:
    """The conversation as the model should see it: what the caller has not heard is marked as that.

    LiveKit keeps of an interrupted answer the words that were heard, and of a result that came
    while the caller went on only the result: both would read as said. The notes are for one reply
    and are not kept.
    """
    noted = chat_ctx.copy()
    items: list[ChatItem] = []
    untold = False
    for item in noted.items:
        if untold and item.type == "message" and item.role == "user":
            items.append(_note(NOT_TOLD))
        items.append(item)
        if item.type == "function_call_output":
            untold = True
        elif item.type == "message":
            untold = False
            if item.role == "assistant" and item.interrupted:
                items.append(_note(NOT_HEARD))
    noted.items = items
    return noted


def _note(text: str) -> ChatMessage:
    return ChatMessage(role="system", content=[text])
