"""The command line, run as a person runs it."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.database import TestDatabase
from tests.support.sidecar import running_sidecar
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID

pytestmark = pytest.mark.timeout(120)


def sidecar(database: TestDatabase, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | database.environment | {"ANSWERLINE_EMBEDDER": "fake", "COLUMNS": "200"} | changes
    return subprocess.run(
        [sys.executable, "-m", "retrieval_sidecar", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_from_an_empty_database_to_an_answer(empty_database: TestDatabase, sample_folder: Path) -> None:
    files = (str(sample_folder / "organization.yaml"), str(sample_folder / "items.jsonl"))
    first = sidecar(empty_database, "load", *files)
    assert first.returncode == 0, first.stderr
    assert "125 items, 10 instructions, 2 agents; 135 passages searchable" in first.stdout
    again = sidecar(empty_database, "load", *files)
    assert again.stdout == first.stdout
    found = sidecar(empty_database, "search", "--number", "+15555550100", "--json", "pin 44 x on the card terminal")
    answer = json.loads(found.stdout)
    assert answer["status"] == "ok"
    assert "PIN-44-X" in answer["results"][0]["content"]


def test_a_bad_line_is_named_and_does_not_stop_the_rest(empty_database: TestDatabase, tmp_path: Path) -> None:
    organization = tmp_path / "organization.yaml"
    organization.write_text(
        f"organization: {{id: {ORGANIZATION_ID}, name: Shop, time_zone: UTC, default_language: en}}\n"
        "knowledge_bases: [{key: all, name: All}]\nagents: []\n"
    )
    good = {
        "external_id": "a",
        "title": "Parking",
        "language": "en",
        "region_code": "GLOBAL",
        "status": "published",
        "content": "Free on Sundays.",
        "source_hash": "1",
    }
    lines = [json.dumps(good), "{", json.dumps(good | {"external_id": "b", "language": "klingon"}), json.dumps(good)]
    items = tmp_path / "items.jsonl"
    items.write_text("\n".join(lines))
    done = sidecar(empty_database, "load", str(organization), str(items))
    assert done.returncode == 1
    assert "1 items" in done.stdout
    for number, field in ((2, "line"), (3, "language"), (4, "external_id")):
        assert f"line {number}: {field}:" in done.stderr


def test_an_organization_that_names_what_it_does_not_define_changes_nothing(
    empty_database: TestDatabase, tmp_path: Path, sample_folder: Path
) -> None:
    text = (
        (sample_folder / "organization.yaml").read_text("utf-8").replace("folders: [", "folders: ['upload:Nowhere', ")
    )
    assert "upload:Nowhere" in text
    organization = tmp_path / "organization.yaml"
    organization.write_text(text, encoding="utf-8")
    done = sidecar(empty_database, "load", str(organization), str(sample_folder / "items.jsonl"))
    assert done.returncode == 1
    assert "'upload:Nowhere' is not defined in the files" in done.stderr
    found = sidecar(empty_database, "search", "--number", "+15555550100", "parking")
    assert "must be a number that an agent answers" in found.stderr


def test_explain_says_what_was_found_and_not_given(database: TestDatabase) -> None:
    done = sidecar(
        database, "search", "--number", OPEN_NUMBER, "--caller", MEMBER, "--explain", "member lounge password"
    )
    assert done.returncode == 0, done.stderr
    assert "all_instructions, all_knowledge" in done.stdout
    assert "given" in done.stdout
    assert "not relevant" in done.stdout


def test_partition_advises_moves_and_moves_back(database: TestDatabase) -> None:
    organization = ("--organization", str(ORGANIZATION_ID))
    advised = sidecar(database, "partition", "--dry-run")
    assert advised.returncode == 0, advised.stderr
    assert [line.split()[-3:] for line in advised.stdout.splitlines() if str(ORGANIZATION_ID) in line] == [
        ["shared", "10", "stay"]
    ]
    for options, said in (((), "moved: a partition of its own"), (("--back",), "moved: shared")):
        done = sidecar(database, "partition", *organization, *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == said
    assert "Name the organization" in sidecar(database, "partition").stderr
    as_manager = sidecar(database, "partition", *organization, ANSWERLINE_OWNER_DATABASE_URL=database.url("manage"))
    assert as_manager.returncode == 1
    assert "ANSWERLINE_OWNER_DATABASE_URL" in as_manager.stderr


def test_self_test_says_of_each_part_whether_it_holds(database: TestDatabase) -> None:
    done = sidecar(database, "self-test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") == 6
    as_owner = sidecar(database, "self-test", ANSWERLINE_VOICE_DATABASE_URL=database.url("owner"))
    assert as_owner.returncode == 1
    assert "failed voice role" in as_owner.stdout
    assert "Connect as answerline_voice" in as_owner.stdout


async def test_a_token_works_until_it_is_revoked(database: TestDatabase) -> None:
    made = await asyncio.to_thread(sidecar, database, "token", "create", "desk", "--organization", str(ORGANIZATION_ID))
    token = made.stdout.strip()
    async with running_sidecar(database, token) as voice:
        session = await voice.open(OPEN_NUMBER)
        await session.search("parking garage")
        token_id = token.split("_")[1]
        revoked = await asyncio.to_thread(sidecar, database, "token", "revoke", token_id)
        assert revoked.returncode == 0, revoked.stderr
        await session.search("parking garage", expect=401)
        again = await asyncio.to_thread(sidecar, database, "token", "revoke", token_id)
        assert again.returncode == 1
        healthy = await asyncio.to_thread(sidecar, database, "health", "--url", voice.url)
        assert healthy.returncode == 0
        assert '"status": "ready"' in healthy.stdout


def test_health_of_nobody_says_what_to_do(database: TestDatabase) -> None:
    done = sidecar(database, "health", "--url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "retrieval-sidecar serve" in done.stderr


@pytest.mark.parametrize("command", [["serve"], ["migrate"], ["self-test"]])
def test_a_missing_setting_is_named(database: TestDatabase, command: list[str]) -> None:
    environment = {key: value for key, value in os.environ.items() if "DATABASE" not in key}
    done = subprocess.run(
        [sys.executable, "-m", "retrieval_sidecar", *command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "DATABASE_URL" in done.stderr


def test_no_credential_is_printed_when_the_database_refuses(database: TestDatabase) -> None:
    url = "postgresql://answerline_owner:sentinel-password@127.0.0.1:9/answerline"
    for command in (["migrate"], ["self-test"], ["search", "--number", OPEN_NUMBER, "parking"]):
        done = sidecar(
            database,
            *command,
            DATABASE_URL=url,
            ANSWERLINE_VOICE_DATABASE_URL=url,
            ANSWERLINE_OWNER_DATABASE_URL=url,
        )
        assert done.returncode == 1, command
        assert done.stderr.strip()
        assert "Traceback" not in done.stderr
        assert "sentinel-password" not in done.stdout + done.stderr


def test_migrations_go_down_and_up(empty_database: TestDatabase) -> None:
    assert sidecar(empty_database, "migrate", "base", "--down").stdout.strip().endswith("empty")
    up = sidecar(empty_database, "migrate")
    assert up.stdout.startswith("schema: empty")
    assert sidecar(empty_database, "self-test").returncode == 0
