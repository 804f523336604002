"""Settings: read in one place; what is missing or wrong is named, and no secret is shown."""

import os

import pytest

from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.settings import Settings

SECRET = "sentinel-secret"
URL = f"postgresql://voice:{SECRET}@db.example/answerline"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with the one variable that has to be there."""
    for name in os.environ:
        if name.startswith("ANSWERLINE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DATABASE_URL", URL)
    return monkeypatch


def test_one_variable_is_enough() -> None:
    settings = Settings.from_env()
    assert (settings.voice_host, settings.voice_port, settings.embedder) == ("127.0.0.1", 8090, "local")
    assert (settings.management_host, settings.management_port) == ("127.0.0.1", 8080)
    assert [settings.conninfo(role) for role in ("voice", "owner", "manage")] == [URL] * 3


def test_each_role_may_have_a_url_of_its_own(environment: pytest.MonkeyPatch) -> None:
    for role in ("voice", "owner", "manage"):
        environment.setenv(f"ANSWERLINE_{role.upper()}_DATABASE_URL", f"postgresql://{role}@db.example/x")
    settings = Settings.from_env()
    assert settings.conninfo("voice") == "postgresql://voice@db.example/x"
    assert settings.conninfo("owner") == "postgresql://owner@db.example/x"
    assert settings.conninfo("manage") == "postgresql://manage@db.example/x"


@pytest.mark.parametrize("value", [None, ""])
def test_a_database_url_that_is_missing_or_empty_is_named(environment: pytest.MonkeyPatch, value: str | None) -> None:
    # An empty URL would lead libpq to whatever server is on this machine.
    environment.delenv("DATABASE_URL")
    if value is not None:
        environment.setenv("DATABASE_URL", value)
    with pytest.raises(ConfigurationError, match="DATABASE_URL: Field required"):
        Settings.from_env()


def test_an_empty_variable_counts_as_not_set(environment: pytest.MonkeyPatch) -> None:
    for field in Settings.model_fields:
        if field != "database_url":
            environment.setenv(f"ANSWERLINE_{field.upper()}", "")
    assert Settings.from_env() == Settings.model_validate({"DATABASE_URL": URL})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ANSWERLINE_VOICE_PORT", "seven"),
        ("ANSWERLINE_VOICE_PORT", "65536"),
        ("ANSWERLINE_VOICE_PORT", "-1"),
        ("ANSWERLINE_MANAGEMENT_PORT", "65536"),
        ("ANSWERLINE_UPLOADS", "0"),
        ("ANSWERLINE_UPLOAD_TIMEOUT_S", "0"),
        ("ANSWERLINE_POOL_SIZE", "0"),
        ("ANSWERLINE_POOL_SIZE", "201"),
        ("ANSWERLINE_POOL_QUEUE", "-1"),
        ("ANSWERLINE_EMBEDDER", "remote"),
        ("ANSWERLINE_EMBEDDING_TIMEOUT_S", "0"),
        ("ANSWERLINE_EMBEDDING_BATCH", "0"),
        ("ANSWERLINE_QUERY_CACHE_SIZE", "-1"),
        ("ANSWERLINE_EMBEDDING_DIMENSIONS", "4001"),
        ("ANSWERLINE_SESSION_IDLE_MINUTES", "0"),
        ("ANSWERLINE_MAX_PASSAGES", "0"),
        ("ANSWERLINE_MAX_IMPORT_BYTES", "plenty"),
        ("ANSWERLINE_EXTRACTION_MEMORY_BYTES", "1MiB"),
        ("ANSWERLINE_JOB_CONCURRENCY", "0"),
        ("ANSWERLINE_LOG_LEVEL", "chatty"),
    ],
)
def test_a_wrong_value_is_named_by_its_variable(environment: pytest.MonkeyPatch, variable: str, value: str) -> None:
    environment.setenv(variable, value)
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_env()
    assert f"{variable}: " in str(raised.value)
    assert SECRET not in str(raised.value)


def test_all_that_is_wrong_is_named_at_once_and_no_value_of_it(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("DATABASE_URL")
    environment.setenv("ANSWERLINE_POOL_SIZE", SECRET)
    environment.setenv("ANSWERLINE_EMBEDDER", SECRET)
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_env()
    for variable in ("DATABASE_URL", "ANSWERLINE_POOL_SIZE", "ANSWERLINE_EMBEDDER"):
        assert variable in str(raised.value)
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None


def test_secrets_are_masked_wherever_settings_are_printed(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ANSWERLINE_VOICE_DATABASE_URL", URL)
    environment.setenv("ANSWERLINE_OWNER_DATABASE_URL", URL)
    environment.setenv("ANSWERLINE_MANAGE_DATABASE_URL", URL)
    environment.setenv("ANSWERLINE_EMBEDDING_API_KEY", SECRET)
    settings = Settings.from_env()
    for shown in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert SECRET not in shown


def test_every_setting_says_what_it_is_or_allows_few_values_only() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description or name == "log_level", name
