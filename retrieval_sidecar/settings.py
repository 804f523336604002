"""Every setting of the sidecar; the only reader of its environment."""

from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from retrieval_sidecar.errors import ConfigurationError


class Settings(BaseSettings):
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
    pool_size: int = Field(
        default=8, ge=1, le=200, description="Database connections of one sidecar; `/readyz` has one more of its own."
    )
    pool_queue: int = Field(
        default=64, ge=0, description="Requests that may wait for a database connection; more are refused with 503."
    )
    embedder: Literal["local", "openai", "fake"] = Field(
        default="local",
        description="local: multilingual-e5-small in the process; openai: any compatible endpoint.",
    )
    embedding_base_url: str = Field(default="https://api.openai.com/v1", description="For embedder=openai.")
    embedding_api_key: SecretStr | None = Field(default=None, description="For embedder=openai.")
    embedding_model: str = Field(default="text-embedding-3-small", description="For embedder=openai.")
    embedding_dimensions: int = Field(default=1536, ge=1, le=4000, description="For embedder=openai.")
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
    session_idle_minutes: int = Field(
        default=60, ge=1, description="After so long without a sign of it a call counts as lost."
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @classmethod
    def from_env(cls) -> Self:
        """Read the environment.

        Raises:
            ConfigurationError: naming each variable that is missing or wrong, without its value.
        """
        try:
            return cls()
        except ValidationError as error:
            lines = [
                f"{_variable(problem['loc'])}: {problem['msg']}"
                for problem in error.errors(include_input=False, include_url=False)
            ]
            raise ConfigurationError("Set these variables:\n  " + "\n  ".join(lines)) from None

    def conninfo(self, role: Literal["voice", "owner", "manage"]) -> str:
        """The libpq URL of a role."""
        url: SecretStr | None = getattr(self, f"{role}_database_url")
        return (url or self.database_url).get_secret_value()


def _variable(loc: tuple[int | str, ...]) -> str:
    name = str(loc[0]) if loc else "?"
    return name if name.isupper() else f"ANSWERLINE_{name.upper()}"
