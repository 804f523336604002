"""Secrets as files: named like the variables, closed to others, and never shown."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.secret_files import LARGEST_BYTES
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings as Sidecar
from worker import settings as worker
from worker.settings import SettingsError

SECRET = "sentinel-secret"
WORKER = {
    "LIVEKIT_URL": "ws://livekit.test:7880",
    "LIVEKIT_API_KEY": "key",
    "LIVEKIT_API_SECRET": SECRET,
    "ANSWERLINE_SIDECAR_TOKEN": SECRET,
    "OPENAI_API_KEY": SECRET,
}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a secret's file into the folder that the environment names; nothing else is set."""
    for name in os.environ:
        if name.startswith(("ANSWERLINE_", "LIVEKIT_", "OPENAI_", "DATABASE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ANSWERLINE_SECRETS_DIR", str(tmp_path))

    def write(name: str, content: str | bytes = SECRET, mode: int = 0o600) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path

    return write


def refusal() -> str:
    with pytest.raises(ConfigurationError) as raised:
        Sidecar.from_env()
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None
    return str(raised.value)


def test_the_sidecar_reads_files(write: Write) -> None:
    write("DATABASE_URL", f"postgresql://a:{SECRET}@db.test/a\n")
    write("ANSWERLINE_VOICE_DATABASE_URL", "postgresql://voice@db.test/a", 0o400)
    write("ANSWERLINE_EMBEDDING_API_KEY", mode=0o440)  # as Kubernetes gives it to the group of a pod
    settings = Sidecar.from_env()
    assert settings.conninfo("owner") == f"postgresql://a:{SECRET}@db.test/a"
    assert settings.conninfo("voice") == "postgresql://voice@db.test/a"
    assert settings.embedding_api_key is not None
    assert settings.embedding_api_key.get_secret_value() == SECRET
    assert SECRET not in f"{settings!r} {settings.model_dump_json()}"


def test_the_worker_reads_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_URL", WORKER["LIVEKIT_URL"])
    for name in set(WORKER) - {"LIVEKIT_URL"}:
        write(name, WORKER[name])
    chosen = worker.from_env()
    assert chosen.livekit_api_key == "key"
    assert chosen.sidecar_token.get_secret_value() == SECRET
    assert SECRET not in f"{chosen!r} {chosen.model_dump_json()}"


def test_a_file_that_kubernetes_links_is_read(write: Write, tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    write("..data/DATABASE_URL", "postgresql://a@db.test/a")
    (tmp_path / "DATABASE_URL").symlink_to("..data/DATABASE_URL")
    assert Sidecar.from_env().conninfo("voice") == "postgresql://a@db.test/a"


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o601, 0o620])
def test_a_file_open_to_others_is_refused(write: Write, mode: int) -> None:
    write("DATABASE_URL", mode=mode)
    assert f"DATABASE_URL is open to others (mode {mode:o}): chmod 600" in refusal()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        (b"\xff\xfe" + SECRET.encode(), "is not UTF-8"),
        ("x" * 70_000, "more than"),
    ],
)
def test_a_file_that_holds_no_secret_is_refused(write: Write, content: str | bytes, what: str) -> None:
    write("DATABASE_URL", content)
    assert what in refusal()
    assert str(LARGEST_BYTES) in refusal() or what != "more than"


def test_a_file_that_we_cannot_read_is_named(write: Write, tmp_path: Path) -> None:
    (tmp_path / "DATABASE_URL").symlink_to("nowhere")
    assert f"cannot be read by user {os.geteuid()}: No such file" in refusal()


def test_a_folder_in_the_place_of_a_file_is_refused(write: Write, tmp_path: Path) -> None:
    (tmp_path / "DATABASE_URL").mkdir()
    assert "is not a file" in refusal()


def test_a_secret_given_twice_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("DATABASE_URL")
    monkeypatch.setenv("DATABASE_URL", f"postgresql://other:{SECRET}@db.test/a")
    assert "DATABASE_URL: set as a variable and as the file" in refusal()


def test_a_folder_that_is_not_there_is_named(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERLINE_SECRETS_DIR", str(tmp_path / "missing"))
    assert "ANSWERLINE_SECRETS_DIR: " in refusal()


def test_all_faults_are_named_at_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_URL", WORKER["LIVEKIT_URL"])
    for name in set(WORKER) - {"LIVEKIT_URL"}:
        write(name, mode=0o644)
    with pytest.raises(SettingsError) as raised:
        worker.from_env()
    assert all(name in str(raised.value) for name in set(WORKER) - {"LIVEKIT_URL"})
    assert SECRET not in str(raised.value)


def test_files_of_no_setting_are_let_be(write: Write) -> None:
    # One that only the next version knows must not stop this one when it is rolled back.
    write("DATABASE_URL", "postgresql://a@db.test/a")
    write("ANSWERLINE_OF_TOMORROW", mode=0o644)
    assert Sidecar.from_env()


def test_no_folder_is_no_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("DATABASE_URL", "postgresql://a@db.test/a")
    monkeypatch.setenv("ANSWERLINE_SECRETS_DIR", "")
    assert "DATABASE_URL: Field required" in refusal()
