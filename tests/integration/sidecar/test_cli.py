"""The command line, run as a person runs it."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from tests.support.database import TestDatabase
from tests.support.embedding_service import embedding_service
from tests.support.inspection import rows, value
from tests.support.management import BASES, running_management
from tests.support.sidecar import TestClock, running_sidecar, write_files
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

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


def test_calibrate_shows_what_came_of_it_and_a_dry_run_stores_nothing(
    empty_database: TestDatabase, sample_folder: Path, tmp_path: Path
) -> None:
    sidecar(empty_database, "load", str(sample_folder / "organization.yaml"), str(sample_folder / "items.jsonl"))
    titles = [json.loads(line) for line in (sample_folder / "items.jsonl").read_text("utf-8").splitlines()[:40]]
    questions = tmp_path / "questions.jsonl"
    asked = [{"query": row["title"], "language": row["language"], "expected": [row["external_id"]]} for row in titles]
    asked += [{"query": f"colour of the {number}th unicorn", "expected": []} for number in range(12)]
    questions.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")

    def stored() -> list[object]:
        with psycopg.connect(empty_database.url("owner")) as connection:
            return [row[0] for row in connection.execute("select calibration from embedding_space").fetchall()]

    command = ("calibrate", "--number", "+15555550100", "--questions", str(questions), "--lost", "0.1")
    shown = sidecar(empty_database, *command, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "labelled questions" in shown.stdout
    assert "the model's own" in shown.stdout
    assert "this was a dry run" in shown.stdout
    assert stored() == [None]
    done = sidecar(empty_database, *command)
    assert "Stored; the next search uses it." in done.stdout, done.stdout + done.stderr
    assert stored() != [None]


def test_calibrate_says_why_a_small_corpus_keeps_the_models_own(database: TestDatabase) -> None:
    done = sidecar(database, "calibrate", "--organization", str(ORGANIZATION_ID))
    assert done.returncode == 0, done.stderr
    assert "The model's own calibration stays" in done.stdout
    assert "are too few" in done.stdout


def test_calibrate_names_what_is_wrong_with_its_arguments(database: TestDatabase, tmp_path: Path) -> None:
    assert "either --number or --organization" in sidecar(database, "calibrate").stderr
    unknown = sidecar(database, "calibrate", "--number", "+15555550888")
    assert "must be a number that an agent answers" in unknown.stderr
    missing = sidecar(database, "calibrate", "--organization", "99999999-9999-4999-8999-999999999999")
    assert (missing.returncode, missing.stderr.splitlines()[-1]) == (1, "Not found.")
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"query": "when"}\nnothing\n', encoding="utf-8")
    bad = sidecar(database, "calibrate", "--number", OPEN_NUMBER, "--questions", str(questions))
    assert bad.returncode == 1
    assert "line 1: expected" in bad.stderr
    assert "line 2: line" in bad.stderr
    assert "Traceback" not in bad.stderr


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
    assert done.stdout.count("ok ") == 7
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


async def test_an_api_key_is_made_shown_and_revoked(database: TestDatabase) -> None:
    organization = ("--organization", str(ORGANIZATION_ID))
    made = sidecar(
        database, "key", "create", "nightly import", *organization, "--permission", "agents.edit", "--days", "9"
    )
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    async with running_management(database, key, clock=TestClock(datetime.now(UTC))) as client:
        await client.new_base("Patients")
        shown = sidecar(database, "key", "list", *organization, "--json")
        (listed,) = json.loads(shown.stdout)
        assert (listed["name"], listed["permissions"], listed["revoked_at"]) == (
            "nightly import",
            ["agents.edit"],
            None,
        )
        assert listed["last_used_at"] is not None
        assert listed["expires_at"] is not None
        assert key.split("_", 3)[3] not in shown.stdout
        assert "nightly import" in sidecar(database, "key", "list", *organization).stdout
        assert sidecar(database, "key", "revoke", listed["id"], *organization).stdout == "revoked\n"
        assert (await client.get(BASES)).status == 401
    again = sidecar(database, "key", "revoke", listed["id"], *organization)
    assert (again.returncode, "revoked already" in again.stderr) == (1, True)
    who = await rows(database, "select actor, action, after ->> 'name' from audit_log where object_type = 'api_key'")
    assert who == [("command line", "create", "nightly import"), ("command line", "revoke", None)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["create", "x", "--organization", str(UUID(int=5)), "--permission", "admin"], "There is no organization"),
        (["create", "x", "--organization", str(ORGANIZATION_ID), "--permission", "all"], "must be one or more of"),
        (["create", " ", "--organization", str(ORGANIZATION_ID), "--permission", "admin"], "name: must hold"),
        (["list", "--organization", str(UUID(int=5))], "There is no organization"),
        (["revoke", str(UUID(int=5)), "--organization", str(ORGANIZATION_ID)], "There is no such key"),
    ],
)
def test_a_command_on_keys_says_what_there_is_not(database: TestDatabase, arguments: list[str], told: str) -> None:
    done = sidecar(database, "key", *arguments)
    assert done.returncode == 1
    assert told in done.stderr


def test_the_management_api_does_not_start_on_the_voice_apis_port(database: TestDatabase) -> None:
    done = sidecar(database, "manage", ANSWERLINE_MANAGEMENT_PORT="8090")
    assert done.returncode == 1
    assert "ANSWERLINE_MANAGEMENT_PORT and ANSWERLINE_VOICE_PORT are both 8090" in done.stderr


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


async def test_the_model_is_changed_by_commands_while_the_old_one_answers(database: TestDatabase) -> None:
    async with embedding_service() as service:
        settings = {
            "ANSWERLINE_EMBEDDER": "openai",
            "ANSWERLINE_EMBEDDING_BASE_URL": service.url,
            "ANSWERLINE_EMBEDDING_API_KEY": "key",
            "ANSWERLINE_EMBEDDING_MODEL": "new",
            "ANSWERLINE_EMBEDDING_DIMENSIONS": "96",
        }
        both = settings | {"ANSWERLINE_PREVIOUS_EMBEDDER": "fake"}
        its = ("--organization", str(ORGANIZATION_ID))

        async def run(*arguments: str, by: dict[str, str] | None = None, status: int = 0) -> str:
            done = await asyncio.to_thread(sidecar, database, *arguments, **by or {})
            assert done.returncode == status, done.stdout + done.stderr
            assert "Traceback" not in done.stderr
            return " ".join((done.stdout + done.stderr).split())

        # What only calls itself an embedding model is found out; that both are there is another matter.
        assert "ok embedding models: 1 organizations by fake-words" in await run("self-test", status=1, by=both)
        alone = await run("self-test", status=1, by=settings)
        assert "failed embedding models: 1 organizations by fake-words. Those by fake-words" in alone
        assert "new@96 is complete, 14 passages" in await run("reembed", *its, "--no-switch", by=both)
        assert "fake-words 64 14 of 14 yes yes new@96 96 14 of 14 yes no" in await run("spaces", *its)
        assert "searched by new@96, 14 passages" in await run("reembed", "--all", by=both)
        found = await run("search", "--number", OPEN_NUMBER, "parking garage", by=both)
        assert "ok in" in found
        assert "degraded" not in found
        assert "degraded" in await run("search", "--number", OPEN_NUMBER, "parking garage")
        assert "is not configured here" in await run("reembed", *its, "--switch-to", "old", status=1, by=both)
        assert "searched by fake-words" in await run("reembed", *its, "--switch-to", "fake-words", by=both)
        assert "switch to another one first" in await run("reembed", *its, "--drop", "fake-words", status=1)
        assert "new@96 is dropped" in await run("reembed", *its, "--drop", "new@96")
        assert "new@96" not in await run("spaces", *its)
        assert "There are no vectors of new@96" in await run(
            "reembed", *its, "--switch-to", "new@96", status=1, by=both
        )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["reembed"], "Say whose knowledge"),
        (["reembed", "--all", "--organization", str(ORGANIZATION_ID)], "Say whose knowledge"),
        (["reembed", "--all", "--no-switch", "--drop", "x"], "Choose one of"),
        (["reembed", "--organization", str(UUID(int=0))], "There is no organization"),
        (["spaces", "--organization", str(UUID(int=0))], "There is no organization"),
    ],
)
def test_reembed_says_what_it_needs_to_know(database: TestDatabase, arguments: list[str], told: str) -> None:
    done = sidecar(database, *arguments)
    assert done.returncode == 1
    assert told in done.stderr


def test_a_load_that_a_complete_space_could_not_follow_changes_nothing(database: TestDatabase, tmp_path: Path) -> None:
    files = write_files(
        tmp_path, organization(), [*items(), item("bike", "Bicycle", "The bicycle rental opens at nine.")]
    )
    asyncio.run(rows(database, "update embedding_space set model = 'gone'"))
    refused = sidecar(database, "load", *map(str, files))
    assert refused.returncode == 1
    assert "ANSWERLINE_PREVIOUS_EMBEDDER" in refused.stderr
    assert asyncio.run(value(database, "select count(*) from knowledge_item where title = 'Bicycle'")) == 0
    done = sidecar(database, "load", *map(str, files), "--forget-space", "gone")
    assert done.returncode == 0, done.stderr
    assert asyncio.run(rows(database, "select model, active from embedding_space")) == [("fake-words", True)]
    found = sidecar(database, "search", "--number", OPEN_NUMBER, "bicycle rental opens")
    assert "Bicycle" in found.stdout
