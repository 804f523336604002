"""compose.yaml: who can reach whom, what is published, where secrets are, what ends when."""

import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from typer.main import get_command

from deploy import env_files, secret_files
from deploy.images import steps
from retrieval_sidecar.cli import app as sidecar_app
from retrieval_sidecar.mcp.settings import McpSettings
from retrieval_sidecar.settings import Settings as SidecarSettings
from worker.__main__ import app as worker_app
from worker.settings import Settings as WorkerSettings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
FILE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
OURS = {"migrate", "voice", "manage", "work", "worker"}
PINNED = re.compile(r"[\w./-]+:v?\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?")
CREDENTIAL = re.compile(r"SECRET(?!S_DIR)|TOKEN|KEY|PASSWORD(?!_FILE)|DATABASE_URL")


def peers(service: str) -> set[str]:
    """The services that share a network with one."""
    networks = set(SERVICES[service]["networks"])
    return {name for name, each in SERVICES.items() if networks & set(each["networks"])} - {service}


def has_way_out(service: str) -> bool:
    """Whether one of its networks leads out of the machine."""
    return any(
        not network.get("internal")
        and network.get("driver_opts", {}).get("com.docker.network.bridge.enable_ip_masquerade") != "false"
        for network in (FILE["networks"][name] or {} for name in SERVICES[service]["networks"])
    )


def seconds(duration: str) -> int:
    number, unit = int(duration[:-1]), duration[-1]
    return number * {"s": 1, "m": 60, "h": 3600}[unit]


@pytest.mark.parametrize(
    ("service", "reaches"),
    [
        ("worker", {"livekit", "voice", "egress"}),
        ("postgres", {"migrate", "voice", "manage", "work"}),
        ("redis", {"livekit", "sip"}),
        ("sip", {"livekit", "redis"}),
        ("manage", {"postgres", "migrate", "voice", "work", "mcp"}),
        ("mcp", {"manage"}),
    ],
)
def test_who_reaches_whom(service: str, reaches: set[str]) -> None:
    assert peers(service) == reaches


def test_only_these_have_a_way_out() -> None:
    assert {name for name in SERVICES if has_way_out(name)} == {"egress", "sip", "work"}


def test_nothing_is_published_to_others_but_the_trunk() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if service.get("ports")}
    trunk = published.pop("sip")
    assert all(re.match(r"(5060:5060/(udp|tcp)|(\d+-\d+):\3/udp)$", port) for port in trunk)
    assert published == {
        "manage": ["127.0.0.1:8080:8080"],
        "mcp": ["127.0.0.1:8070:8070"],
        "livekit": ["127.0.0.1:7880:7880"],
    }
    assert not [name for name, service in SERVICES.items() if "network_mode" in service or service.get("privileged")]


@pytest.mark.parametrize("service", SERVICES)
def test_it_is_hardened_and_bounded(service: str) -> None:
    each = SERVICES[service]
    assert each["read_only"] is True
    assert each["cap_drop"] == ["ALL"]
    assert "cap_add" not in each
    assert each["security_opt"] == ["no-new-privileges:true"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", each["user"])
    assert all(each.get(limit) for limit in ("mem_limit", "cpus", "pids_limit", "stop_grace_period"))
    assert each["healthcheck"].get("disable") or each["healthcheck"]["test"][0] == "CMD"
    assert PINNED.fullmatch(each["image"]), "an exact version"


@pytest.mark.parametrize("service", SERVICES)
def test_no_secret_is_in_the_environment(service: str) -> None:
    environment = SERVICES[service].get("environment", {})
    assert not [name for name in environment if CREDENTIAL.search(name)]
    assert not [value for value in environment.values() if "@" in str(value)]


def test_each_service_is_given_its_own_secrets_and_no_other() -> None:
    files = {name: each["file"] for name, each in FILE["secrets"].items()}
    used: dict[str, set[str]] = {
        name: {files[secret["source"]].removeprefix("secrets/") for secret in service.get("secrets", [])}
        for name, service in SERVICES.items()
    }
    assert all(path.startswith(f"{name}/") for name, paths in used.items() for path in paths)
    assert {path for paths in used.values() for path in paths} == {
        path.removeprefix("secrets/") for path in files.values()
    }
    assert used["worker"] == {
        f"worker/{variable}"
        for variable in ("LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "ANSWERLINE_SIDECAR_TOKEN", "OPENAI_API_KEY")
    }
    for service in OURS:
        assert SERVICES[service]["environment"]["ANSWERLINE_SECRETS_DIR"] == "/run/secrets"
        # Named like their variables, or they would not be read.
        for secret in SERVICES[service]["secrets"]:
            assert files[secret["source"]].endswith(f"/{secret['target']}")


def test_the_files_that_compose_mounts_are_those_that_the_command_makes(tmp_path: Path) -> None:
    made = {
        secret.name
        for secret in secret_files.wanted(tmp_path, database="d", livekit_url="ws://livekit:7880", redis="redis:6379")
    }
    mounted = {each["file"].removeprefix("secrets/") for each in FILE["secrets"].values()}
    assert made | set(secret_files.GIVEN) == mounted


def test_all_that_is_mounted_is_there() -> None:
    mounts = [mount.split(":") for service in SERVICES.values() for mount in service.get("volumes", [])]
    for source, *rest in mounts:
        if source.startswith("./"):
            assert (DEPLOY / source).exists(), source
            assert rest[-1] == "ro"
        else:
            assert source in FILE["volumes"]


@pytest.mark.parametrize("service", sorted(OURS))
def test_its_variables_are_settings(service: str) -> None:
    settings = WorkerSettings if service == "worker" else SidecarSettings
    known = {env_files.variable(settings, name) for name in settings.model_fields}
    assert set(SERVICES[service]["environment"]) - {"HTTPS_PROXY", "NO_PROXY"} <= known


def test_the_mcp_server_is_asked_for_and_holds_nothing() -> None:
    service = SERVICES["mcp"]
    assert service["profiles"] == ["mcp"]
    assert not [given for given in ("secrets", "volumes") if given in service]
    assert set(service["environment"]) <= {env_files.variable(McpSettings, name) for name in McpSettings.model_fields}
    assert service["command"][0] in vars(get_command(sidecar_app))["commands"]


def test_the_worker_asks_its_own_neighbours_directly_and_all_else_by_the_proxy() -> None:
    environment = SERVICES["worker"]["environment"]
    assert environment["HTTPS_PROXY"] == "http://egress:3128"
    assert {"livekit", "voice"} <= set(environment["NO_PROXY"].split(","))
    allowed = (DEPLOY / "compose/egress/allowed-hosts.txt").read_text("utf-8").split()
    assert WorkerSettings.model_fields["openai_base_url"].default.host in allowed
    assert not [host for host in allowed if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", host)], "whole names only"


def test_the_proxy_lets_through_what_it_lists_and_nothing_else() -> None:
    lines = (DEPLOY / "compose/egress/squid.conf").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("http_access")] == [
        "http_access allow tunnel https models",
        "http_access deny all",
    ]


def test_running_calls_end_before_what_they_lean_on() -> None:
    drain = cast("int", WorkerSettings.model_fields["drain_s"].default)
    after_drain = 30  # worker/server.py gives the end of a session so long
    graces = {name: seconds(service["stop_grace_period"]) for name, service in SERVICES.items()}
    assert graces["worker"] > drain + after_drain
    assert graces["livekit"] >= graces["worker"]
    assert graces["sip"] >= graces["worker"]


def test_nothing_of_the_sidecar_starts_before_the_schema_is_there() -> None:
    for service in ("voice", "manage", "work"):
        assert SERVICES[service]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


@pytest.mark.parametrize("service", sorted(OURS))
def test_its_command_is_one_of_the_images(service: str) -> None:
    app = worker_app if service == "worker" else sidecar_app
    command = SERVICES[service].get("command") or steps.read("worker")[-1].argv("CMD")
    assert command[0] in vars(get_command(app))["commands"]


def test_livekit_is_the_version_that_calls_are_tested_with() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert (
        SERVICES["livekit"]["image"]
        == "livekit/livekit-server:" + re.findall(r"^LIVEKIT_VERSION := (\S+)", makefile, re.MULTILINE)[0]
    )


def test_the_examples_of_environments_are_what_the_settings_say() -> None:
    for service in env_files.SETTINGS:
        shown = (env_files.FOLDER / f"{service}.env.example").read_text("utf-8")
        assert shown == env_files.example(service), "run `python -m deploy.env_files`"
        assert not [line for line in shown.splitlines() if line and not line.startswith("#")]


def test_an_example_has_every_setting_and_no_value_of_a_secret() -> None:
    shown = env_files.example("worker")
    for name, field in WorkerSettings.model_fields.items():
        assert env_files.variable(WorkerSettings, name) in shown
        if env_files.is_secret(field):
            assert f"{env_files.variable(WorkerSettings, name)}=" not in shown
    assert "# ANSWERLINE_DRAIN_S=1800\n" in shown


def test_an_example_uncommented_is_what_is_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://a@db.test/a")
    before = SidecarSettings.from_env()
    for name, value in re.findall(r"^# ([A-Z][A-Z0-9_]+)=(.*)$", env_files.example("voice"), re.MULTILINE):
        monkeypatch.setenv(name, value)
    assert SidecarSettings.from_env() == before


def test_secrets_are_made_once_closed_to_others_and_never_printed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deploy.secret_files", str(tmp_path / "secrets")]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    files = {path: path.read_text("utf-8") for path in (tmp_path / "secrets").rglob("*") if path.is_file()}
    assert len(files) == 12
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    assert "to do worker/OPENAI_API_KEY" in first
    owner = (tmp_path / "secrets/postgres/owner_password").read_text("utf-8")
    assert owner in (tmp_path / "secrets/migrate/DATABASE_URL").read_text("utf-8")
    assert not [text for text in files.values() if text in first and text != "answerline"]
    (tmp_path / "secrets/sip/sip.yaml").chmod(0o644)
    again = subprocess.run([*command, "--anew"], capture_output=True, text=True, check=True).stdout
    assert {path: path.read_text("utf-8") for path in files} == files
    assert stat.S_IMODE((tmp_path / "secrets/sip/sip.yaml").stat().st_mode) == 0o600
    assert owner not in again


def test_livekit_and_sip_share_one_key_with_the_worker(tmp_path: Path) -> None:
    made = {
        secret.name: secret.content
        for secret in secret_files.wanted(tmp_path, database="d", livekit_url="ws://livekit:7880", redis="redis:6379")
    }
    key, secret = made["worker/LIVEKIT_API_KEY"], made["worker/LIVEKIT_API_SECRET"]
    assert yaml.safe_load(made["livekit/keys.yaml"]) == {key: secret}
    sip = yaml.safe_load(made["sip/sip.yaml"])
    assert (sip["api_key"], sip["api_secret"]) == (key, secret)
    ports = [port for port in SERVICES["sip"]["ports"] if port.startswith("10000")]
    assert ports == [f"{sip['rtp_port']}:{sip['rtp_port']}/udp"]
    livekit = yaml.safe_load((DEPLOY / "compose/livekit/livekit.yaml").read_text("utf-8"))
    assert livekit["redis"] == sip["redis"]
    assert livekit["key_file"] == f"/run/secrets/{SERVICES['livekit']['secrets'][0]['target']}"
