"""The realtime stand-in by its wire: what it answers to each event, and that OpenAI's types know it."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import numpy as np
import pytest
import pytest_asyncio

from demo.audio import Samples
from demo.standins.faults import Endpoint, Fault
from demo.standins.server import PCM_RATE, StandIns
from demo.standins.voice import speak
from tests.support.realtime_wire import WireClient, connected

QUESTION = "Where can I leave my umbrella?"
TOOL = {"type": "function", "name": "search_knowledge", "description": "Searches.", "parameters": {"type": "object"}}
MANUAL = {"input": {"transcription": {"model": "any"}, "turn_detection": None}}
SILENCE = np.zeros(PCM_RATE, dtype=np.int16)


class Server:
    def __init__(self, stand_ins: StandIns, url: str) -> None:
        self.stand_ins, self.url = stand_ins, url


@pytest_asyncio.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    stand_ins = StandIns([QUESTION], api_key="key")
    async with stand_ins.serve() as url:
        yield Server(stand_ins, url)


@pytest_asyncio.fixture
async def client(server: Server) -> AsyncIterator[WireClient]:
    async with connected(server.url, key="key") as wire:
        await wire.next("session.created")
        yield wire


def question() -> Samples:
    return np.concatenate([SILENCE[: PCM_RATE // 4], speak(QUESTION, PCM_RATE), SILENCE])


async def configure(client: WireClient, **session: Any) -> None:
    await client.send("session.update", session={"type": "realtime", "audio": MANUAL, "tools": [TOOL], **session})
    await client.next("session.updated")


async def ask(client: WireClient) -> None:
    await client.say(question())
    await client.send("input_audio_buffer.commit")
    await client.next("input_audio_buffer.committed")


async def refused(client: WireClient, **event: Any) -> dict[str, Any]:
    seen = len(client.events)
    await client.send(**event, event_id="mine")
    error: dict[str, Any] = (await client.next("error", after=seen))["error"]
    assert error["event_id"] == "mine"
    return error


async def add(client: WireClient, text: str, **fields: Any) -> None:
    item = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text}],
        **fields.pop("item", {}),
    }
    seen = len(client.events)
    await client.send("conversation.item.create", item=item, **fields)
    await client.next("conversation.item.done", after=seen)


async def test_a_question_is_heard_transcribed_and_becomes_a_call_of_the_tool(client: WireClient) -> None:
    await configure(client)
    await ask(client)
    heard = await client.next("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == QUESTION
    await client.send("response.create", response={"metadata": {"client_event_id": "mine"}})
    done = await client.next("response.done")
    created = await client.next("response.created")
    assert created["response"]["metadata"] == {"client_event_id": "mine"}
    (call,) = done["response"]["output"]
    assert (call["type"], call["name"], call["status"]) == ("function_call", "search_knowledge", "completed")
    assert QUESTION in call["arguments"]
    assert client.types()[-8:] == [
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "conversation.item.done",
        "response.done",
    ]


async def test_a_result_is_answered_in_sound_with_its_words(client: WireClient) -> None:
    await configure(client, tool_choice="none")
    await add(client, "Where can I leave my umbrella?")
    output = '{"status": "ok", "results": [{"type": "knowledge", "content": "Leave it by the door."}]}'
    call = {"type": "function_call", "call_id": "c1", "name": "search_knowledge", "arguments": "{}"}
    for item in (call, {"type": "function_call_output", "call_id": "c1", "output": output}):
        await client.send("conversation.item.create", item=item)
    await client.send("response.create")
    done = await client.next("response.done")
    (message,) = done["response"]["output"]
    assert message["content"] == [{"type": "output_audio", "transcript": "Leave it by the door."}]
    sound = [event["delta"] for event in client.events if event["type"] == "response.output_audio.delta"]
    assert sum(len(base64.b64decode(piece)) for piece in sound) > PCM_RATE
    words = [event["delta"] for event in client.events if event["type"] == "response.output_audio_transcript.delta"]
    assert "".join(words) == "Leave it by the door."
    assert done["response"]["usage"]["output_tokens"] == 5


async def test_in_text_there_is_no_sound(client: WireClient) -> None:
    await configure(client, output_modalities=["text"])
    await add(client, "Hello.")
    await client.send("response.create")
    done = await client.next("response.output_text.done")
    assert done["text"] == "Hello. What would you like to know?"
    await client.next("response.done")
    assert "response.output_audio.delta" not in client.types()


async def test_turns_are_detected_answered_and_interrupt_where_that_is_asked_for(
    server: Server, client: WireClient
) -> None:
    detection = {"type": "server_vad", "silence_duration_ms": 400}
    await configure(client, audio={"input": {**MANUAL["input"], "turn_detection": detection}})
    await client.say(question())
    started = await client.next("input_audio_buffer.speech_started")
    stopped = await client.next("input_audio_buffer.speech_stopped")
    committed = await client.next("input_audio_buffer.committed")
    assert started["item_id"] == stopped["item_id"] == committed["item_id"]
    assert 0 <= started["audio_start_ms"] < stopped["audio_end_ms"]
    heard = await client.next("conversation.item.input_audio_transcription.completed")
    assert (heard["item_id"], heard["transcript"]) == (committed["item_id"], QUESTION)
    await client.next("response.done")
    server.stand_ins.faults.set(Fault(endpoint=Endpoint.RESPONSE, times=1, delay=3600))
    seen = len(client.events)
    await client.send("response.create")
    await client.next("response.created", after=seen)
    await client.say(question())
    done = await client.next("response.done", after=seen)
    assert done["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}


async def test_a_response_can_be_cancelled_and_only_one_runs_at_a_time(server: Server, client: WireClient) -> None:
    await configure(client)
    await add(client, "Hello.")
    server.stand_ins.faults.set(Fault(endpoint=Endpoint.RESPONSE, times=1, after=1, delay=3600))
    await client.send("response.create")
    await client.next("response.output_audio.delta")
    error = await refused(client, kind="response.create")
    assert error["code"] == "conversation_already_has_active_response"
    await client.send("response.cancel")
    done = await client.next("response.done")
    assert done["response"]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert done["response"]["output"][0]["status"] == "incomplete"
    error = await refused(client, kind="response.cancel")
    assert error["message"].startswith("Cancellation failed")


async def test_what_was_not_heard_to_its_end_is_truncated(client: WireClient) -> None:
    await configure(client)
    await add(client, "Hello.")
    await client.send("response.create")
    (message,) = (await client.next("response.done"))["response"]["output"]
    at = {"item_id": message["id"], "content_index": 0}
    error = await refused(client, kind="conversation.item.truncate", audio_end_ms=10**6, **at)
    assert error["param"] == "audio_end_ms"
    await client.send("conversation.item.truncate", audio_end_ms=500, **at)
    assert (await client.next("conversation.item.truncated"))["audio_end_ms"] == 500
    await client.send("conversation.item.retrieve", item_id=message["id"])
    kept = (await client.next("conversation.item.retrieved"))["item"]
    assert "transcript" not in kept["content"][0]


async def test_items_go_where_they_belong_and_can_be_deleted(client: WireClient) -> None:
    await add(client, "second", item={"id": "two"})
    await add(client, "first", item={"id": "one"}, previous_item_id="root")
    await add(client, "between", item={"id": "mid"}, previous_item_id="one")
    added = [event for event in client.events if event["type"] == "conversation.item.added"]
    assert [event["previous_item_id"] for event in added] == [None, None, "one"]
    await client.send("conversation.item.delete", item_id="mid")
    assert (await client.next("conversation.item.deleted"))["item_id"] == "mid"


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"kind": "response.sing"}, "invalid_value"),
        ({"kind": "session.update", "session": {"type": "transcription"}}, "invalid_value"),
        ({"kind": "session.update"}, "invalid_value"),
        ({"kind": "input_audio_buffer.append", "audio": "%%"}, "invalid_value"),
        ({"kind": "input_audio_buffer.append", "audio": "AAAA"}, "invalid_value"),
        ({"kind": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty"),
        ({"kind": "conversation.item.delete", "item_id": "none"}, "item_delete_invalid_item_id"),
        ({"kind": "conversation.item.retrieve", "item_id": "none"}, "item_not_found"),
        ({"kind": "output_audio_buffer.clear"}, "invalid_value"),
    ],
    ids=lambda value: value.get("kind", "") if isinstance(value, dict) else value,
)
async def test_what_cannot_be_done_is_an_error_and_the_session_goes_on(
    client: WireClient, event: dict[str, Any], code: str
) -> None:
    assert (await refused(client, **event))["code"] == code
    await configure(client)


async def test_an_item_is_added_once(client: WireClient) -> None:
    await add(client, "Hello.", item={"id": "one"})
    item = {"id": "one", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
    error = await refused(client, kind="conversation.item.create", item=item)
    assert error["code"] == "item_create_duplicate_item_id"


async def test_no_json_is_an_error(client: WireClient) -> None:
    await client.socket.send_str("hello")
    assert (await client.next("error"))["error"]["code"] == "invalid_json"


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limit_exceeded"), (500, "server_error")])
async def test_a_response_fails_on_purpose(server: Server, client: WireClient, status: int, code: str) -> None:
    server.stand_ins.faults.set(Fault(endpoint=Endpoint.RESPONSE, status=status, times=1))
    await client.send("response.create")
    done = await client.next("response.done")
    assert done["response"]["status_details"]["error"]["code"] == code


async def test_a_connection_drops_on_purpose_in_the_middle_of_a_word(server: Server, client: WireClient) -> None:
    server.stand_ins.faults.set(Fault(endpoint=Endpoint.RESPONSE, drop=True, after=2, times=1))
    await add(client, "Hello.")
    await client.send("response.create")
    await client.ended.wait()
    assert sum(event["type"] == "response.output_audio.delta" for event in client.events) == 2


@pytest.mark.parametrize(("key", "status"), [("other", 401), ("key", 503)])
async def test_a_connection_is_refused(server: Server, key: str, status: int) -> None:
    server.stand_ins.faults.set(Fault(endpoint=Endpoint.REALTIME, status=503, times=status == 503))
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        async with connected(server.url, key=key):
            pass
    assert refusal.value.status == status
