"""Speech to text, language model and text to speech, all by OpenAI's wire format, from settings."""

from dataclasses import dataclass

from livekit.agents import APIConnectOptions
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.plugins import openai

from worker.settings import Settings

# A caller waits: fail over to a canned line within seconds (LiveKit's default is up to 44 s).
_QUICK = APIConnectOptions(max_retry=1, retry_interval=0.3, timeout=5.0)
CONNECT_OPTIONS = SessionConnectOptions(stt_conn_options=_QUICK, llm_conn_options=_QUICK, tts_conn_options=_QUICK)


@dataclass(frozen=True, slots=True)
class Providers:
    """The models of one call."""

    stt: openai.STT
    llm: openai.LLM
    tts: openai.TTS


def open_providers(settings: Settings, language: str) -> Providers:
    """The models of a call in that language (an ISO 639 code); connects when first used."""
    base_url = str(settings.openai_base_url)
    api_key = settings.openai_api_key.get_secret_value()
    return Providers(
        stt=openai.STT(
            model=settings.stt_model,
            language=language,
            detect_language=settings.stt_language == "auto",
            base_url=base_url,
            api_key=api_key,
        ),
        llm=openai.LLM(model=settings.llm_model, base_url=base_url, api_key=api_key),
        # PCM is heard as it comes; a compressed format waits for whole frames
        tts=openai.TTS(
            model=settings.tts_model,
            voice=settings.tts_voice,
            base_url=base_url,
            api_key=api_key,
            response_format="pcm",
        ),
    )
