"""The models of a call, by OpenAI's wire format, from settings: a cascade of three, or one that hears and speaks."""

from dataclasses import dataclass
from typing import Any

import aiohttp
from livekit.agents import APIConnectOptions
from livekit.agents.llm import LLM, FallbackAdapter
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.plugins import openai
from openai.types.realtime import AudioTranscription

from worker.realtime import PatientModel
from worker.settings import Settings

# A caller waits: fail over to another try, another model or a canned line within seconds (LiveKit's default is up to
# 44 s). Whether a call is given up is decided in one place, `conversation.py`: the session's own count must not.
_HEARING = APIConnectOptions(max_retry=1, retry_interval=0.3, timeout=5.0)
_SPEAKING = APIConnectOptions(max_retry=1, retry_interval=0.1, timeout=1.4)
_PAUSE_S = 0.1
# Meanwhile each turn of the caller is answered by a canned line; after these tries the call is given up.
_CONNECTING = APIConnectOptions(max_retry=4, retry_interval=1.0, timeout=3.0)


@dataclass(frozen=True, slots=True)
class Providers:
    """The models of one call, and how long they are tried.

    Attributes:
        stt: speech to text; `None` where the model hears.
        llm: what answers.
        tts: the voice, also of what the worker itself says in a call whose model speaks.
    """

    stt: openai.STT | None
    llm: LLM[Any] | PatientModel
    tts: openai.TTS
    options: SessionConnectOptions
    http: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        """Close what LiveKit does not."""
        if self.http:
            await self.http.close()


def open_providers(settings: Settings, language: str) -> Providers:
    """The models of a call in that language (an ISO 639 code); connects when first used."""
    base_url = str(settings.openai_base_url)
    api_key = settings.openai_api_key.get_secret_value()
    try_s = (settings.reply_s - _PAUSE_S) / 2
    answering = APIConnectOptions(max_retry=1, retry_interval=_PAUSE_S, timeout=try_s)
    options = SessionConnectOptions(
        stt_conn_options=_HEARING,
        llm_conn_options=answering,
        tts_conn_options=_SPEAKING,
        max_unrecoverable_errors=1000,
    )
    # PCM is heard as it comes; a compressed format waits for whole frames
    tts = openai.TTS(
        model=settings.tts_model,
        voice=settings.tts_voice,
        base_url=base_url,
        api_key=api_key,
        response_format="pcm",
    )
    if settings.pipeline == "realtime":
        http = aiohttp.ClientSession(trust_env=True)  # LiveKit's own session has the proxy of the LiveKit server
        return Providers(None, _realtime_model(settings, language, http), tts, options, http)
    stt = openai.STT(
        model=settings.stt_model,
        language=language,
        detect_language=settings.stt_language == "auto",
        base_url=base_url,
        api_key=api_key,
    )
    return Providers(stt, _language_model(settings, base_url, api_key, try_s), tts, options)


def _language_model(settings: Settings, base_url: str, api_key: str, try_s: float) -> LLM[Any]:
    models = [openai.LLM(model=settings.llm_model, base_url=base_url, api_key=api_key)]
    if settings.llm_fallback_model is None:
        return models[0]
    models.append(openai.LLM(model=settings.llm_fallback_model, base_url=base_url, api_key=api_key))
    return FallbackAdapter([*models], attempt_timeout=try_s)


def _realtime_model(settings: Settings, language: str, http: aiohttp.ClientSession) -> PatientModel:
    url = str(settings.realtime_base_url or settings.openai_base_url).rstrip("/")
    heard_in = None if settings.stt_language == "auto" else language
    return PatientModel(
        reply_s=settings.reply_s,
        model=settings.realtime_model,
        voice=settings.realtime_voice or settings.tts_voice,
        input_audio_transcription=AudioTranscription(model=settings.stt_model, language=heard_in),
        base_url=f"{url}/realtime",
        api_key=(settings.realtime_api_key or settings.openai_api_key).get_secret_value(),
        http_session=http,
        conn_options=_CONNECTING,
    )
