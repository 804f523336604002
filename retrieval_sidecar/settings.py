"""Every setting of the sidecar; the only reader of its environment."""

from dataclasses import dataclass
from typing import Literal, Self, TypeVar

from pydantic import AnyHttpUrl, ByteSize, Field, SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from contracts.secret_files import SecretFileError, SecretFileSettings
from retrieval_sidecar.errors import ConfigurationError

EmbedderKind = Literal["local", "openai", "fake"]
LogLevel = Literal["debug", "info", "warning", "error"]
_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_MODEL = "text-embedding-3-small"
_OPENAI_DIMENSIONS = 1536
_MB = 1024 * 1024
_Settings = TypeVar("_Settings", bound=SecretFileSettings)


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """Which embedder, and the variables' `prefix` that says so; all but the first two are for openai."""

    prefix: str
    embedder: EmbedderKind
    base_url: str
    api_key: SecretStr | None
    model: str
    dimensions: int


class Settings(SecretFileSettings):
    """Read from the environment, `ANSWERLINE_` before each name, DATABASE_URL as is; an empty one counts as not set.

    The three database URLs are of three roles (see `deploy/README.md`); one that is left out is DATABASE_URL.
    """

    model_config = SettingsConfigDict(env_prefix="ANSWERLINE_", frozen=True, extra="ignore", env_ignore_empty=True)

    database_url: SecretStr = Field(
        validation_alias="DATABASE_URL",
        description="PostgreSQL 15 or later with pgvector 0.8 or later, as a libpq URL.",
    )
    voice_database_url: SecretStr | None = Field(
        default=None, description="The same database as role answerline_voice."
    )
    owner_database_url: SecretStr | None = Field(
        default=None, description="The same database as its owner; for `migrate`, `partition` and tokens."
    )
    manage_database_url: SecretStr | None = Field(
        default=None, description="The same database as role answerline_manage."
    )
    voice_host: str = Field(default="127.0.0.1", description="Where the voice API listens.")
    voice_port: int = Field(default=8090, ge=0, le=65535, description="0 takes a free port.")
    management_host: str = Field(default="127.0.0.1", description="Where the management API listens.")
    management_port: int = Field(
        default=8080, ge=0, le=65535, description="Never the voice API's; 0 takes a free port."
    )
    upload_timeout_s: float = Field(default=600.0, gt=0, description="Seconds that an upload may take to come in.")
    uploads: int = Field(default=8, ge=1, description="Uploads that are taken at once; more are refused with 503.")
    pool_size: int = Field(
        default=8, ge=1, le=200, description="Database connections of one sidecar; `/readyz` has one more of its own."
    )
    pool_queue: int = Field(
        default=64, ge=0, description="Requests that may wait for a database connection; more are refused with 503."
    )
    embedder: EmbedderKind = Field(
        default="local",
        description="local: multilingual-e5-small in the process; openai: any compatible endpoint.",
    )
    embedding_base_url: str = Field(default=_OPENAI_URL, description="For embedder=openai.")
    embedding_api_key: SecretStr | None = Field(default=None, description="For embedder=openai.")
    embedding_model: str = Field(default=_OPENAI_MODEL, description="For embedder=openai.")
    embedding_dimensions: int = Field(
        default=_OPENAI_DIMENSIONS, ge=1, le=4000, description="For embedder=openai; a part of the model's name."
    )
    previous_embedder: EmbedderKind | None = Field(
        default=None,
        description="While the model is changed: the one that answers until `reembed` has switched to the other.",
    )
    previous_embedding_base_url: str = Field(default=_OPENAI_URL, description="For previous_embedder=openai.")
    previous_embedding_api_key: SecretStr | None = Field(default=None, description="For previous_embedder=openai.")
    previous_embedding_model: str = Field(default=_OPENAI_MODEL, description="For previous_embedder=openai.")
    previous_embedding_dimensions: int = Field(
        default=_OPENAI_DIMENSIONS, ge=1, le=4000, description="For previous_embedder=openai."
    )
    embedding_timeout_s: float = Field(
        default=2.0, gt=0, description="For embedder=openai: seconds until a question's vector is given up for words."
    )
    embedding_requests: int = Field(default=4, ge=1, description="For embedder=openai: requests under way at once.")
    embedding_batch: int = Field(
        default=32, ge=1, description="For embedder=openai: questions of several callers in one request, at most."
    )
    embedding_queue: int = Field(
        default=64, ge=0, description="Requests that may wait for the embedder; more are refused with 503."
    )
    embedding_failures: int = Field(
        default=5, ge=1, description="For embedder=openai: so many failures in a row, and it is left alone for a while."
    )
    embedding_pause_s: float = Field(
        default=10.0, gt=0, description="For embedder=openai: seconds of that while; searches go by words meanwhile."
    )
    query_cache_size: int = Field(
        default=10_000,
        ge=0,
        description="Questions whose vectors are kept in memory, 4 bytes for each dimension; 0 keeps none.",
    )
    max_bases: int = Field(default=20, ge=0, description="Knowledge bases of an organization.")
    max_sources: int = Field(default=50, ge=0, description="Sources of a knowledge base.")
    max_agent_bases: int = Field(default=10, ge=0, description="Knowledge bases that an agent may select.")
    max_passages: int = Field(default=3_000, ge=1, description="Passages of a file, a web page or a pasted text.")
    max_pasted_characters: int = Field(
        default=500_000, ge=1, description="Of a pasted text, and of an item that is written by hand."
    )
    max_written_items: int = Field(default=3_000, ge=0, description="Items of a knowledge base, written by hand.")
    max_instructions: int = Field(default=5_000, ge=0, description="Instructions of an organization.")
    max_directories: int = Field(default=1_000, ge=0, description="Directories of an organization's instructions.")
    max_dynamic_characters: int = Field(
        default=30_000,
        ge=0,
        description="Of all published dynamic instructions together, which are appended to each call's prompt.",
    )
    max_import_bytes: ByteSize = Field(
        default=ByteSize(1024 * _MB), ge=1, description="Of a JSONL file; a plain number, or with a unit: 500MiB."
    )
    max_import_lines: int = Field(default=1_000_000, ge=1, description="Of a JSONL file.")
    max_pdf_bytes: ByteSize = Field(default=ByteSize(5 * _MB), ge=1, description="Of a PDF.")
    max_pdf_pages: int = Field(default=100, ge=1, description="Of a PDF.")
    max_text_bytes: ByteSize = Field(
        default=ByteSize(10 * _MB), ge=1, description="Of plain text, Markdown, HTML or CSV."
    )
    max_office_bytes: ByteSize = Field(default=ByteSize(20 * _MB), ge=1, description="Of DOCX, ODT, RTF, PPTX or XLSX.")
    max_page_bytes: ByteSize = Field(default=ByteSize(5 * _MB), ge=1, description="Of a web page, unpacked.")
    max_page_seconds: float = Field(default=15.0, gt=0, description="For fetching a web page, redirects included.")
    extraction_seconds: float = Field(default=60.0, gt=0, description="For reading one file or page.")
    extraction_memory_bytes: ByteSize = Field(
        default=ByteSize(1536 * _MB),
        ge=256 * _MB,
        description="Memory of a process that reads a file or page; of an office file there are two.",
    )
    job_concurrency: int = Field(
        default=2, ge=1, le=32, description="Sources that one `work` process works on at once, of any organizations."
    )
    session_idle_minutes: int = Field(
        default=60, ge=1, description="After so long without a sign of it a call counts as lost."
    )
    metrics_host: str = Field(
        default="127.0.0.1", description="Where metrics are served, without a password: a private address."
    )
    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Their port, for Prometheus; they are served where it is set."
    )
    otlp_endpoint: AnyHttpUrl | None = Field(
        default=None, description="An OpenTelemetry collector, for traces by OTLP over HTTP; none where it is not set."
    )
    trace_ratio: float = Field(default=1.0, ge=0, le=1, description="Which part of the traces is recorded, 0 to 1.")
    console_idle_minutes: int = Field(
        default=60, ge=1, description="Without a request for so long a browser has to sign in to the console again."
    )
    console_session_hours: int = Field(
        default=12, ge=1, description="After so long it has to in any case; with its API key a session ends at once."
    )
    log_level: LogLevel = "info"

    @classmethod
    def from_env(cls) -> Self:
        """Read the environment.

        Raises:
            ConfigurationError: naming each variable that is missing or wrong, without its value.
        """
        return read_environment(cls)

    @property
    def embedder_choice(self) -> EmbedderChoice:
        """The embedder that organizations are to be searched by."""
        return EmbedderChoice(
            "ANSWERLINE_",
            self.embedder,
            self.embedding_base_url,
            self.embedding_api_key,
            self.embedding_model,
            self.embedding_dimensions,
        )

    @property
    def previous_embedder_choice(self) -> EmbedderChoice | None:
        """The embedder that some are still searched by; queue, timeout and breaker are set as the other's are."""
        if self.previous_embedder is None:
            return None
        return EmbedderChoice(
            "ANSWERLINE_PREVIOUS_",
            self.previous_embedder,
            self.previous_embedding_base_url,
            self.previous_embedding_api_key,
            self.previous_embedding_model,
            self.previous_embedding_dimensions,
        )

    def conninfo(self, role: Literal["voice", "owner", "manage"]) -> str:
        """The libpq URL of a role."""
        url: SecretStr | None = getattr(self, f"{role}_database_url")
        return (url or self.database_url).get_secret_value()


def read_environment(settings: type[_Settings]) -> _Settings:
    """The settings as the environment has them.

    Raises:
        ConfigurationError: naming each variable that is missing or wrong, without its value.
    """
    try:
        return settings()
    except SecretFileError as error:
        raise ConfigurationError(f"Set these secrets otherwise:\n  {error}") from None
    except ValidationError as error:
        lines = [
            f"{_variable(problem['loc'])}: {problem['msg']}"
            for problem in error.errors(include_input=False, include_url=False)
        ]
        raise ConfigurationError("Set these variables:\n  " + "\n  ".join(lines)) from None


def _variable(loc: tuple[int | str, ...]) -> str:
    name = str(loc[0]) if loc else "?"
    return name if name.isupper() else f"ANSWERLINE_{name.upper()}"
