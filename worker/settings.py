"""The worker's settings: the only place that reads the environment."""

from typing import Annotated, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import (
    AnyHttpUrl,
    AnyUrl,
    BeforeValidator,
    Field,
    FilePath,
    SecretStr,
    UrlConstraints,
    ValidationError,
)
from pydantic_settings import SettingsConfigDict

from contracts.secret_files import SecretFileError, SecretFileSettings

LiveKitUrl = Annotated[AnyUrl, UrlConstraints(allowed_schemes=["ws", "wss", "http", "https"])]
LogLevel = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(str.lower)]
NotBlank = Annotated[str, Field(min_length=1)]
Secret = Annotated[SecretStr, Field(min_length=1)]

_PREFIX = "ANSWERLINE_"


class SettingsError(Exception):
    """A setting is missing or cannot be read; the message names each variable."""


class Settings(SecretFileSettings):
    """Everything that an operator may set: `ANSWERLINE_` and the name, or the alias as it is."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="ignore", frozen=True, hide_input_in_errors=True)

    livekit_url: LiveKitUrl = Field(validation_alias="LIVEKIT_URL", description="The LiveKit server, ws:// or wss://.")
    livekit_api_key: NotBlank = Field(validation_alias="LIVEKIT_API_KEY", description="API key of the LiveKit server.")
    livekit_api_secret: Secret = Field(validation_alias="LIVEKIT_API_SECRET", description="Secret of that API key.")
    agent_name: NotBlank = Field(default="answerline", description="The name by which a SIP dispatch rule asks for us.")

    sidecar_url: AnyHttpUrl = Field(
        default=AnyHttpUrl("http://127.0.0.1:8090"),
        description="The retrieval sidecar's voice API.",
    )
    sidecar_token: Secret = Field(description="A voice token of the sidecar.")
    sidecar_wait_s: Annotated[float, Field(ge=0)] = Field(
        default=60, description="Seconds to wait at the start for a sidecar that is not up yet."
    )

    openai_api_key: Secret = Field(
        validation_alias="OPENAI_API_KEY",
        description="Key of the model provider; any text where it asks for none.",
    )
    openai_base_url: AnyHttpUrl = Field(
        default=AnyHttpUrl("https://api.openai.com/v1"),
        validation_alias="OPENAI_BASE_URL",
        description="Any endpoint that speaks OpenAI's wire format.",
    )
    pipeline: Literal["cascade", "realtime"] = Field(
        default="cascade",
        description="cascade: speech to text, chat, text to speech; realtime: one model that hears and speaks.",
    )
    realtime_model: NotBlank = Field(default="gpt-realtime", description="The model that hears and speaks.")
    realtime_base_url: AnyHttpUrl | None = Field(
        default=None,
        description="Its endpoint, which speaks OpenAI's realtime wire format; by default OPENAI_BASE_URL.",
    )
    realtime_api_key: Secret | None = Field(
        default=None, description="Key of that endpoint; by default OPENAI_API_KEY."
    )
    realtime_voice: NotBlank | None = Field(
        default=None, description="A voice of that model; by default the one of text to speech, to sound alike."
    )
    stt_model: NotBlank = Field(default="gpt-4o-mini-transcribe", description="Speech to text.")
    stt_language: Literal["agent", "auto"] = Field(
        default="agent",
        description="agent: transcribe in the call's language; auto: the model detects it.",
    )
    llm_model: NotBlank = Field(default="gpt-4.1-mini", description="Chat with tools.")
    llm_fallback_model: NotBlank | None = Field(
        default=None, description="A model of the same provider that answers where the other fails; none by default."
    )
    tts_model: NotBlank = Field(default="gpt-4o-mini-tts", description="Text to speech.")
    tts_voice: NotBlank = Field(default="ash", description="A voice of that model.")

    default_language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] = Field(
        default="en", description="What callers hear whose agent is not known (ISO 639)."
    )
    silence_s: Annotated[float, Field(gt=0)] = Field(
        default=15, description="Seconds of silence before the caller is asked, and before hang-up."
    )

    keys_pause_s: Annotated[float, Field(ge=0.5, le=10)] = Field(
        default=2.0, description="Seconds after a key of the caller's telephone until they are done; # ends it at once."
    )

    reply_s: Annotated[float, Field(ge=1, le=10)] = Field(
        default=4.5, description="Seconds a model has to its first word, tries and fallback included."
    )
    prefetch: bool = Field(
        default=False, description="true: search for the caller's words while the model still thinks about them."
    )
    transfer_s: Annotated[float, Field(ge=1, le=120)] = Field(
        default=30, description="Seconds until a person must have been reached when a call is put through."
    )

    turn_end_max_s: Annotated[float, Field(ge=0.3, le=6)] = Field(
        default=1.5, description="Seconds of silence after which the caller has finished, however it sounded."
    )

    worker_host: NotBlank = Field(
        default="127.0.0.1",
        description="Where the health endpoint listens; 0.0.0.0 in a container.",
    )
    worker_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        default=8081, description="Its port; 0 takes a free one."
    )
    load_threshold: Annotated[float, Field(gt=0)] = Field(
        default=0.7, description="CPU load, 0 to 1, from which no call is taken; inf for no limit."
    )
    idle_processes: Annotated[int, Field(ge=0)] = Field(
        default=2, description="Processes kept warm; each takes one call."
    )
    drain_s: Annotated[int, Field(ge=1)] = Field(
        default=1800, description="Seconds that running calls have to end after SIGTERM."
    )
    prices_file: FilePath | None = Field(
        default=None, description="What models cost, as worker/prices.toml has it, which is taken where none is named."
    )
    metrics_host: NotBlank = Field(
        default="127.0.0.1", description="Where metrics are served, without a password: a private address."
    )
    metrics_port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        default=None, description="Their port, for Prometheus; they are served where it is set."
    )
    otlp_endpoint: AnyHttpUrl | None = Field(
        default=None, description="An OpenTelemetry collector, for traces by OTLP over HTTP; none where it is not set."
    )
    trace_ratio: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="Which part of the traces is recorded, 0 to 1."
    )
    log_level: LogLevel = Field(default="info", description="debug, info, warning or error.")

    @property
    def livekit_proxy(self) -> str | None:
        """The proxy for LiveKit by the usual variables, and by NO_PROXY, which LiveKit ignores."""
        host = urlsplit(str(self.livekit_url)).hostname or ""
        secure = self.livekit_url.scheme in {"wss", "https"}
        return None if proxy_bypass(host) else getproxies().get("https" if secure else "http")


def from_env() -> Settings:
    """Read the environment.

    Raises:
        SettingsError: naming each variable that is missing or wrong, without its value.
    """
    try:
        return Settings()
    except SecretFileError as error:
        raise SettingsError(f"Set these secrets otherwise:\n  {error}") from None
    except ValidationError as error:
        faults = [
            f"  {_variable(str(fault['loc'][0]))}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        ]
        raise SettingsError("Set these variables:\n" + "\n".join(faults)) from None


def table() -> str:
    """All variables with default and meaning, as a Markdown table."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "required" if field.is_required() else f"`{field.default}`"
        rows.append(f"| `{field.validation_alias or _variable(name)}` | {default} | {field.description} |")
    return "\n".join(rows)


def _variable(name: str) -> str:
    return name if name.isupper() else _PREFIX + name.upper()
