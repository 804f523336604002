"""Speech to text, language model and text to speech, all by OpenAI's wire format, from settings."""

from dataclasses import dataclass
from typing import Any

from livekit.agents import APIConnectOptions
from livekit.agents.llm import LLM, FallbackAdapter
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.plugins import openai

from worker.settings import Settings

# A caller waits: fail over to another try, another model or a canned line within seconds (LiveKit's default is up to
# 44 s). Whether a call is given up is decided in one place, `conversation.py`: the session's own count must not.
_HEARING = APIConnectOptions(max_retry=1, retry_interval=0.3, timeout=5.0)
_SPEAKING = APIConnectOptions(max_retry=1, retry_interval=0.1, timeout=1.4)
_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Providers:
    """The models of one call, and how long they are tried."""

    stt: openai.STT
    llm: LLM[Any]
    tts: openai.TTS
    options: SessionConnectOptions


def open_providers(settings: Settings, language: str) -> Providers:
    """The models of a call in that language (an ISO 639 code); connects when first used."""
    base_url = str(settings.openai_base_url)
    api_key = settings.openai_api_key.get_secret_value()
    try_s = (settings.reply_s - _PAUSE_S) / 2
    answering = APIConnectOptions(max_retry=1, retry_interval=_PAUSE_S, timeout=try_s)
    return Providers(
        stt=openai.STT(
            model=settings.stt_model,
            language=language,
            detect_language=settings.stt_language == "auto",
            base_url=base_url,
            api_key=api_key,
        ),
        llm=_language_model(settings, base_url, api_key, try_s),
        # PCM is heard as it comes; a compressed format waits for whole frames
        tts=openai.TTS(
            model=settings.tts_model,
            voice=settings.tts_voice,
            base_url=base_url,
            api_key=api_key,
            response_format="pcm",
        ),
        options=SessionConnectOptions(
            stt_conn_options=_HEARING,
            llm_conn_options=answering,
            tts_conn_options=_SPEAKING,
            max_unrecoverable_errors=1000,
        ),
    )


def _language_model(settings: Settings, base_url: str, api_key: str, try_s: float) -> LLM[Any]:
    models = [openai.LLM(model=settings.llm_model, base_url=base_url, api_key=api_key)]
    if settings.llm_fallback_model is None:
        return models[0]
    models.append(openai.LLM(model=settings.llm_fallback_model, base_url=base_url, api_key=api_key))
    return FallbackAdapter([*models], attempt_timeout=try_s)
