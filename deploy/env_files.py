"""Write the examples of environment files from the settings: `python -m deploy.env_files`, or `--check`."""

from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from contracts.secret_files import SecretFileSettings
from retrieval_sidecar.mcp.settings import McpSettings
from retrieval_sidecar.settings import Settings as SidecarSettings
from worker.settings import Settings as WorkerSettings

FOLDER: Final = Path(__file__).parent / "compose" / "env"
SETTINGS: Final[Mapping[str, type[SecretFileSettings]]] = {
    "voice": SidecarSettings,
    "manage": SidecarSettings,
    "mcp": McpSettings,
    "work": SidecarSettings,
    "worker": WorkerSettings,
}
_HEAD: Final = """\
# Every setting of `{service}`, with its default: copy to {service}.env and uncomment what is to differ.
# Written by `python -m deploy.env_files`. Secrets are files in deploy/secrets/{service}, never variables.
"""


def example(service: str) -> str:
    """The example of a service: a comment, and the variable with its default behind a comment sign."""
    settings = SETTINGS[service]
    return "\n".join([_HEAD.format(service=service), *_entries(settings)])


def variable(settings: type[SecretFileSettings], name: str) -> str:
    """The variable of a field."""
    alias = settings.model_fields[name].validation_alias
    return alias if isinstance(alias, str) else f"{settings.model_config.get('env_prefix', '')}{name}".upper()


def is_secret(field: FieldInfo) -> bool:
    """Whether it belongs into a file: what is masked, and the keys' names that go with it."""
    return "SecretStr" in str(field.annotation) or field.annotation is SecretStr


def _entries(settings: type[SecretFileSettings]) -> Iterator[str]:
    for name, field in settings.model_fields.items():
        yield f"# {field.description or 'One of: ' + _choices(field)}"
        shown = variable(settings, name)
        if is_secret(field):
            yield f"# A secret: {'required' if field.is_required() else 'optional'}, as a file.\n# {shown}\n"
        elif field.is_required():
            yield f"# Required.\n# {shown}=\n"
        else:
            yield f"# {shown}={_text(field.default)}\n"


def _choices(field: FieldInfo) -> str:
    return str(field.annotation).removeprefix("typing.Literal[").removesuffix("]").replace("'", "")


def _text(default: object) -> str:
    if default is None or default is PydanticUndefined:
        return ""
    return str(default.value if isinstance(default, Enum) else int(default) if isinstance(default, int) else default)


def main(
    *, check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when something would change.")] = False
) -> None:
    """Write them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for service in SETTINGS:
        path, text = FOLDER / f"{service}.env.example", example(service)
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            typer.echo(f"{path.name} is not what the settings say: python -m deploy.env_files", err=True)
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
