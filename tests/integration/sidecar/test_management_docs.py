"""docs/management.md says what there is, and its examples run as they stand."""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from contracts import pins
from retrieval_sidecar.http import problems
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.management import key_for, running_management
from tests.support.small_organization import ORGANIZATION_ID

DOCS = (Path(__file__).parents[3] / "docs" / "management.md").read_text("utf-8")


def test_the_routes_and_permissions_are_those_of_the_document() -> None:
    told = re.findall(r"^\| `([A-Z]+) (/\S+)` \| `([a-z.]+)` \|", DOCS, re.MULTILINE)
    paths = yaml.safe_load(pins.document("management"))["paths"]
    there = [
        (method.upper(), path.removeprefix("/api/v1"), operation["x-permission"])
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "x-permission" in operation
    ]
    assert sorted(told) == sorted(there)


def test_the_errors_are_those_that_there_are() -> None:
    told = {(int(status), code) for status, code in re.findall(r"^\| (\d+) \| `(\w+)` \|", DOCS, re.MULTILINE)}
    there = {*problems.STATUS.values(), *problems.OF_AIOHTTP.items(), (500, "internal_error")}
    assert told == there


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_the_examples_run(database: TestDatabase, tmp_path: Path) -> None:
    script = "set -eu\n" + "\n".join(re.findall(r"^```sh\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL))
    key = await key_for(database, ORGANIZATION_ID, "admin")
    async with running_management(database, key) as manage:
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", script.replace("http://127.0.0.1:8080", manage.url)),
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "KEY": key},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
    assert process.returncode == 0, told.decode()
    assert await rows(database, "select name from knowledge_base where name like 'Larkfield%'") == []
    done = await rows(database, "select action, object_type from audit_log where actor <> 'test' order by entry_id")
    assert done == [
        ("create", "knowledge_base"),
        ("create", "source"),
        ("create", "source"),
        ("create", "source"),
        ("reprocess", "source"),
        ("update", "knowledge_base"),
        ("update", "knowledge_sources"),
        ("update", "knowledge_sources"),
        ("create", "phone_agent"),
        ("update", "phone_agent"),
        ("create", "phone_number"),
        ("update", "phone_number"),
        ("create", "segment"),
        ("create", "contact"),
        ("update", "contact"),
        ("delete", "contact"),
        ("delete", "segment"),
        ("delete", "phone_number"),
        ("delete", "phone_agent"),
        ("create", "member"),
        ("create", "api_key"),
        ("create", "team"),
        ("create", "knowledge_base"),
        ("update", "knowledge_base"),
        ("delete", "knowledge_base"),
        ("delete", "team"),
        ("delete", "member"),
        ("revoke", "api_key"),
        ("update", "organization"),
        ("delete", "source"),
        ("delete", "knowledge_base"),
        ("create", "knowledge_base"),
        ("create", "knowledge_item"),
        ("update", "knowledge_item"),
        ("update", "knowledge_item"),
        ("create", "instruction_directory"),
        ("create", "instruction"),
        ("update", "instruction"),
        ("update", "instruction_directory"),
        ("delete", "instruction"),
        ("delete", "instruction_directory"),
        ("delete", "knowledge_item"),
        ("delete", "knowledge_base"),
    ]
