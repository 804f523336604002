"""The reading process itself: what it is given, what it may do, and how it ends."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest

import retrieval_sidecar
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.extraction import process
from retrieval_sidecar.extraction.limits import MB, Limits
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, Reason
from retrieval_sidecar.extraction.process import extract
from tests.support.files import office

Extract = Callable[..., Coroutine[Any, Any, Extracted]]
ROOT = Path(retrieval_sidecar.__path__[0]).parent


def confined(code: str, limits: Limits | None = None) -> subprocess.CompletedProcess[str]:
    """Run code as the reading process runs its readers."""
    prologue = (
        "import json, sys\n"
        "from retrieval_sidecar.extraction.confinement import confine\n"
        "from retrieval_sidecar.extraction.limits import Limits\n"
        "confine(Limits(**json.loads(sys.argv[1])))\n"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", prologue + code, json.dumps(asdict(limits or Limits()))],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )


def test_memory_is_held_to_the_limit() -> None:
    done = confined(f"try: bytearray({400 * MB})\nexcept MemoryError: print('refused')", Limits(memory_bytes=300 * MB))
    assert done.stdout == "refused\n"


def test_nothing_can_be_written_to_disk(tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = confined(f"open({str(path)!r}, 'wb', 0).write(b'x')")
    assert "File too large" in done.stderr
    assert path.read_bytes() == b""


def test_files_can_only_be_opened_to_the_limit() -> None:
    done = confined("try: [open('/dev/null') for _ in range(99)]\nexcept OSError as e: print(e.errno)")
    assert done.stdout == "24\n"


def test_processor_time_ends_with_the_limit() -> None:
    done = confined("import resource; print(resource.getrlimit(resource.RLIMIT_CPU))", Limits(seconds=6.5))
    assert done.stdout == "(7, 7)\n"


def test_there_is_no_network_where_the_kernel_allows_to_leave_it() -> None:
    """The same question as `confine` asks: where an unprivileged process may not, the other limits hold alone."""
    allowed = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False).returncode == 0
    done = confined("import socket; print([name for _, name in socket.if_nameindex()])")
    assert (done.stdout == "['lo']\n") or not allowed


async def test_the_reader_gets_neither_environment_nor_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the reader, a process that says what it has."""
    secret = "postgresql://secret"
    monkeypatch.setenv("DATABASE_URL", secret)
    module = tmp_path / "retrieval_sidecar" / "extraction"
    module.mkdir(parents=True)
    (module.parent / "__init__.py").touch()
    (module / "__init__.py").touch()
    (module / "__main__.py").write_text(
        "import json, os\n"
        "own = os.getpgid(0) == os.getpid()\n"
        "open_ = [int(n) for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]\n"
        "said = {'env': sorted(os.environ), 'fds': open_, 'cwd': os.listdir('.'), 'leads': own}\n"
        "said = json.dumps(said)\n"
        "print(json.dumps({'extracted': {'title': None, 'markdown': said, 'media_type': 'x', 'pages': None}}))\n"
    )
    monkeypatch.setattr(process, "_PACKAGE_ROOT", tmp_path)
    with (tmp_path / "kept open").open("wb") as file:
        os.set_inheritable(file.fileno(), True)  # noqa: FBT003
        (tmp_path / "upload").write_bytes(b"x")
        said = json.loads((await extract(tmp_path / "upload")).markdown)
    assert set(said["env"]) <= {"HOME", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "PYTHONPATH", "PYTHONUTF8", "TMPDIR"}
    assert said["fds"] == [0, 1, 2]
    assert said["cwd"] == []
    assert said["leads"] is True


class _Reader:
    """A reader that waits for ever, with a process of its own; written to a folder that is used in place of ours."""

    def __init__(self, folder: Path, code: str) -> None:
        self.root = folder / "other"
        module = self.root / "retrieval_sidecar" / "extraction"
        module.mkdir(parents=True)
        (module.parent / "__init__.py").touch()
        (module / "__init__.py").touch()
        (module / "__main__.py").write_text(code)
        self.started = folder / "started"
        os.mkfifo(self.started)

    async def pids(self) -> list[int]:
        """Waits until both processes are there."""
        return [int(pid) for pid in (await asyncio.to_thread(self.started.read_text)).split()]


WAITING = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
with open({started!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
signal.pause()
"""


@pytest.fixture
def waiting_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Reader:
    reader = _Reader(tmp_path, WAITING.format(started=str(tmp_path / "started")))
    monkeypatch.setattr(process, "_PACKAGE_ROOT", reader.root)
    return reader


async def test_a_cancelled_extraction_ends_every_process(read: Extract, waiting_reader: _Reader) -> None:
    task = asyncio.create_task(read(b"x"))
    pids = await waiting_reader.pids()
    assert all(psutil.pid_exists(pid) for pid in pids)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _gone(pids)


async def test_time_out_ends_every_process(
    read: Extract, waiting_reader: _Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is over when the test says so, however long the processes took to start."""
    timeouts = []
    real = asyncio.timeout

    def kept(delay: float | None) -> asyncio.Timeout:
        timeouts.append(real(delay))
        return timeouts[-1]

    monkeypatch.setattr(asyncio, "timeout", kept)
    task = asyncio.create_task(read(b"x", Limits(seconds=250)))
    pids = await waiting_reader.pids()
    timeouts[0].reschedule(asyncio.get_running_loop().time())
    with pytest.raises(ExtractionFailed) as caught:
        await task
    assert caught.value.reason is Reason.TOO_SLOW
    await _gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_the_reader_ends_with_the_sidecar_however_that_ends() -> None:
    reader = (
        "import os, signal\n"
        "from retrieval_sidecar.extraction.confinement import confine\n"
        "from retrieval_sidecar.extraction.limits import Limits\n"
        "confine(Limits()); print(os.getpid(), flush=True); signal.pause()"
    )
    sidecar = f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {reader!r}])"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", sidecar], stdout=subprocess.PIPE, env={"PYTHONPATH": str(ROOT)}
    ) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        running.kill()
        running.wait()
        assert running.stdout.read() == b""  # the reader held the other end
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(60)


async def test_output_is_bounded_while_it_is_read(
    read: Extract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = _Reader(tmp_path, "while True: print('x' * 4096)")
    monkeypatch.setattr(process, "_PACKAGE_ROOT", reader.root)
    with pytest.raises(ExtractionFailed) as caught:
        await read(b"x", Limits(markdown_characters=1000))
    assert caught.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("signal_name", "reason"),
    [("SIGKILL", Reason.TOO_MUCH_MEMORY), ("SIGXCPU", Reason.TOO_SLOW), ("SIGSEGV", Reason.DAMAGED)],
)
async def test_a_reader_that_dies_is_an_outcome(
    read: Extract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal_name: str, reason: Reason
) -> None:
    reader = _Reader(
        tmp_path, f"import os, signal; print('{{', flush=True); os.kill(os.getpid(), signal.{signal_name})"
    )
    monkeypatch.setattr(process, "_PACKAGE_ROOT", reader.root)
    with pytest.raises(ExtractionFailed) as caught:
        await read(b"x")
    assert caught.value.reason is reason


async def test_without_the_libraries_the_operator_is_told(
    read: Extract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = _Reader(tmp_path, """print('{"missing": "pypdfium2"}')""")
    monkeypatch.setattr(process, "_PACKAGE_ROOT", reader.root)
    with pytest.raises(ConfigurationError, match=r"pypdfium2 .*answerline\[ingest\]"):
        await read(b"x")


async def test_several_at_once_do_not_mix(tmp_path: Path) -> None:
    for index in range(4):
        (tmp_path / f"{index}").write_bytes(office.docx_file(f"Title {index}", "x", [], [["y"]]))
    found = await asyncio.gather(*(extract(tmp_path / f"{index}") for index in range(4)))
    assert [each.title for each in found] == [f"Title {index}" for index in range(4)]


async def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExtractionFailed) as caught:
        await extract(tmp_path / "pipe")
    assert caught.value.reason is Reason.UNSUPPORTED_TYPE
    with pytest.raises(IsADirectoryError):
        await extract(tmp_path)
    with pytest.raises(FileNotFoundError):
        await extract(tmp_path / "none")


async def _gone(pids: list[int]) -> None:
    """Waits for processes to be reaped: the group is killed by then, its members belong to another parent."""
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            await asyncio.to_thread(psutil.Process(pid).wait, 60)
