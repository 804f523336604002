"""What a browser is given of the console: its files, and what it may do with them; no browser is needed for that."""

import re
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
import yaml
from hatchling.builders.wheel import WheelBuilder
from yarl import URL

from contracts import pins
from tests.support.database import TestDatabase
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import Answer, read_answer
from tests.support.small_organization import ORGANIZATION_ID

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "retrieval_sidecar" / "console" / "static"
FILES = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file())


@pytest_asyncio.fixture(scope="module")
async def api(postgres_module: TestDatabase) -> AsyncIterator[ManagementClient]:
    async with running_management(postgres_module, await key_for(postgres_module, ORGANIZATION_ID)) as client:
        yield client


async def fetched(api: ManagementClient, path: str, **headers: str) -> Answer:
    """The console is no part of the API's contract, which the client of the others holds answers against."""
    where = URL(api.url + path, encoded=True)
    async with (
        aiohttp.ClientSession() as http,
        http.get(where, headers=headers, allow_redirects=False) as response,
    ):
        return await read_answer(response)


@pytest.mark.parametrize("name", ["", *FILES])
async def test_each_file_is_served_as_what_it_is_and_asked_for_anew_only_when_it_changed(
    api: ManagementClient, name: str
) -> None:
    found = await fetched(api, f"/console/{name}")
    kinds = {
        "": "text/html",
        ".html": "text/html",
        ".js": "text/javascript",
        ".css": "text/css",
        ".svg": "image/svg+xml",
    }
    assert found.status == 200
    assert found.headers["Content-Type"].partition(";")[0] == kinds[Path(name).suffix]
    assert found.headers["Cache-Control"] == "no-cache"
    assert found.body == (STATIC / (name or "index.html")).read_text("utf-8")
    again = await fetched(api, f"/console/{name}", **{"If-None-Match": found.headers["ETag"]})
    assert (again.status, again.body) == (304, "")
    assert (await fetched(api, f"/console/{name}", **{"If-None-Match": '"old"'})).status == 200


@pytest.mark.parametrize("path", ["/console/", "/console/app.js", "/console/none", "/api/v1/session", "/livez", "/"])
async def test_every_answer_tells_the_browser_what_it_may_not_do(api: ManagementClient, path: str) -> None:
    headers = (await fetched(api, path)).headers
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    if not path.startswith("/console/"):
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/console"])
async def test_who_comes_without_a_page_is_led_to_the_console(api: ManagementClient, path: str) -> None:
    found = await fetched(api, path)
    assert (found.status, found.headers["Location"]) == (302, "/console/")


@pytest.mark.parametrize(
    "name", ["nothing", "pages/", "pages", "../pages.py", "%2e%2e/pages.py", "..%2fpages.py", "/etc/passwd", "app.js/"]
)
async def test_there_is_nothing_else_to_be_had(api: ManagementClient, name: str) -> None:
    found = await fetched(api, f"/console/{name}")
    assert found.status == 404
    assert "aiohttp" not in str(found.body)


async def test_the_document_is_served_as_a_browser_can_read_it(api: ManagementClient) -> None:
    found = await fetched(api, "/console/openapi.json")
    document = yaml.safe_load(pins.document("management"))
    assert found.body["paths"].keys() == document["paths"].keys()
    assert found.body["info"]["version"] == document["info"]["version"]


@pytest.mark.parametrize("name", FILES)
def test_no_file_asks_another_host_or_builds_of_strings(name: str) -> None:
    text = (STATIC / name).read_text("utf-8")
    hosts = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text))
    assert hosts <= {"http://www.w3.org"}, "the console is served by the sidecar alone"
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:"
    assert not re.search(forbidden, text), "build it with `el` of dom.js, where a string is text"
    if name.endswith(".html"):
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]+src=)", text), (
            "nothing inline: the policy refuses it"
        )


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("words/")])
def test_modules_of_the_page_stay_small(name: str) -> None:
    lines = (STATIC / name).read_text("utf-8").count("\n")
    assert lines <= 500, "split it by what the parts are about"


def test_the_wheel_has_the_console(tmp_path: Path) -> None:
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as wheel:
        inside = set(wheel.namelist())
    assert {f"retrieval_sidecar/console/static/{name}" for name in FILES} <= inside
    assert "retrieval_sidecar/console/queries.sql" in inside
