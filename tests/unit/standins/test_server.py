"""The stand-ins' HTTP interface, in OpenAI's wire format."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from demo.audio import from_wav, to_wav
from demo.standins.faults import Endpoint
from demo.standins.server import StandIns
from demo.standins.voice import speak

SENTENCE = "Where can I leave my umbrella?"
TOOL = {"type": "function", "function": {"name": "search_knowledge", "parameters": {}}}
ASKED: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": SENTENCE}], "tools": [TOOL]}


class Client:
    """Requests to a server of stand-ins."""

    def __init__(self, session: aiohttp.ClientSession, stand_ins: StandIns) -> None:
        self.stand_ins = stand_ins
        self._session = session

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, bytes, str]:
        data = {"data": body} if isinstance(body, bytes | aiohttp.FormData) else {"json": body}
        async with self._session.post(path, headers=headers, **data) as response:
            return response.status, await response.read(), response.content_type

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self._session.get(path, headers=headers) as response:
            return response.status, await response.json()


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("standins") / "journal.jsonl"


@pytest_asyncio.fixture(scope="module")
async def client(journal: Path) -> AsyncIterator[Client]:
    stand_ins = StandIns([SENTENCE], journal=journal)
    async with stand_ins.serve() as url, aiohttp.ClientSession(url.removesuffix("/v1")) as session:
        yield Client(session, stand_ins)


def upload(data: bytes, response_format: str = "json") -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("file", data, filename="file.wav", content_type="audio/wav")
    form.add_field("model", "any")
    form.add_field("response_format", response_format)
    return form


def entries_of(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text("utf-8").splitlines()]


def error_of(body: bytes) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(body)["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    return error


async def test_models_are_listed(client: Client) -> None:
    status, body = await client.get(Endpoint.MODELS)
    assert status == 200
    assert all(model["id"].startswith("standin-") for model in body["data"])


@pytest.mark.parametrize("response_format", ["json", "text", "verbose_json"])
async def test_speech_is_transcribed(client: Client, response_format: str) -> None:
    wav = to_wav(speak(SENTENCE, 16000), 16000)
    status, body, _ = await client.post(Endpoint.TRANSCRIPTIONS, upload(wav, response_format))
    assert status == 200
    assert (body.decode() if response_format == "text" else json.loads(body)["text"]) == SENTENCE


@pytest.mark.parametrize("form", [upload(b"not audio"), aiohttp.FormData({"model": "any"})])
async def test_an_upload_without_audio_is_refused(client: Client, form: aiohttp.FormData) -> None:
    status, body, _ = await client.post(Endpoint.TRANSCRIPTIONS, form)
    assert status == 400
    assert error_of(body)["type"] == "invalid_request_error"


async def test_text_is_spoken_as_wav_and_as_pcm(client: Client) -> None:
    request = {"model": "any", "input": "PIN-44-X", "voice": "ash"}
    status, wav, content_type = await client.post(Endpoint.SPEECH, {**request, "response_format": "wav"})
    assert (status, content_type) == (200, "audio/wav")
    samples, rate = from_wav(wav)
    assert rate == 24000
    status, pcm, content_type = await client.post(Endpoint.SPEECH, {**request, "response_format": "pcm"})
    assert (status, content_type) == (200, "audio/pcm")
    assert len(pcm) == pytest.approx(samples.nbytes, rel=0.02)


@pytest.mark.parametrize(
    "change", [{"input": ""}, {"input": "x" * 4097}, {"response_format": "mp3"}, {"input": None}, {"model": None}]
)
async def test_speech_that_cannot_be_made_is_refused(client: Client, change: dict[str, Any]) -> None:
    request = {"model": "any", "input": "Hello.", "voice": "ash", "response_format": "pcm"} | change
    status, body, _ = await client.post(Endpoint.SPEECH, request)
    assert status == 400
    assert error_of(body)


async def test_a_question_becomes_a_tool_call(client: Client) -> None:
    status, body, _ = await client.post(Endpoint.COMPLETIONS, ASKED)
    assert status == 200
    completion = json.loads(body)
    choice = completion["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    call = choice["message"]["tool_calls"][0]["function"]
    assert (call["name"], json.loads(call["arguments"])) == ("search_knowledge", {"query": SENTENCE})
    assert completion["usage"] == {"prompt_tokens": 6, "completion_tokens": 6, "total_tokens": 12}


@pytest.mark.parametrize("change", [{"tools": []}, {"tool_choice": "none"}])
async def test_no_tool_is_called_that_may_not_be(client: Client, change: dict[str, Any]) -> None:
    _, body, _ = await client.post(Endpoint.COMPLETIONS, ASKED | change)
    choice = json.loads(body)["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert "tool_calls" not in choice["message"]


async def test_a_stream_ends_with_usage_and_done(client: Client) -> None:
    request = ASKED | {"tools": [], "stream": True, "stream_options": {"include_usage": True}}
    status, body, content_type = await client.post(Endpoint.COMPLETIONS, request)
    assert (status, content_type) == (200, "text/event-stream")
    *events, done, rest = body.decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks[:-1])
    assert "no way to look that up" in said


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model": "any", "messages": []}', b'{"messages": "hi"}'])
async def test_a_broken_request_is_refused(client: Client, body: bytes) -> None:
    status, answer, _ = await client.post(Endpoint.COMPLETIONS, body)
    assert status == 400
    assert error_of(answer)


async def test_an_unknown_path_is_not_found_in_openais_words(client: Client) -> None:
    status, body = await client.get("/v1/embeddings")
    assert status == 404
    assert body["error"]["type"] == "invalid_request_error"


async def test_a_fault_lasts_as_often_as_it_was_asked_for(client: Client) -> None:
    fault = {"endpoint": Endpoint.COMPLETIONS, "status": 429, "times": 2}
    assert (await client.post("/standins/faults", fault))[0] == 204
    answers = [await client.post(Endpoint.COMPLETIONS, ASKED) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 429, 200]
    assert error_of(answers[0][1])["type"] == "rate_limit_error"


@pytest.mark.parametrize("fault", [{"endpoint": "/v1/nothing"}, {"endpoint": Endpoint.SPEECH, "status": 200}, []])
async def test_a_fault_that_cannot_be_is_refused(client: Client, fault: Any) -> None:
    assert (await client.post("/standins/faults", fault))[0] == 400


async def test_everything_is_in_the_journal_at_once(client: Client, journal: Path) -> None:
    before = len(entries_of(journal))
    await client.post(Endpoint.TRANSCRIPTIONS, upload(to_wav(speak(SENTENCE, 16000), 16000)))
    await client.post(Endpoint.COMPLETIONS, ASKED)
    await client.post(Endpoint.SPEECH, {"model": "any", "input": "Привет.", "response_format": "pcm"})
    await client.post(Endpoint.SPEECH, {"model": "any", "input": "", "response_format": "pcm"})
    recognition, completion, synthesis = entries_of(journal)[before:]
    assert (recognition["kind"], recognition["text"]) == ("recognition", SENTENCE)
    assert (completion["kind"], completion["tool_query"]) == ("completion", SENTENCE)
    assert (synthesis["kind"], synthesis["text"]) == ("synthesis", "Привет.")
    assert synthesis["audio_seconds"] > 0.3
    assert recognition["time"] <= completion["time"] <= synthesis["time"]


async def test_a_key_is_asked_for_where_one_is_set() -> None:
    stand_ins = StandIns([], api_key="right", delays={Endpoint.MODELS: 0.05})
    async with stand_ins.serve() as url, aiohttp.ClientSession(url.removesuffix("/v1")) as session:
        client = Client(session, stand_ins)
        assert (await client.get(Endpoint.MODELS, Authorization="Bearer right"))[0] == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "right"}):
            status, body = await client.get(Endpoint.MODELS, **headers)
            assert status == 401
            assert body["error"]["code"] == "invalid_api_key"
            assert (await client.post("/standins/faults", {"endpoint": Endpoint.MODELS}, **headers))[0] == 401
