"""The running management API against its contract: whatever is sent, the answer is one that the document allows."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
import requests
import schemathesis
import yaml
from hypothesis import assume, settings
from schemathesis.specs.openapi.checks import missing_required_header, positive_data_acceptance

from contracts import pins
from retrieval_sidecar.console.pages import CONSOLE
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.management.app import BASE, create_app
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.text.normalize import for_embedding
from tests.support import database as support
from tests.support.generated import HASTE, YAML, Case, api, in_a_thread, whole_numbers
from tests.support.inspection import value
from tests.support.management import ManagementClient, key_for, new_number, running_management
from tests.support.sidecar import TestClock, load
from tests.support.small_organization import ORGANIZATION_ID, items, organization

DOCUMENT = yaml.safe_load(pins.document("management"))
WITH_ETAG = {
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if method != "parameters" and "412" in operation["responses"]
}
MANY = 1_000_000
MORE_HASTE = settings(HASTE, max_examples=20)  # it has three times as many operations as the other


@dataclass
class Running:
    """The API in a thread of its own, for schemathesis speaks to it without an event loop."""

    url: str
    headers: dict[str, str]
    ids: dict[str, str]
    selectable: dict[str, str]
    contact_id: str

    def etag(self, path: str) -> str:
        """Of what is there now."""
        return requests.get(self.url + path, headers=self.headers, timeout=10).headers["ETag"]


class HurryingClock(TestClock):
    """A minute goes by with each look, so that whoever shows no key is never told to wait."""

    def __call__(self) -> datetime:
        self.advance(minutes=1)
        return self.now


CALL: LiteralString = (
    "insert into call_session (organization_id, agent_id, call_id, room_name, scope_snapshot)"
    " select organization_id, agent_id, 'call', 'room', jsonb_build_object("
    '\'instruction_scope\', \'{"mode": "all", "instruction_ids": [], "directory_ids": []}\'::jsonb,'
    '\'knowledge_scope\', \'{"mode": "all", "item_ids": [], "folder_keys": []}\'::jsonb,'
    "'captured_at', '2026-11-30T20:15:00Z') from phone_agent limit 1 returning session_id::text"
)


async def write(client: ManagementClient, base: str) -> dict[str, str]:
    """An item, a directory and an instruction in it: their paths, by the names of their ids."""
    found: dict[str, str] = {}
    for name, path, fields in (
        ("directory_id", "instruction-directories", {"name": "Generated"}),
        ("item_id", "knowledge-items", {"kb_id": base.rpartition("/")[2], "title": "Item", "content": "Text."}),
        ("instruction_id", "instructions", {"title": "Instruction", "content": "Text."}),
    ):
        if name == "instruction_id":
            fields["directory_id"] = found["directory_id"].rpartition("/")[2]
        answer = await client.post(f"{BASE}/{path}", fields)
        assert answer.status == 201, answer
        found[name] = f"{BASE}/{path}/{answer.body['id']}"
    return found


SOME_AGENT: LiteralString = "select agent_id::text from phone_agent order by name limit 1"


@asynccontextmanager
async def manage(folder: Path) -> AsyncIterator[Running]:
    with support.test_server() as server, support.clone(server, support.migrated_template(server)) as database:
        await load(database, folder, organization(), items())
        key = await key_for(database, ORGANIZATION_ID)
        limits: dict[str, Any] = {
            f"max_{what}": MANY
            for what in ("bases", "sources", "written_items", "instructions", "directories", "dynamic_characters")
        }
        async with running_management(database, key, clock=HurryingClock(), **limits) as client:
            base = await client.new_base("Generated")
            source = await client.new_text(base)
            written = await write(client, base)
            yield Running(
                client.url,
                {"X-API-Key": key},
                {
                    "kb_id": base.rpartition("/")[2],
                    "source_id": source.rpartition("/")[2],
                    "agent_id": await value(database, SOME_AGENT),
                    "session_id": await value(database, CALL),
                    "folder_key": f"base%3A{base.rpartition('/')[2]}",
                    **{name: path.rpartition("/")[2] for name, path in written.items()},
                }
                | await client.new_people(await value(database, SOME_AGENT)),
                {
                    "instruction_ids": await value(database, "select instruction_id::text from instruction limit 1"),
                    "instruction_directory_ids": await value(
                        database, "select directory_id::text from instruction_directory limit 1"
                    ),
                    "knowledge_item_ids": await value(database, "select item_id::text from knowledge_item limit 1"),
                    "knowledge_folder_keys": "upload:Prices",
                },
                await value(database, "select contact_id::text from contact order by name limit 1"),
            )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with in_a_thread(manage(tmp_path_factory.mktemp("schemathesis"))) as found:
        yield found


# Checks that are left out, each with its reason.
RANDOM_IDS = [positive_data_acceptance]  # no base, source, agent or cursor of chance exists; see the second test
# It knows no 428, which is what a missing If-Match is there for; tests/integration looks for it.
PRECONDITION = [missing_required_header]


def call(case: Case, running: Running, excluded: list[Any]) -> None:
    if case.path.endswith((".yaml", "/events")):  # of the second it reads the events; tests/integration looks at each
        excluded = [*excluded, *YAML]
    if (case.method, case.path) in WITH_ETAG:
        excluded = [*excluded, *PRECONDITION]
    # A longer line is refused before anything of the sidecar's sees it.
    assume(len(quote(case.formatted_path, safe="%")) + len(urlencode(case.query or {}, doseq=True)) < 8_000)
    case.call_and_validate(base_url=running.url, headers=running.headers, excluded_checks=excluded)


@api("management", schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE).parametrize()  # type: ignore[untyped-decorator] # its own
@MORE_HASTE
def test_whatever_is_sent_is_answered_as_the_document_says(case: Case, running: Running) -> None:
    call(case, running, RANDOM_IDS)


@api("management", schemathesis.GenerationMode.POSITIVE).exclude(method="DELETE").parametrize()  # type: ignore[untyped-decorator] # its own
@MORE_HASTE
def test_good_requests_of_what_is_there_are_accepted(case: Case, running: Running) -> None:
    # No cursor of chance is one, and a time of chance lies outside of what may be counted.
    assume(not {"cursor", "from", "to"} & set(case.query or {}))
    case.path_parameters.update({name: running.ids[name] for name in case.path_parameters})
    body: Any = case.body
    if case.media_type == "application/json" and isinstance(body, dict):
        texts = [
            body[name]
            for name in ("name", "text", "query", "key", "greeting", "title", "content")
            if isinstance(body.get(name), str)
        ]
        # Two things that the document says in words: a text shows something, and none holds NUL.
        assume(all(map(for_embedding, texts)) and fault(body) is None)
        case.body = of_what_is_there(whole_numbers(body), running)
        if case.method == "PATCH" and "parent_id" in body:
            case.body["parent_id"] = ""  # nowhere within itself
    if (case.method, case.path) in WITH_ETAG:
        case.headers.update({"If-Match": running.etag(case.formatted_path)})
    if case.query and "segment" in case.query:
        assume(fault(case.query["segment"]) is None)
    if case.query and "folder_key" in case.query:
        case.query["folder_key"] = "upload:Prices"
    # All files of chance have one name, which a base takes once.
    call(case, running, RANDOM_IDS if case.media_type == "multipart/form-data" else [])


def has_precondition(case: Case) -> bool:
    """Whether an operation takes an `If-Match`."""
    named = DOCUMENT["paths"][case.path].get(case.method.lower(), {}).get("parameters", ())
    return any(each["$ref"].endswith("/IfMatch") for each in named)


def of_what_is_there(body: dict[str, Any], running: Running) -> dict[str, Any]:
    """The generated body with what exists, and a name, a number and an address that nothing has."""
    there: dict[str, Any] = {
        "agent_id": running.ids["agent_id"],
        "contact_id": running.contact_id,
        "member_id": running.ids["member_id"],
        "url": f"https://help.example.com/{uuid4()}",
        "phone_number": new_number(),
        "handoff_number": "+15550001099",
        "expires_at": "2099-01-01T00:00:00Z",
        "time_zone": "Europe/Berlin",
        "language_fallbacks": {"kk": ["ru"]},
        "segments": [],
        # What a key, a member and whoever asks may all do; and of a team only with its id.
        "permissions": ["agents.view"],
        "owner_type": "organization",
        "published": True,
    }
    if "contact_id" in body:  # which says who calls, so that no number may
        body = {name: each for name, each in body.items() if name != "caller_number"}
    body.pop("team_id", None)
    if "key" in body:
        there["key"] = f"{body['key'][:150]}{uuid4().hex}"
    there |= {name: running.ids[name] for name in ("kb_id", "directory_id") if name in body}
    there |= {"folder_key": "upload:Prices", "valid_from": "2026-01-31", "valid_until": ""}
    if "parent_id" in body:
        there["parent_id"] = running.ids["directory_id"]
    if "segments" in body:
        there["segments"] = ["members" for _ in body["segments"]]
    if "name" in body:
        there["name"] = f"{body['name'][:150]}{uuid4().hex}"
    arrays = {name: [running.selectable[name] for _ in body[name]] for name in running.selectable if name in body}
    return body | arrays | {name: there[name] for name in there if name in body}


def test_the_router_and_the_document_have_the_same_operations() -> None:
    app = create_app(Settings.model_validate({"DATABASE_URL": "postgresql://nowhere.example/x", "embedder": "fake"}))
    routed = {(route.method, route.resource.canonical) for route in app.router.routes() if route.resource}
    documented = {
        (method.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
        if method != "parameters"
    }
    # What a browser is given of the console itself is no part of the API.
    routed -= {("GET", "/"), ("GET", CONSOLE), ("GET", f"{CONSOLE}/{{name}}")}
    assert routed == documented
    assert all(path.startswith(f"{BASE}/") or path in ("/livez", "/readyz") for _, path in routed)
