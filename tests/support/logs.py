"""What a process logs, for tests that no content is in it."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from retrieval_sidecar.telemetry import configure_logging


def told(written: str) -> str:
    """What lines of a log tell, without when: an answer of "12:00" is no leak where the clock says so.

    A line that is no entry of ours, such as a traceback's, is kept as it is.
    """
    return "\n".join(_told(line) for line in written.splitlines())


def _told(line: str) -> str:
    if not line.startswith("{"):
        return line
    entry = {name: value for name, value in json.loads(line).items() if name != "timestamp"}
    return json.dumps(entry, ensure_ascii=False)


class Lines:
    """What is logged, as JSON; reading it fails where it holds what it must not."""

    def __init__(self, stream: io.StringIO, *secrets: str) -> None:
        self._stream = stream
        self.secrets = set(secrets)

    def all(self) -> list[dict[str, Any]]:
        written = self._stream.getvalue()
        content = told(written).casefold()
        for secret in self.secrets:
            assert secret not in content
        return [json.loads(line) for line in written.splitlines()]

    def of(self, event: str) -> dict[str, Any]:
        (line,) = [line for line in self.all() if line["event"] == event]
        return line


@contextmanager
def logged(*secrets: str) -> Iterator[Lines]:
    """Logging as `serve` has it, at its most talkative; put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logging("debug")
    stream = io.StringIO()
    (handler,) = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield Lines(stream, *secrets)
    root.handlers, root.level = handlers, level
    logging.getLogger("aiohttp.access").setLevel(logging.NOTSET)
    structlog.reset_defaults()
