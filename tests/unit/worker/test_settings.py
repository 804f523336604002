"""Settings: from the environment, by name, with secrets masked."""

import pytest

from worker import settings
from worker.settings import Settings, SettingsError

REQUIRED = {
    "LIVEKIT_URL": "ws://127.0.0.1:7880",
    "LIVEKIT_API_KEY": "key",
    "LIVEKIT_API_SECRET": "livekit-secret-value",
    "ANSWERLINE_SIDECAR_TOKEN": "sidecar-token-value",
    "OPENAI_API_KEY": "openai-key-value",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in settings.table().splitlines()[2:]:
        monkeypatch.delenv(variable.split("`")[1], raising=False)
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in REQUIRED.items():
        monkeypatch.setenv(name, value)


def test_what_is_required_is_enough() -> None:
    chosen = settings.from_env()
    assert str(chosen.sidecar_url) == "http://127.0.0.1:8090/"
    assert chosen.agent_name == "answerline"
    assert str(chosen.openai_base_url) == "https://api.openai.com/v1"


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(SettingsError, match=name):
        settings.from_env()


@pytest.mark.parametrize("name", REQUIRED)
def test_a_blank_variable_counts_as_missing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    with pytest.raises(SettingsError, match=name):
        settings.from_env()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIVEKIT_URL", "sentinel://host"),
        ("ANSWERLINE_SIDECAR_URL", "sentinel"),
        ("ANSWERLINE_WORKER_PORT", "sentinel"),
        ("ANSWERLINE_WORKER_PORT", "65536"),
        ("ANSWERLINE_LOAD_THRESHOLD", "-1"),
        ("ANSWERLINE_STT_LANGUAGE", "sentinel"),
        ("ANSWERLINE_DEFAULT_LANGUAGE", "English"),
        ("ANSWERLINE_LOG_LEVEL", "sentinel"),
        ("ANSWERLINE_TTS_VOICE", ""),
        ("ANSWERLINE_PIPELINE", "sentinel"),
        ("ANSWERLINE_REALTIME_BASE_URL", "sentinel"),
    ],
)
def test_a_wrong_value_names_the_variable_and_not_the_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name) as raised:
        settings.from_env()
    assert "sentinel://host" not in str(raised.value)


def test_all_faults_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in REQUIRED:
        monkeypatch.delenv(name)
    with pytest.raises(SettingsError) as raised:
        settings.from_env()
    assert all(name in str(raised.value) for name in REQUIRED)


def test_secrets_are_masked_wherever_settings_are_printed() -> None:
    printed = f"{settings.from_env()!r} {settings.from_env().model_dump_json()}"
    assert not any(secret in printed for name, secret in REQUIRED.items() if "value" in secret)
    assert "**********" in printed


def test_the_table_holds_every_setting_with_a_meaning() -> None:
    rows = settings.table().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    assert all(row.count("|") == 4 and not row.endswith("None |") for row in rows)
    assert "| `ANSWERLINE_SIDECAR_TOKEN` | required |" in settings.table()


@pytest.mark.parametrize(
    ("url", "no_proxy", "proxy"),
    [
        ("wss://livekit.example.com", "", "http://proxy.example.com:3128"),
        ("wss://livekit.example.com", "example.com", None),
        ("ws://livekit.example.com", "", None),
        ("ws://127.0.0.1:7880", "127.0.0.1", None),
    ],
)
def test_the_proxy_is_the_environments_unless_no_proxy_names_the_host(
    monkeypatch: pytest.MonkeyPatch, url: str, no_proxy: str, proxy: str | None
) -> None:
    monkeypatch.setenv("LIVEKIT_URL", url)
    monkeypatch.setenv("https_proxy", "http://proxy.example.com:3128")
    monkeypatch.setenv("no_proxy", no_proxy)
    assert settings.from_env().livekit_proxy == proxy
