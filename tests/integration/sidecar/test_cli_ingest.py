"""Bringing knowledge in from the command line, run as a person runs it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.added import FIRST, SECOND, organizations
from tests.support.database import TestDatabase
from tests.support.files import office
from tests.support.inspection import rows, until, value

pytestmark = pytest.mark.timeout(120)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "retrieval_sidecar", *arguments]


def environment(database: TestDatabase, **changes: str) -> dict[str, str]:
    return os.environ | database.environment | {"ANSWERLINE_EMBEDDER": "fake", "COLUMNS": "250"} | changes


async def sidecar(
    database: TestDatabase, *arguments: str, given: str | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run,
        command(*arguments),
        env=environment(database, **changes),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def at_work(database: TestDatabase) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command("work"), env=environment(database), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def a_worker(database: TestDatabase) -> None:
    async def found() -> bool | None:
        return await value(database, "select exists (select from jobs.procrastinate_workers)") or None

    await until(found, seconds=60)


async def test_what_is_added_is_worked_on_here_where_nobody_else_does_and_again_changes_nothing(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    await organizations(empty_database, FIRST)
    (tmp_path / "hours.md").write_text("# Hours\n\nWe open at nine.", encoding="utf-8")
    (tmp_path / "prices.docx").write_bytes(office.docx_file("Prices", "A lamp costs €4.", [], [["Code"], ["A"]]))
    paths = [str(tmp_path / "hours.md"), str(tmp_path / "prices.docx")]
    first = await sidecar(empty_database, "ingest", *paths, "--base", "Shop")
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("ready; 1 items, 1 passages") == 2
    assert await rows(empty_database, "select name from knowledge_base") == [("Shop",)]
    again = await sidecar(empty_database, "ingest", *paths, "--json")
    found = json.loads(again.stdout)
    assert [(each["name"], each["status"], each["changed"]) for each in found] == [
        ("hours.md", "ready", False),
        ("prices.docx", "ready", False),
    ]
    assert await value(empty_database, "select count(*) from ingest_run") == 2
    assert await rows(empty_database, "select actor, action, object_type from audit_log order by at, object_type") == [
        ("command line", "create", "knowledge_base"),
        *[("command line", "create", "source")] * 2,
    ]
    (tmp_path / "hours.md").write_text("# Hours\n\nWe open at ten.", encoding="utf-8")
    changed = await sidecar(empty_database, "ingest", paths[0])
    assert changed.returncode == 0, changed.stderr
    assert await value(empty_database, "select content from passage where content like '%%open%%'") == (
        "# Hours\n\nWe open at ten."
    )


async def test_what_cannot_be_used_is_named_with_why_and_what_to_do_and_does_not_stop_the_rest(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    await organizations(empty_database, FIRST)
    (tmp_path / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0")
    (tmp_path / "good.txt").write_text("We open at nine.", encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "good.txt").write_text("We open at ten.", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("scan.png", "good.txt", "none.txt", "other", "other/good.txt")]
    done = await sidecar(empty_database, "ingest", *paths, "http://127.0.0.1/", "-", given="pasted")
    assert done.returncode == 1
    assert "scan.png" in done.stderr
    for words in (
        "failed, unsupported_type. The file is",
        "Save it as one of these",
        "none.txt: not added. There is no such file.",
        "other: not added. It is a folder",
        "Another one that is called good.txt",
        "127.0.0.1/: not added. url: ",
        "-: not added. What is pasted needs a title",
    ):
        assert words in done.stderr, done.stderr
    assert "good.txt" in done.stdout
    assert "Traceback" not in done.stderr


async def test_a_worker_elsewhere_does_the_work_and_stops_when_it_is_told_to(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    await organizations(empty_database, FIRST)
    waiting = await sidecar(empty_database, "ingest", "-", "--name", "Часы", "--no-wait", given="Мы открыты с девяти.")
    assert waiting.returncode == 0, waiting.stderr
    assert "Часы" in waiting.stdout
    assert "waits for retrieval-sidecar work" in waiting.stdout
    with at_work(empty_database) as worker:
        await a_worker(empty_database)
        (tmp_path / "a.txt").write_text("We open at nine.", encoding="utf-8")
        followed = await sidecar(empty_database, "ingest", str(tmp_path / "a.txt"), ANSWERLINE_EMBEDDER="openai")
        # It has no embedder of its own: it could not have done it.
        assert followed.returncode == 0, followed.stderr
        worker.send_signal(signal.SIGTERM)
        await asyncio.to_thread(worker.wait, 60)
        assert worker.returncode == 0
        assert worker.stderr is not None
        log = worker.stderr.read()
    assert "Часы" not in log
    assert "a.txt" not in log
    assert all("event" in json.loads(line) for line in log.splitlines())
    assert await value(empty_database, "select count(*) from jobs.procrastinate_workers") == 0
    listed = json.loads((await sidecar(empty_database, "ingest", "status", "--json")).stdout)
    assert {(each["base"], each["name"], each["kind"], each["status"]) for each in listed} == {
        ("Knowledge", "Часы", "text", "ready"),
        ("Knowledge", "a.txt", "file", "ready"),
    }


async def test_sources_are_listed_read_again_and_removed(empty_database: TestDatabase, tmp_path: Path) -> None:
    await organizations(empty_database, FIRST)
    path = tmp_path / "status"
    path.write_text("We open at nine.", encoding="utf-8")
    # A file that is called as a command is.
    added = await asyncio.to_thread(
        subprocess.run,
        command("ingest", "./status"),
        env=environment(empty_database) | {"PYTHONPATH": str(Path.cwd())},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert added.returncode == 0, added.stderr
    source_id = str(await value(empty_database, "select source_id from source"))
    table = await sidecar(empty_database, "ingest", "status")
    assert source_id in table.stdout
    again = await sidecar(empty_database, "ingest", "reprocess", source_id, str(uuid4()), "--json")
    assert again.returncode == 1
    found: list[dict[str, Any]] = json.loads(again.stdout)
    assert [(each["status"], each["error"]) for each in found] == [("ready", None), ("failed", "Not found.")]
    removed = await sidecar(empty_database, "ingest", "remove", source_id)
    assert removed.stdout == "status: removed\n"
    assert await value(empty_database, "select count(*) from source") == 0
    assert (await sidecar(empty_database, "ingest", "remove", source_id)).returncode == 1


async def test_whose_and_which_base_is_asked_where_there_are_several(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    none = await sidecar(empty_database, "ingest", "status")
    assert "There is no organization yet" in none.stderr
    await organizations(empty_database, FIRST, SECOND)
    several = await sidecar(empty_database, "ingest", "status")
    assert "There are 2 organizations" in several.stderr
    path = tmp_path / "a.txt"
    path.write_text("We open at nine.", encoding="utf-8")
    of_second = ("--organization", str(SECOND), "--no-wait")
    for base in ("A", "B"):
        done = await sidecar(empty_database, "ingest", str(path), "--base", base, *of_second)
        assert done.returncode == 0, done.stderr
    which = await sidecar(empty_database, "ingest", str(path), *of_second)
    assert which.returncode == 1
    assert "with --base: A, B" in which.stderr
    assert await rows(empty_database, "select distinct organization_id from source") == [(SECOND,)]


async def test_lines_that_are_not_taken_are_shown_and_how_many_more(
    empty_database: TestDatabase, tmp_path: Path
) -> None:
    await organizations(empty_database, FIRST)
    good = {
        "external_id": "a",
        "title": "Parking",
        "language": "en",
        "region_code": "GLOBAL",
        "status": "published",
        "content": "Free on Sundays.",
        "source_hash": "1",
    }
    path = tmp_path / "items.txt"  # what it is, is told from its first line
    path.write_text("\n".join([json.dumps(good), *["{"] * 23]), encoding="utf-8")
    done = await sidecar(empty_database, "ingest", str(path))
    assert done.returncode == 0, done.stderr
    assert "24 lines: 1 created, 0 updated, 0 unchanged, 23 rejected" in done.stdout
    assert "line 2: line: " in done.stderr
    assert done.stderr.count(": line: ") == 20
    assert "and 3 more lines" in done.stderr
