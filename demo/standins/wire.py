"""OpenAI's wire format: error bodies, and the shapes of a chat completion."""

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from demo.standins.responder import SEARCH_TOOL, Message, Reply, Search, search_arguments


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """The body of `POST /v1/chat/completions`; what the responder cannot use is ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[Message]
    tools: list[dict[str, Any]] = []
    tool_choice: str | dict[str, Any] = "auto"
    stream: bool = False
    stream_options: StreamOptions | None = None

    @property
    def can_search(self) -> bool:
        offered = any(tool.get("function", {}).get("name") == SEARCH_TOOL for tool in self.tools)
        return offered and self.tool_choice != "none"


class SpeechRequest(BaseModel):
    """The body of `POST /v1/audio/speech`."""

    model_config = ConfigDict(extra="ignore")

    model: str
    input: str
    voice: str | dict[str, Any] = ""
    response_format: str = "mp3"
    speed: float = 1.0


class ApiError(Exception):
    """A request that gets an error answer of this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def error(status: int, message: str, *, code: str | None = None) -> web.Response:
    """An error as OpenAI's clients expect it."""
    kind = {401: "invalid_request_error", 429: "rate_limit_error"}.get(
        status, "invalid_request_error" if status < 500 else "server_error"
    )
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    headers = {"Retry-After": "1"} if status == 429 else {}
    return web.json_response(body, status=status, headers=headers)


def completion(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    """The body of an unstreamed chat completion."""
    return {
        **_envelope("chat.completion", request.model),
        "choices": [{"index": 0, "message": _message(reply), "finish_reason": _finish(reply), "logprobs": None}],
        "usage": _usage(request, reply),
    }


def completion_chunks(request: ChatRequest, reply: Reply) -> Iterator[bytes]:
    """The server-sent events of a streamed chat completion, `[DONE]` included."""
    envelope = _envelope("chat.completion.chunk", request.model)

    def event(*choices: dict[str, Any], usage: dict[str, int] | None = None) -> bytes:
        chunk = {**envelope, "choices": choices, "usage": usage}
        return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"

    def delta(content: dict[str, Any], finish: str | None = None) -> bytes:
        return event({"index": 0, "delta": content, "finish_reason": finish, "logprobs": None})

    message = _message(reply)
    if isinstance(reply, Search):
        calls = [{"index": i, **call} for i, call in enumerate(message["tool_calls"])]
        yield delta({"role": "assistant", "content": None, "tool_calls": calls})
    else:
        yield delta({"role": "assistant", "content": ""})
        for word in reply.text.split(" "):
            yield delta({"content": f"{word} "})
    yield delta({}, _finish(reply))
    if request.stream_options and request.stream_options.include_usage:
        yield event(usage=_usage(request, reply))
    yield b"data: [DONE]\n\n"


def _envelope(kind: str, model: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _message(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, Search):
        call = {
            "id": f"call_{uuid.uuid4().hex[:24]}",
            "type": "function",
            "function": {"name": SEARCH_TOOL, "arguments": search_arguments(reply)},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": reply.text}


def _finish(reply: Reply) -> str:
    return "tool_calls" if isinstance(reply, Search) else "stop"


def _usage(request: ChatRequest, reply: Reply) -> dict[str, int]:
    """Words, where a model would count tokens: the responder has no tokenizer."""
    prompt = sum(len(message.text.split()) for message in request.messages)
    answer = reply.query if isinstance(reply, Search) else reply.text
    said = len(answer.split())
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}
