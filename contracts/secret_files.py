"""Settings that may come as files: one for each secret, named like its variable, in the folder ANSWERLINE_SECRETS_DIR.

Not of the wire, but agreed between both sides all the same, so that an operator learns it once.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SecretsSettingsSource

LARGEST_BYTES: Final = 64 * 1024


class SecretFileError(Exception):
    """Files of secrets cannot be taken as they are; the message has a line for each, and no value."""


class SecretFileSettings(BaseSettings):
    """Settings of the environment, and of files for what the environment of a container must not show.

    Making one raises SecretFileError for a file that is readable by everybody, unreadable for us, blank, or beside a
    variable of the same name.
    """

    secrets_dir: Path | None = Field(
        default=None, description="A folder of files named like these variables, mode 600: for secrets."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's interface
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's own, which takes any file
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment first, as it names the folder."""
        return init_settings, env_settings, _SecretFiles(settings_cls)


class _SecretFiles(SecretsSettingsSource):
    def __call__(self) -> dict[str, Any]:
        named = self.current_state.get("secrets_dir")
        if not named:
            return {}
        folder = Path(named)
        if faults := list(self._faults(folder)):
            raise SecretFileError("\n  ".join(faults))
        self.secrets_dir = folder
        return super().__call__()

    def _faults(self, folder: Path) -> Iterator[str]:
        variable = f"{self.env_prefix}SECRETS_DIR"
        try:
            files = {path.name.upper(): path for path in folder.iterdir()}
        except OSError as error:
            yield f"{variable}: {folder} cannot be listed: {error.strerror}"
            return
        for name, field in self.settings_cls.model_fields.items():
            for key, environment_name, _ in self._extract_field_info(field, name):
                shown = environment_name.upper()
                if (path := files.get(shown)) is None:
                    continue
                if key in self.current_state:
                    yield f"{shown}: set as a variable and as the file {path}; keep one"
                elif fault := _fault(path):
                    yield f"{shown}: {path} {fault}"


def _fault(path: Path) -> str | None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a file"
        if status.st_mode & (stat.S_IRWXO | stat.S_IWGRP):
            return f"is open to others (mode {stat.S_IMODE(status.st_mode):o}): chmod 600"
        if status.st_size > LARGEST_BYTES:
            return f"has more than {LARGEST_BYTES} bytes"
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        return f"cannot be read by user {os.geteuid()}: {error.strerror}"
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    return None if text.strip() else "is empty"
