"""The settings of the MCP server, which has no database."""

from typing import Self

from pydantic import AnyHttpUrl, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from contracts.secret_files import SecretFileSettings
from retrieval_sidecar.settings import LogLevel, read_environment


class McpSettings(SecretFileSettings):
    """Read from the environment, `ANSWERLINE_` before each name; an empty one counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix="ANSWERLINE_", frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    management_url: AnyHttpUrl = Field(
        default=AnyHttpUrl("http://127.0.0.1:8080"), description="The management API that the tools ask."
    )
    mcp_api_key: SecretStr | None = Field(
        default=None, description="Over standard input and output: the API key. Over HTTP each request brings its own."
    )
    mcp_host: str = Field(default="127.0.0.1", description="Where the MCP server listens, over HTTP.")
    mcp_port: int = Field(default=8070, ge=0, le=65535, description="0 takes a free port.")
    mcp_hosts: str = Field(
        default="",
        description="Beside this machine's own: the names that clients reach it by, with commas between them; "
        "`name:port` unless the port is the scheme's own.",
    )
    mcp_origins: str = Field(
        default="",
        description="The web pages that may use it, such as https://desk.example.com, with commas between them.",
    )
    log_level: LogLevel = "info"

    @classmethod
    def from_env(cls) -> Self:
        """Read the environment. Raises ConfigurationError, which names each variable that is wrong."""
        return read_environment(cls)

    @property
    def base(self) -> str:
        """The management API's address, without a slash at its end."""
        return str(self.management_url).rstrip("/")


def listed(text: str) -> list[str]:
    """What stands between the commas."""
    return [each.strip() for each in text.split(",") if each.strip()]
