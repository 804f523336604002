"""The way in: a file is read by a process of its own, which ends with this call whatever it was doing."""

import asyncio
import contextlib
import io
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog

import retrieval_sidecar
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.extraction.limits import Limits, megabytes
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, Reason, too_much_memory, too_slow

_READ_BYTES = 64 * 1024
_BYTES_A_CHARACTER = 4  # of JSON in UTF-8, at most
_ENVELOPE_BYTES = 64 * 1024
_PACKAGE_ROOT = Path(str(retrieval_sidecar.__path__[0])).parent
_log = structlog.get_logger(__name__)


async def extract(
    path: Path, limits: Limits | None = None, *, charset: str | None = None, page: bool = False
) -> Extracted:
    """Read a file, whatever it is; nothing of the attempt remains afterwards, neither process nor file.

    May be cancelled at any time. How many run at once is the caller's affair: each may take `limits.memory_bytes`
    twice over (the reader and pandoc) and one processor.

    Args:
        path: of a regular file. Its name does not matter.
        limits: as `Limits()` where left out.
        charset: what a server's header says of a text.
        page: it is a web page in HTML, of which only what it is about is wanted.

    Raises:
        ExtractionFailed: the file cannot be used; says why and what to do.
        ConfigurationError: the extra `ingest` is not installed.
        OSError: the file cannot be opened, or is a directory.
    """
    limits = limits or Limits()
    with _opened(path, limits) as file:
        answer, status = await _answer(file, limits, {"charset": charset, "page": page})
    if status:
        raise _died(status, limits)
    return _outcome(answer)


@contextlib.contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[io.FileIO]:
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    with open(path, "rb", buffering=0, opener=_without_waiting) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ExtractionFailed(Reason.UNSUPPORTED_TYPE, "This is not a regular file. Name the document itself.")
        if found.st_size > limits.largest_bytes:
            raise ExtractionFailed(
                Reason.TOO_LARGE,
                f"The file has {megabytes(found.st_size)}; no type may have more than "
                f"{megabytes(limits.largest_bytes)}. Split it.",
            )
        yield file


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


async def _answer(file: io.FileIO, limits: Limits, known: Mapping[str, Any]) -> tuple[bytes, int]:
    """What the reading process wrote, and how it ended."""
    most = limits.markdown_characters * _BYTES_A_CHARACTER + _ENVELOPE_BYTES
    with tempfile.TemporaryDirectory(prefix="answerline-extraction-") as directory:
        async with _started(file, limits, known, directory) as process:
            if process.stdout is None:
                raise RuntimeError("the process was started without a pipe")
            written = bytearray()
            try:
                async with asyncio.timeout(limits.seconds):
                    while chunk := await process.stdout.read(_READ_BYTES):
                        written += chunk
                        if len(written) > most:
                            raise ExtractionFailed(Reason.TOO_LARGE, "The text of the file is too long. Split it.")
                    return bytes(written), await process.wait()
            except TimeoutError:
                raise too_slow(limits) from None


@contextlib.asynccontextmanager
async def _started(
    file: io.FileIO, limits: Limits, known: Mapping[str, Any], directory: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The reading process: no environment of ours, no descriptor but its own three, a group that ends as one."""
    arguments = json.dumps(asdict(limits)), json.dumps(known)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-B", "-m", "retrieval_sidecar.extraction", *arguments),
        stdin=file,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=directory,
        env={
            "PYTHONPATH": str(_PACKAGE_ROOT),
            "PYTHONUTF8": "1",
            "HOME": directory,
            "TMPDIR": directory,
            # openpyxl loads numpy, and numpy's library would reserve address space for every processor.
            "OPENBLAS_NUM_THREADS": "1",
        },
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # Also reads what is left in the pipe, so that it can be closed.
        await process.communicate()


def _outcome(answer: bytes) -> Extracted:
    content = json.loads(answer)
    if "missing" in content:
        raise ConfigurationError(f"{content['missing']} is not installed: pip install 'answerline[ingest]'.")
    if failed := content.get("failed"):
        raise ExtractionFailed(Reason(failed["reason"]), failed["message"])
    return Extracted(**content["extracted"])


def _died(status: int, limits: Limits) -> ExtractionFailed:
    """The process ended without a word: a limit of the system, or a file that breaks its reader."""
    _log.warning("reading process ended early", status=status)
    if status == -signal.SIGXCPU:
        return too_slow(limits)
    if status == -signal.SIGKILL:
        return too_much_memory()
    return ExtractionFailed(
        Reason.DAMAGED,
        "The file cannot be read: it is damaged, or made in a way that needs more memory than is allowed. Open it in "
        "the program that it was made with, save it again, and upload that.",
    )
