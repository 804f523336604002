"""Which models a call has, by its settings."""

import inspect

import pytest
from livekit.plugins import openai

from tests.support.fake_call import settings_for
from worker.providers import open_providers
from worker.realtime import PatientModel, PatientSession


async def test_a_cascade_is_three_models() -> None:
    providers = open_providers(settings_for("http://127.0.0.1:1"), "ru")
    assert isinstance(providers.stt, openai.STT)
    assert isinstance(providers.llm, openai.LLM)
    await providers.aclose()


@pytest.mark.parametrize(
    ("fields", "url", "key", "voice"),
    [
        ({}, "http://127.0.0.1:1/v1/realtime", "key", "ash"),
        (
            {
                "realtime_base_url": "http://127.0.0.1:2/speech/v1/",
                "realtime_api_key": "other-key",
                "realtime_voice": "cedar",
            },
            "http://127.0.0.1:2/speech/v1/realtime",
            "other-key",
            "cedar",
        ),
    ],
    ids=["as the others", "apart"],
)
async def test_a_realtime_model_hears_and_speaks_and_the_voice_says_the_rest(
    fields: dict[str, str], url: str, key: str, voice: str
) -> None:
    settings = settings_for("http://127.0.0.1:1", pipeline="realtime", realtime_model="one", **fields)
    providers = open_providers(settings, "ru")
    model = providers.llm
    assert isinstance(model, PatientModel)
    assert providers.stt is None
    assert providers.tts is not None
    assert not model.capabilities.turn_detection
    options = model._opts
    assert (options.model, options.base_url, options.api_key, options.voice) == ("one", url, key, voice)
    assert options.input_audio_transcription is not None
    assert options.input_audio_transcription.language == "ru"
    assert providers.http is not None
    await providers.aclose()
    assert providers.http.closed


async def test_a_language_that_the_recogniser_detects_is_not_named() -> None:
    settings = settings_for("http://127.0.0.1:1", pipeline="realtime", stt_language="auto")
    providers = open_providers(settings, "ru")
    assert isinstance(providers.llm, PatientModel)
    transcription = providers.llm._opts.input_audio_transcription
    assert transcription is not None
    assert transcription.language is None
    await providers.aclose()


def test_what_the_session_overrides_is_as_the_plugin_has_it() -> None:
    plugin = openai.realtime.RealtimeSession
    for name in ("push_audio", "commit_audio", "generate_reply", "interrupt", "update_chat_ctx", "send_event"):
        ours, theirs = (inspect.signature(getattr(each, name)).parameters for each in (PatientSession, plugin))
        assert list(ours) == list(theirs)
