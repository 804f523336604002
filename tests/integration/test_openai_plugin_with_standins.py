"""LiveKit's OpenAI plugin against the stand-ins: the code that the worker runs, over real HTTP."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
import openai as openai_client
import pytest_asyncio
from livekit import rtc
from livekit.agents import APIConnectOptions, APIStatusError, function_tool, llm
from livekit.agents.llm import ChatContext, FunctionCall, FunctionCallOutput
from livekit.plugins import openai

from demo.audio import TELEPHONE_RATE, over_the_telephone
from demo.standins.faults import Endpoint, Fault
from demo.standins.server import StandIns

QUESTION = "Where can I leave my umbrella?"
ONCE = APIConnectOptions(max_retry=0, timeout=5.0)
SCHEMA = {
    "name": "search_knowledge",
    "description": "Searches.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


@function_tool(raw_schema=SCHEMA)
async def search_knowledge(raw_arguments: dict[str, object]) -> str:
    raise AssertionError("the test answers the call itself")


@dataclass(frozen=True)
class Models:
    stand_ins: StandIns
    client: openai_client.AsyncClient

    def tts(self, response_format: str = "pcm") -> openai.TTS:
        return openai.TTS(client=self.client, response_format=response_format)

    def stt(self) -> openai.STT:
        return openai.STT(client=self.client)

    def llm(self) -> openai.LLM:
        return openai.LLM(model="any", client=self.client)


@pytest_asyncio.fixture(scope="module")
async def models() -> AsyncIterator[Models]:
    stand_ins = StandIns([QUESTION], api_key="key")
    async with (
        stand_ins.serve() as url,
        openai_client.AsyncClient(base_url=url, api_key="key", max_retries=0) as client,
    ):
        yield Models(stand_ins, client)


async def said(models: Models, text: str, response_format: str = "pcm") -> rtc.AudioFrame:
    async with models.tts(response_format) as tts, tts.synthesize(text, conn_options=ONCE) as stream:
        return await stream.collect()


async def test_a_sentence_comes_back_from_voice_telephone_and_recogniser(models: Models) -> None:
    frame = await said(models, QUESTION)
    line = over_the_telephone(np.frombuffer(frame.data, dtype=np.int16), frame.sample_rate)
    event = await models.stt().recognize(
        rtc.AudioFrame(line.tobytes(), TELEPHONE_RATE, 1, len(line)), conn_options=ONCE
    )
    assert event.alternatives[0].text == QUESTION


async def test_wav_and_pcm_are_the_same_sound(models: Models) -> None:
    pcm, wav = await said(models, QUESTION), await said(models, QUESTION, "wav")
    assert pcm.sample_rate == wav.sample_rate == 24000
    assert abs(pcm.duration - wav.duration) < 0.05
    assert pcm.duration > 1.0


async def test_a_question_is_a_tool_call_and_its_output_an_answer(models: Models) -> None:
    context = ChatContext.empty()
    context.add_message(role="system", content="Answer from the knowledge.")
    context.add_message(role="user", content=QUESTION)
    asked = await models.llm().chat(chat_ctx=context, tools=[search_knowledge], conn_options=ONCE).collect()
    assert asked.text == ""
    assert asked.usage is not None
    assert asked.usage.total_tokens > 0
    (call,) = asked.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("search_knowledge", {"query": QUESTION})

    answer = "Umbrellas go behind the door with tag PIN-44-X."
    output = {"status": "ok", "results": [{"type": "knowledge", "content": f"Come in. {answer}"}]}
    context.insert(FunctionCall(call_id=call.call_id, name=call.name, arguments=call.arguments))
    context.insert(FunctionCallOutput(call_id=call.call_id, name=call.name, output=json.dumps(output), is_error=False))
    answered = await models.llm().chat(chat_ctx=context, tools=[search_knowledge], conn_options=ONCE).collect()
    assert answered.text.strip() == answer
    assert answered.tool_calls == []


async def test_a_failing_endpoint_is_an_error_of_the_plugins(models: Models) -> None:
    context = ChatContext.empty()
    context.add_message(role="user", content=QUESTION)
    models.stand_ins.faults.set(Fault(endpoint=Endpoint.COMPLETIONS, status=500, times=1))
    status = None
    try:
        await models.llm().chat(chat_ctx=context, conn_options=ONCE).collect()
    except APIStatusError as error:
        status = error.status_code
    assert status == 500
    assert isinstance((await models.llm().chat(chat_ctx=context, conn_options=ONCE).collect()), llm.CollectedResponse)
