"""The running voice API against its contract: whatever is sent, the answer is one that the document allows."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from hypothesis import assume
from schemathesis.specs.openapi.checks import positive_data_acceptance

from contracts import pins
from retrieval_sidecar.ingest.storable import fault
from retrieval_sidecar.settings import Settings
from retrieval_sidecar.text.normalize import for_embedding
from retrieval_sidecar.voice.app import create_app
from tests.support import database as support
from tests.support.generated import HASTE, YAML, Case, api, in_a_thread, whole_numbers
from tests.support.inspection import value
from tests.support.sidecar import load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, items, organization

DOCUMENT = yaml.safe_load(pins.document())


@dataclass
class Running:
    """A sidecar in a thread of its own, for schemathesis speaks to it without an event loop."""

    url: str
    headers: dict[str, str]
    sessions: dict[str, str]
    identity: dict[str, str]
    base_id: str


@asynccontextmanager
async def sidecar(folder: Path) -> AsyncIterator[Running]:
    with support.test_server() as server, support.clone(server, support.migrated_template(server)) as database:
        await load(database, folder, organization(), items())
        token = await token_for(database, ORGANIZATION_ID)
        async with running_sidecar(database, token) as client:
            calls = {operation: await client.open(OPEN_NUMBER) for operation in ("search", "events", "end")}
            yield Running(
                client.url,
                {"Authorization": f"Bearer {token}"},
                {operation: call.body["sessionId"] for operation, call in calls.items()},
                calls["search"].identity,
                await value(database, "select base_id::text from knowledge_base order by 1 limit 1"),
            )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with in_a_thread(sidecar(tmp_path_factory.mktemp("schemathesis"))) as found:
        yield found


# Checks that are left out, each with its reason.
RANDOM_IDS = [positive_data_acceptance]  # no number, agent or knowledge base of chance exists; see the second test


def call(case: Case, running: Running, excluded: list[Any]) -> None:
    # A deadline of some milliseconds is answered with 503 or 504, as it should be: tests/integration/sidecar.
    if re.fullmatch("[0-9]{1,5}", str(case.headers.get("X-Deadline-Ms", ""))):
        case.headers["X-Deadline-Ms"] = "3000"
    if case.path.endswith(".yaml"):
        excluded = [*excluded, *YAML]
    case.call_and_validate(base_url=running.url, headers=running.headers, excluded_checks=excluded)


@api("voice", schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE).parametrize()  # type: ignore[untyped-decorator] # its own
@HASTE
def test_whatever_is_sent_is_answered_as_the_document_says(case: Case, running: Running) -> None:
    call(case, running, RANDOM_IDS)


@api("voice", schemathesis.GenerationMode.POSITIVE).parametrize()  # type: ignore[untyped-decorator] # its own
@HASTE
def test_good_requests_of_a_real_call_are_accepted(case: Case, running: Running) -> None:
    body: Any = case.body
    if isinstance(body, dict):
        questions = [body.get("query", "x"), *body.get("subQuestions", [])]
        # Two things that the document says in words: a question shows something, and no text holds NUL.
        assume(all(map(for_embedding, questions)) and fault(body) is None)
        case.body = of_a_real_call(case, running)
    call(case, running, [])


def of_a_real_call(case: Case, running: Running) -> Any:
    """The generated body with ids that exist."""
    body = whole_numbers(case.body)
    operation = case.path.rpartition("/")[2].removeprefix("knowledge-")
    if operation in running.sessions:
        case.path_parameters["sessionId"] = running.sessions[operation]
        return body | running.identity
    # The document cannot say that one of the two has to be there, only that not both are.
    which: dict[str, Any] = {"calledNumber": OPEN_NUMBER}
    if "agentId" in body:
        which = {"agentId": running.identity["agentId"]}
    if "narrowToKnowledgeBaseIds" in body:
        which["narrowToKnowledgeBaseIds"] = [running.base_id] * len(body["narrowToKnowledgeBaseIds"])
    return body | which


def test_the_router_and_the_document_have_the_same_operations() -> None:
    app = create_app(Settings.model_validate({"DATABASE_URL": "postgresql://nowhere.example/x"}))
    routed = {(route.method, route.resource.canonical) for route in app.router.routes() if route.resource}
    documented = {(method.upper(), path) for path, operations in DOCUMENT["paths"].items() for method in operations}
    assert routed == documented
