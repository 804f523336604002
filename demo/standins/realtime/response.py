"""One response, event by event, as it comes over the wire."""

import asyncio
import base64
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final

from demo.standins.realtime.conversation import Conversation, Item
from demo.standins.realtime.model import RATE, Answer, Call, Model, ResponseFailedError

Send = Callable[..., Awaitable[None]]
_PIECE: Final = RATE // 5  # samples in a delta
_ERROR_TYPES: Final = {"rate_limit_exceeded": "tokens", "insufficient_quota": "insufficient_quota"}


class Response:
    """From `response.created` to `response.done`, whatever comes between.

    Args:
        send: takes the type of an event and its fields.
        conversation: what the response goes into.
        settings: the session's, with what this response has of its own.
        pieces: pieces of sound after which a fault begins; `None` for no such fault.
        fault: what happens then.
    """

    def __init__(
        self,
        send: Send,
        conversation: Conversation,
        model: Model,
        settings: dict[str, Any],
        *,
        pieces: int | None = None,
        fault: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.id = _new("resp")
        self.said = ""
        self.stopped_for: str | None = None
        self._send, self._conversation, self._model, self._settings = send, conversation, model, settings
        self._pieces, self._fault = pieces, fault
        self._output: list[Item] = []
        self._status: dict[str, Any] = {"type": "completed"}
        self._words = 0

    async def run(self, answer: Callable[[], Awaitable[Answer]]) -> None:
        """Send all of it; cancelling this task ends it as cancelled, if `stopped_for` says why."""
        await self._send("response.created", response=self._object("in_progress"))
        try:
            await self._fail_where_told()
            reply = await answer()
            if reply.text:
                await self._say(reply.text)
            for call in reply.calls:
                await self._call(call)
        except ResponseFailedError as failed:
            if failed.after:
                await self._say(failed.after)
            error = {"type": _ERROR_TYPES.get(failed.code, "server_error"), "code": failed.code}
            self._status = {"type": "failed", "error": error}
        except asyncio.CancelledError:
            if self.stopped_for is None:
                raise
            self._status = {"type": "cancelled", "reason": self.stopped_for}
        if self._status["type"] != "completed" and self._output and self._output[-1]["status"] == "in_progress":
            await self._finish(self._output[-1], "incomplete")
        status = self._status["type"]
        await self._send("response.done", response=self._object(status, self._status))

    async def _say(self, text: str) -> None:
        audio = self._modality == "audio"
        kind = "output_audio" if audio else "output_text"
        item = await self._begin({"type": "message", "role": "assistant", "content": []})
        at = self._at(item) | {"content_index": 0}
        part = {"type": "audio", "transcript": ""} if audio else {"type": "text", "text": ""}
        await self._send("response.content_part.added", **at, part=part)
        content = {"type": kind, ("transcript" if audio else "text"): ""}
        item["content"].append(content)
        if audio:
            await self._sound(text, item, at, content)
        else:
            for word in _words(text):
                content["text"] += word
                await self._send("response.output_text.delta", **at, delta=word)
            await self._send("response.output_text.done", **at, text=text)
        self.said += text
        part = {"type": "audio", "transcript": text} if audio else {"type": "text", "text": text}
        await self._send("response.content_part.done", **at, part=part)
        await self._finish(item, "completed")

    async def _sound(self, text: str, item: Item, at: dict[str, Any], content: dict[str, Any]) -> None:
        """The words ahead of the sound, and the sound as fast as it can be sent."""
        samples = await self._model.speak(text)
        for word in _words(text):
            content["transcript"] += word
            self._words += 1
            await self._send("response.output_audio_transcript.delta", **at, delta=word)
        for start in range(0, len(samples), _PIECE):
            piece = samples[start : start + _PIECE]
            await self._send("response.output_audio.delta", **at, delta=base64.b64encode(piece.tobytes()).decode())
            self._conversation.sound_ms[item["id"]] = (start + len(piece)) * 1000 // RATE
            if self._pieces is not None:
                self._pieces -= 1
            await self._fail_where_told()
        await self._send("response.output_audio.done", **at)
        await self._send("response.output_audio_transcript.done", **at, transcript=text)

    async def _call(self, call: Call) -> None:
        call_id = _new("call")
        item = await self._begin({"type": "function_call", "name": call.name, "call_id": call_id, "arguments": ""})
        at = self._at(item)
        await self._send("response.function_call_arguments.delta", **at, call_id=call_id, delta=call.arguments)
        item["arguments"] = call.arguments
        await self._send(
            "response.function_call_arguments.done",
            **at,
            call_id=call_id,
            name=call.name,
            arguments=call.arguments,
        )
        self._words += len(call.arguments.split())
        await self._finish(item, "completed")

    async def _begin(self, fields: dict[str, Any]) -> Item:
        item = {"id": _new("item"), "object": "realtime.item", "status": "in_progress", **fields}
        self._output.append(item)
        await self._send("response.output_item.added", **self._of(item), item=self._conversation.shown(item))
        before = self._conversation.add(item)
        shown = self._conversation.shown(item)
        await self._send("conversation.item.added", previous_item_id=before, item=shown)
        return item

    async def _finish(self, item: Item, status: str) -> None:
        item["status"] = status
        shown = self._conversation.shown(item)
        await self._send("response.output_item.done", **self._of(item), item=shown)
        before = self._conversation.before(item)
        await self._send("conversation.item.done", previous_item_id=before, item=shown)

    async def _fail_where_told(self) -> None:
        if self._pieces == 0 and self._fault:
            self._pieces = None
            await self._fault()

    @property
    def _modality(self) -> str:
        return str((self._settings.get("output_modalities") or ["audio"])[0])

    def _of(self, item: Item) -> dict[str, Any]:
        return {"response_id": self.id, "output_index": self._output.index(item)}

    def _at(self, item: Item) -> dict[str, Any]:
        return {**self._of(item), "item_id": item["id"]}

    def _object(self, status: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": status,
            "status_details": None if status in {"completed", "in_progress"} else details,
            "output": [self._conversation.shown(item) for item in self._output],
            "conversation_id": self._settings["conversation_id"],
            "output_modalities": [self._modality],
            "max_output_tokens": self._settings.get("max_output_tokens", "inf"),
            "metadata": self._settings.get("metadata"),
            "usage": None if status == "in_progress" else self._usage(),
        }

    def _usage(self) -> dict[str, Any]:
        """Words, where a model would count tokens: there is no tokenizer."""
        heard = sum(
            len(str(part.get("transcript") or part.get("text") or "").split())
            for item in self._conversation.items
            for part in item.get("content", ())
        )
        return {
            "total_tokens": heard + self._words,
            "input_tokens": heard,
            "output_tokens": self._words,
            "input_token_details": {"text_tokens": heard, "audio_tokens": 0, "cached_tokens": 0},
            "output_token_details": {"text_tokens": self._words, "audio_tokens": 0},
        }


def _words(text: str) -> list[str]:
    """With their spaces, so that they are the text when put together."""
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def _new(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"
