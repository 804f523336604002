"""One connection to the realtime stand-in: the client's events in, the server's events out."""

import asyncio
import base64
import binascii
import contextlib
import json
import uuid
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any, Final

import numpy as np
from aiohttp import ClientConnectionResetError, WSMsgType, web
from openai.types.realtime import RealtimeClientEvent
from pydantic import TypeAdapter, ValidationError

from demo.audio import Samples
from demo.standins.faults import Endpoint, Fault, Faults
from demo.standins.journal import Journal
from demo.standins.realtime.conversation import Conversation, Item, RefusedError
from demo.standins.realtime.ears import InputBuffer, SpeechStarted, SpeechStopped, TurnDetection
from demo.standins.realtime.model import RATE, Answer, Model, ResponseFailedError
from demo.standins.realtime.response import Response

_Handler = Callable[[dict[str, Any]], Awaitable[None]]
_EVENTS: Final[TypeAdapter[Any]] = TypeAdapter(RealtimeClientEvent)
_LEAST_MS: Final = 100  # that can be committed
_LARGEST_AUDIO: Final = 15 * 1024 * 1024
_CODES: Final = {401: "invalid_api_key", 402: "insufficient_quota", 429: "rate_limit_exceeded"}
_PCM: Final = {"type": "audio/pcm", "rate": RATE}
_SETTINGS: Final[dict[str, Any]] = {
    "type": "realtime",
    "object": "realtime.session",
    "output_modalities": ["audio"],
    "instructions": "",
    "tools": [],
    "tool_choice": "auto",
    "max_output_tokens": "inf",
    "audio": {
        "input": {
            "format": _PCM,
            "transcription": None,
            "noise_reduction": None,
            "turn_detection": {"type": "server_vad"},
        },
        "output": {"format": _PCM, "voice": "standin-voice", "speed": 1.0},
    },
}


class Session:
    """Serves one socket until either side closes it.

    Args:
        name: the model that was asked for.
    """

    def __init__(
        self, socket: web.WebSocketResponse, model: Model, name: str, faults: Faults, journal: Journal
    ) -> None:
        self._socket, self._model, self._faults, self._journal = socket, model, faults, journal
        self._settings = {"id": f"sess_{uuid.uuid4().hex}", "model": name, **deepcopy(_SETTINGS)}
        self._conversation = Conversation()
        self._conversation_id = f"conv_{uuid.uuid4().hex[:21]}"
        self._buffer = InputBuffer()
        self._hearing: dict[str, asyncio.Task[str]] = {}
        self._next_item: str | None = None  # the id that detected speech will have
        self._response: tuple[Response, asyncio.Task[None]] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handlers: dict[str, _Handler] = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._commit,
            "input_audio_buffer.clear": self._clear,
            "conversation.item.create": self._create_item,
            "conversation.item.retrieve": self._retrieve_item,
            "conversation.item.delete": self._delete_item,
            "conversation.item.truncate": self._truncate_item,
            "response.create": self._create_response,
            "response.cancel": self._cancel_response,
        }

    async def run(self) -> None:
        """Answer events until the socket closes."""
        try:
            await self._send("session.created", session=self._settings)
            async for message in self._socket:
                if message.type == WSMsgType.TEXT:
                    await self._handle(message.data)
        except ClientConnectionResetError:
            pass  # the client hung up while it was being answered
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _handle(self, data: str) -> None:
        event_id = None
        try:
            event = _parsed(data)
            event_id = event.get("event_id")
            await self._handler(event)(event)
        except RefusedError as refused:
            await self._error(str(refused), refused.code, refused.param, event_id)

    def _handler(self, event: dict[str, Any]) -> _Handler:
        kind = str(event.get("type"))
        if kind not in self._handlers:
            known = ", ".join(self._handlers)
            message = f"Invalid value: '{kind}'. Supported values are: {known}."
            raise RefusedError(message, code="invalid_value", param="type")
        try:
            _EVENTS.validate_python(event)
        except ValidationError as invalid:
            where = ".".join(str(part) for part in invalid.errors(include_input=False)[0]["loc"][1:])
            raise RefusedError("Invalid event.", code="invalid_value", param=where or None) from None
        return self._handlers[kind]

    async def _error(
        self, message: str, code: str | None, param: str | None = None, event_id: str | None = None
    ) -> None:
        kind = code if code == "insufficient_quota" else "invalid_request_error"
        error = {"type": kind, "code": code, "message": message, "param": param, "event_id": event_id}
        await self._send("error", error=error)

    async def _send(self, kind: str, **fields: Any) -> None:
        await self._socket.send_json({"type": kind, "event_id": f"event_{uuid.uuid4().hex[:21]}", **fields})

    async def _update(self, event: dict[str, Any]) -> None:
        update = event["session"]
        if update.get("type") != "realtime":
            raise RefusedError(
                "Only sessions of type 'realtime' are served.", code="invalid_value", param="session.type"
            )
        settings = _merged(self._settings, update)
        for side in ("input", "output"):
            if settings["audio"][side]["format"].get("type") != _PCM["type"]:
                raise RefusedError("Only audio/pcm is spoken here.", param=f"session.audio.{side}.format")
        self._settings = settings
        await self._send("session.updated", session=settings)

    async def _append(self, event: dict[str, Any]) -> None:
        self._buffer.append(_samples(event["audio"]))
        detection = self._detection
        while detection and (found := self._buffer.detect(detection)):
            await self._take_turn(found, detection)

    async def _take_turn(self, found: SpeechStarted | SpeechStopped, detection: TurnDetection) -> None:
        if isinstance(found, SpeechStarted):
            self._next_item = _new_item()
            await self._send("input_audio_buffer.speech_started", audio_start_ms=found.ms, item_id=self._next_item)
            if detection.interrupt_response:
                self._stop("turn_detected")
            return
        item_id = self._next_item or _new_item()
        self._next_item = None
        await self._send("input_audio_buffer.speech_stopped", audio_end_ms=found.ms, item_id=item_id)
        await self._heard(found.samples, item_id)
        if detection.create_response and self._response is None:
            self._start_response({})

    async def _commit(self, _event: dict[str, Any]) -> None:
        if self._buffer.ms < _LEAST_MS:
            raise RefusedError(
                f"Error committing input audio buffer: buffer too small. Expected at least {_LEAST_MS}ms of audio,"
                f" but buffer only has {self._buffer.ms}.00ms of audio.",
                code="input_audio_buffer_commit_empty",
            )
        await self._heard(self._buffer.take(), _new_item())

    async def _clear(self, _event: dict[str, Any]) -> None:
        self._buffer.take()
        await self._send("input_audio_buffer.cleared")

    async def _heard(self, samples: Samples, item_id: str) -> None:
        before = self._conversation.last_id
        await self._send("input_audio_buffer.committed", previous_item_id=before, item_id=item_id)
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": item_id, "type": "message", "role": "user", "status": "completed", "content": content}
        await self._add(item)
        self._hearing[item_id] = self._start(self._hear(samples, item))

    async def _hear(self, samples: Samples, item: Item) -> str:
        with self._journal.record("recognition") as entry:
            text = await self._model.hear(samples)
            entry.update(text=text, audio_seconds=round(len(samples) / RATE, 3))
        item["content"][0]["transcript"] = text
        if self._settings["audio"]["input"]["transcription"]:  # which a model of its own writes, beside the answer
            self._start(self._transcribed(item["id"], text, len(samples) / RATE))
        return text

    async def _transcribed(self, item_id: str, text: str, seconds: float) -> None:
        at = {"item_id": item_id, "content_index": 0}
        kind = "conversation.item.input_audio_transcription"
        fault = self._faults.take(Endpoint.TRANSCRIPTIONS)
        if fault:
            await asyncio.sleep(fault.delay)
        if fault and fault.status:
            error = {"type": "server_error", "code": "fault_injected", "message": "a fault that was asked for"}
            await self._send(f"{kind}.failed", **at, error=error)
            return
        if text:
            await self._send(f"{kind}.delta", **at, delta=text)
        usage = {"type": "duration", "seconds": seconds}
        await self._send(f"{kind}.completed", **at, transcript=text, usage=usage)

    async def _create_item(self, event: dict[str, Any]) -> None:
        item = {"id": _new_item(), **{name: value for name, value in event["item"].items() if value is not None}}
        await self._add(item, event.get("previous_item_id"))

    async def _add(self, item: Item, after: str | None = None) -> None:
        item.update(object="realtime.item", status="completed")
        before = self._conversation.add(item, after)
        shown = self._conversation.shown(item)
        for step in ("added", "done"):
            await self._send(f"conversation.item.{step}", previous_item_id=before, item=shown)

    async def _retrieve_item(self, event: dict[str, Any]) -> None:
        await self._send("conversation.item.retrieved", item=self._conversation.get(event["item_id"]))

    async def _delete_item(self, event: dict[str, Any]) -> None:
        self._conversation.delete(event["item_id"])
        await self._send("conversation.item.deleted", item_id=event["item_id"])

    async def _truncate_item(self, event: dict[str, Any]) -> None:
        at = {name: event[name] for name in ("item_id", "content_index", "audio_end_ms")}
        self._conversation.truncate(at["item_id"], at["audio_end_ms"])
        await self._send("conversation.item.truncated", **at)

    async def _create_response(self, event: dict[str, Any]) -> None:
        if self._response:
            raise RefusedError(
                "Conversation already has an active response in progress:"
                f" {self._response[0].id}. Wait until the response is finished before creating a new one.",
                code="conversation_already_has_active_response",
            )
        self._start_response(event.get("response") or {})

    async def _cancel_response(self, event: dict[str, Any]) -> None:
        wanted = event.get("response_id")
        if self._response is None or (wanted and wanted != self._response[0].id):
            raise RefusedError("Cancellation failed: no active response found", code="response_cancel_not_active")
        self._stop("client_cancelled")

    def _stop(self, reason: str) -> None:
        if self._response:
            response, task = self._response
            response.stopped_for = reason
            task.cancel()

    def _start_response(self, own: dict[str, Any]) -> None:
        given = {name: value for name, value in own.items() if value is not None}
        settings = {**self._settings, **given, "conversation_id": self._conversation_id}
        fault = self._faults.take(Endpoint.RESPONSE)
        response = Response(
            self._send,
            self._conversation,
            self._model,
            settings,
            pieces=fault.after if fault else None,
            fault=(lambda: self._misbehave(fault)) if fault else None,
        )
        task = self._start(self._respond(response, settings))
        self._response = response, task

    async def _respond(self, response: Response, settings: dict[str, Any]) -> None:
        async def answer() -> Answer:
            for heard in list(self._hearing.values()):
                await heard
            callable_now = settings["tools"] if settings["tool_choice"] != "none" else []
            tools = frozenset(tool.get("name", "") for tool in callable_now)
            with self._journal.record("completion") as entry:
                reply = await self._model.answer(settings["instructions"], self._conversation.items, tools)
                entry.update({"text": reply.text} if reply.text else {"calls": [call.name for call in reply.calls]})
            return reply

        try:
            with contextlib.suppress(ClientConnectionResetError):
                await response.run(answer)
        finally:
            if self._response and self._response[0] is response:
                self._response = None

    async def _misbehave(self, fault: Fault) -> None:
        await asyncio.sleep(fault.delay)
        if fault.drop:
            await self._socket.close(code=1011)
            await asyncio.Event().wait()  # until the session ends, which is now
        if fault.status is not None:
            code = _CODES.get(fault.status, "server_error")
            if code in {"insufficient_quota", "invalid_api_key"}:
                await self._error("a fault that was asked for", code)
            raise ResponseFailedError(code)

    @property
    def _detection(self) -> TurnDetection | None:
        return TurnDetection.read(self._settings["audio"]["input"]["turn_detection"])

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """With what is new in its place, also a null; objects are merged field by field, a turn detection is a whole."""
    merged = dict(old)
    for name, value in new.items():
        both_objects = isinstance(value, dict) and isinstance(old.get(name), dict)
        merged[name] = _merged(old[name], value) if both_objects and name != "turn_detection" else value
    return merged


def _samples(encoded: str) -> Samples:
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        raise RefusedError("Invalid 'audio': it is no base64.", code="invalid_value", param="audio") from None
    if len(data) % 2 or len(data) > _LARGEST_AUDIO:
        raise RefusedError(
            "Invalid 'audio': whole 16-bit samples, at most 15 MiB.", code="invalid_value", param="audio"
        )
    return np.frombuffer(data, dtype="<i2").astype(np.int16)


def _parsed(data: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        event = json.loads(data)
        if isinstance(event, dict):
            return event
    raise RefusedError("We could not parse the event as a JSON object.", code="invalid_json")


def _new_item() -> str:
    return f"item_{uuid.uuid4().hex[:24]}"
