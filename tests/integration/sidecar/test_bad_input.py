"""What bad input gets: the documented problem document that names the field, and nothing is changed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import pytest_asyncio

from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, FOREIGN_NUMBER
from tests.support.inspection import row_counts
from tests.support.sidecar import SESSIONS, Answer, Session, VoiceClient, connected, token_for
from tests.support.small_organization import OPEN_NUMBER, SELECTED_NUMBER

EVENT = {"type": "error", "id": str(uuid4()), "at": "2026-12-01T12:00:00Z", "source": "stt", "code": "timeout"}
TURN = {"type": "turn", "id": str(uuid4()), "at": "2026-12-01T12:00:00Z", "role": "caller", "text": "Hello."}
MEGABYTES = 11 * 1024 * 1024


@dataclass(frozen=True)
class Calls:
    """An own session, another one of the same organization, and one of another organization."""

    own: Session
    sibling: Session
    foreign: Session

    def target(self, operation: str) -> tuple[str, dict[str, Any]]:
        """Path and a good body of an operation on the own session."""
        if operation == "bootstrap":
            return SESSIONS, {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
        path, body = OPERATIONS[operation]
        return f"{self.own.path}/{path}", self.own.identity | body


OPERATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("tools/knowledge-search", {"query": "parking garage"}),
    "events": ("events", {"events": [EVENT]}),
    "end": ("end", {"status": "completed", "reason": "caller_hung_up"}),
}
ALL = pytest.mark.parametrize("operation", ["bootstrap", *OPERATIONS])


@pytest_asyncio.fixture(scope="module")
async def calls(api: VoiceClient, shop: TestDatabase) -> Calls:
    stranger = VoiceClient(api.url, await token_for(shop, FOREIGN_ID), api.http)
    return Calls(await api.open(OPEN_NUMBER), await api.open(SELECTED_NUMBER), await stranger.open(FOREIGN_NUMBER))


@pytest_asyncio.fixture(scope="module")
async def owner(shop: TestDatabase) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with connected(shop, "owner") as connection:
        yield connection


@pytest_asyncio.fixture(autouse=True)
async def nothing_is_changed(owner: psycopg.AsyncConnection[Any], calls: Calls) -> AsyncIterator[None]:
    before = await row_counts(owner)
    yield
    assert await row_counts(owner) == before


def assert_problem(answer: Answer, status: int, code: str, *fields: str) -> None:
    assert (answer.status, answer.body.get("code")) == (status, code), answer
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert [error["field"] for error in answer.body.get("errors", [])] == list(fields), answer.body


@ALL
@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/xml",
        "application/octet-stream",
        "application/json-patch+json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "application/json; charset=nonsense",
        "",
    ],
)
async def test_another_media_type_or_charset(api: VoiceClient, calls: Calls, operation: str, content_type: str) -> None:
    answer = await api.post(*calls.target(operation), headers={"Content-Type": content_type})
    assert_problem(answer, 415, "unsupported_media_type")


@ALL
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut short"),
        pytest.param(b"{}{}", id="two documents"),
        pytest.param(b"{'a': 1}", id="single quotes"),
        pytest.param(b"\xff\xfe{\x00}\x00", id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf{}", id="byte order mark"),
        pytest.param(b'{"roomName": "\xe9"}', id="Latin-1"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"1", id="number"),
        pytest.param(b'"text"', id="text"),
    ],
)
async def test_a_body_that_is_no_json_object(api: VoiceClient, calls: Calls, operation: str, raw: bytes) -> None:
    path, _ = calls.target(operation)
    assert_problem(await api.post(path, None, raw=raw), 400, "invalid_request", "body")


@ALL
async def test_a_body_over_the_limit(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    answer = await api.post(path, body | {"padding": "x" * MEGABYTES})
    assert_problem(answer, 413, "too_large")
    assert "4194304 bytes" in answer.body["detail"]


@ALL
async def test_a_body_that_is_not_encoded_as_it_says(api: VoiceClient, calls: Calls, operation: str) -> None:
    answer = await api.post(*calls.target(operation), headers={"Content-Encoding": "gzip"})
    assert_problem(answer, 400, "invalid_request", "body")


@ALL
async def test_a_body_of_nothing_but_faults_is_answered_shortly(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, _ = calls.target(operation)
    for raw in (b'{"a": [' + b"null," * 500_000 + b"null]}", b'{"' + b"a" * 1_000_000 + b'": 1}'):
        answer = await api.post(path, None, raw=raw)
        assert (answer.status, answer.body["code"]) == (400, "invalid_request")
        assert len(str(answer.body)) < 10_000


@ALL
@pytest.mark.parametrize(
    ("written", "rule"),
    [("a\\u0000b", "must not hold the character NUL"), ("\\ud83d", "Invalid JSON"), ("a\\ud83db", "Invalid JSON")],
)
async def test_a_text_that_cannot_be_stored(
    api: VoiceClient, calls: Calls, operation: str, written: str, rule: str
) -> None:
    name = {"bootstrap": "roomName", "search": "query", "events": "events", "end": "reason"}[operation]
    path, body = calls.target(operation)
    answer = await api.post(path, None, raw=_json_with(body, name, f'"{written}"'))
    assert (answer.status, answer.body["code"]) == (400, "invalid_request")
    (error,) = answer.body["errors"]
    assert error["field"] == ("body" if rule == "Invalid JSON" else name)
    assert rule in error["message"]


def _json_with(body: dict[str, Any], name: str, written: str) -> bytes:
    entries = [f'"{key}": "{value}"' for key, value in body.items() if key != name]
    return ("{" + ", ".join([*entries, f'"{name}": {written}']) + "}").encode()


@ALL
@pytest.mark.parametrize("name", ["langauge", "org_id", "agent_id", "filter", "scope", "OrgId", ""])
async def test_a_field_that_does_not_exist(api: VoiceClient, calls: Calls, operation: str, name: str) -> None:
    path, body = calls.target(operation)
    assert_problem(await api.post(path, body | {name: "ar"}), 400, "invalid_request", name or "body")


@ALL
async def test_the_names_are_the_wires_own(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    snake = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): value for name, value in body.items()}
    answer = await api.post(path, snake)
    assert answer.status == 400
    assert set(snake) - set(body) <= {error["field"] for error in answer.body["errors"]}


@ALL
async def test_a_parameter_that_does_not_exist(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    answer = await api.post(f"{path}?langauge=ar&langauge=en&limit=1", body)
    assert_problem(answer, 400, "invalid_request", "langauge", "limit")


@ALL
@pytest.mark.parametrize(
    "milliseconds",
    ["0", "-1", "+5", "1.5", "1e3", "1_000", "0x10", "soon", "", "60001", "9" * 5000, "٥٠٠", "５００", "500, 600"],
)
async def test_a_deadline_that_is_none(api: VoiceClient, calls: Calls, operation: str, milliseconds: str) -> None:
    answer = await api.post(*calls.target(operation), headers={"X-Deadline-Ms": milliseconds})
    assert_problem(answer, 400, "invalid_request", "X-Deadline-Ms")


@ALL
async def test_a_field_that_is_null(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    for name in body:
        assert_problem(await api.post(path, body | {name: None}), 400, "invalid_request", name)


@ALL
async def test_a_field_of_another_type(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    for name, other in product(body, (1, True, {}, {"a": "b"}, [1])):
        answer = await api.post(path, body | {name: other})
        assert (answer.status, answer.body["code"]) == (400, "invalid_request"), (name, other)
        assert answer.body["errors"][0]["field"].split(".")[0] == name


@ALL
async def test_a_field_that_is_missing(api: VoiceClient, calls: Calls, operation: str) -> None:
    path, body = calls.target(operation)
    for name in body:
        answer = await api.post(path, {key: value for key, value in body.items() if key != name})
        assert_problem(answer, 400, "invalid_request", name)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("", id="empty"),
        pytest.param("   ", id="blank"),
        pytest.param("\n\t\r", id="line ends"),
        pytest.param("\u00a0\u3000", id="other scripts' spaces"),
        pytest.param("\u200b", id="zero width"),
        pytest.param("\u200b \u2060\ufeff", id="zero width and space"),
        pytest.param("\U000e0041\U000e007f", id="tag characters"),
        pytest.param("a" * 501, id="501 characters"),
        pytest.param("what does parking cost " * 870, id="20,000 characters"),
    ],
)
async def test_a_query_that_is_blank_or_too_long(calls: Calls, query: str) -> None:
    body = await calls.own.search(query, expect=400)
    assert [error["field"] for error in body["errors"]] == ["query"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"utterance": "a" * 4001}, "utterance"),
        ({"language": "english"}, "language"),
        ({"language": "EN"}, "language"),
        ({"language": "en\n"}, "language"),
        ({"regionCode": "de"}, "regionCode"),
        ({"regionCode": "Germany"}, "regionCode"),
        ({"subQuestions": ["one", " "]}, "subQuestions.1"),
        ({"subQuestions": ["one", "two", "\u200b"]}, "subQuestions.2"),
        ({"subQuestions": ["a" * 501]}, "subQuestions.0"),
        ({"subQuestions": ["a"] * 5}, "subQuestions"),
        ({"subQuestions": "one"}, "subQuestions"),
        ({"subQuestions": [1]}, "subQuestions.0"),
        ({"filters": {"language": "ar"}}, "filters"),
        ({"callerId": "+15555550101"}, "callerId"),
    ],
)
async def test_a_search_that_asks_for_what_there_is_not(calls: Calls, fields: dict[str, Any], named: str) -> None:
    body = await calls.own.search("parking garage", expect=400, **fields)
    assert [error["field"] for error in body["errors"]] == [named]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"agentId": str(uuid4())}, "calledNumber"),
        ({"calledNumber": ""}, "calledNumber"),
        ({"calledNumber": "1" * 65}, "calledNumber"),
        ({"callerNumber": "1" * 65}, "callerNumber"),
        ({"roomName": ""}, "roomName"),
        ({"roomName": "r" * 257}, "roomName"),
        ({"callId": ""}, "callId"),
        ({"callId": "c" * 257}, "callId"),
        ({"narrowToKnowledgeBaseIds": ["main"]}, "narrowToKnowledgeBaseIds.0"),
        ({"narrowToKnowledgeBaseIds": [str(uuid4())] * 51}, "narrowToKnowledgeBaseIds"),
        ({"narrowToKnowledgeBaseIds": str(uuid4())}, "narrowToKnowledgeBaseIds"),
    ],
)
async def test_a_call_that_cannot_be_opened(
    api: VoiceClient, calls: Calls, changes: dict[str, Any], named: str
) -> None:
    path, body = calls.target("bootstrap")
    assert_problem(await api.post(path, body | changes), 400, "invalid_request", named)


@pytest.mark.parametrize(
    ("events", "named"),
    [
        ([], "events"),
        ([EVENT] * 101, "events"),
        ([EVENT, {}], "events.1"),
        ([EVENT | {"type": "mood"}], "events.0"),
        ([EVENT | {"id": "1"}], "events.0.error.id"),
        ([EVENT | {"id": "{" + str(uuid4()) + "}"}], "events.0.id"),
        ([EVENT | {"at": "yesterday"}], "events.0.error.at"),
        ([EVENT | {"at": "2026-12-01T12:00:00"}], "events.0.error.at"),
        ([EVENT | {"at": "1764590400"}], "events.0.at"),
        ([EVENT | {"at": "2026-12-01 12:00Z"}], "events.0.at"),
        ([EVENT | {"code": "it broke"}], "events.0.error.code"),
        ([EVENT | {"text": "more"}], "events.0.error.text"),
        ([TURN | {"text": "a" * 8001}], "events.0.turn.text"),
        ([TURN | {"latencyMs": -1}], "events.0.turn.latencyMs"),
        ([TURN | {"latencyMs": float("nan")}], "events.0.turn.latencyMs"),
        ([TURN | {"latencyMs": float("inf")}], "events.0.turn.latencyMs"),
    ],
)
async def test_events_that_are_none(api: VoiceClient, calls: Calls, events: list[Any], named: str) -> None:
    path, body = calls.target("events")
    assert_problem(await api.post(path, body | {"events": events}), 400, "invalid_request", named)


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"status": "lost"}, "status"), ({"status": "active"}, "status"), ({"reason": "Caller hung up"}, "reason")],
)
async def test_an_end_that_is_none(api: VoiceClient, calls: Calls, changes: dict[str, Any], named: str) -> None:
    path, body = calls.target("end")
    assert_problem(await api.post(path, body | changes), 400, "invalid_request", named)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_session_agent_and_organization_must_agree_and_all_that_do_not_are_not_found_alike(
    api: VoiceClient, calls: Calls, operation: str
) -> None:
    suffix, fields = OPERATIONS[operation]
    of = {"own": calls.own, "sibling": calls.sibling, "foreign": calls.foreign}
    sessions = {name: call.body["sessionId"] for name, call in of.items()} | {"unknown": str(uuid4())}
    agents = {name: call.identity["agentId"] for name, call in of.items()} | {"unknown": str(uuid4())}
    organizations = {name: call.identity["orgId"] for name, call in of.items()} | {"unknown": str(uuid4())}
    bodies = []
    for session, agent, organization in product(sessions, agents, organizations):
        # The two own calls are of one organization.
        if session == agent and session in ("own", "sibling") and organization in ("own", "sibling"):
            continue
        identity = {"agentId": agents[agent], "orgId": organizations[organization]}
        answer = await api.post(f"{SESSIONS}/{sessions[session]}/{suffix}", identity | fields)
        assert_problem(answer, 404, "not_found")
        bodies.append(answer.body)
    assert len(bodies) == 4**3 - 4
    assert all(body == bodies[0] for body in bodies)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("malformed", ["1", "not-an-id", "", "{0}", "urn:uuid:{0}", "{{{0}}}", "{0}0", "٣{0}"])
async def test_an_id_that_is_malformed_is_named(api: VoiceClient, calls: Calls, operation: str, malformed: str) -> None:
    suffix, fields = OPERATIONS[operation]
    bad = malformed.format(uuid4().hex if malformed == "{0}" else uuid4())
    for names in (["agentId"], ["orgId"], ["orgId", "agentId"]):
        answer = await api.post(f"{calls.own.path}/{suffix}", calls.own.identity | dict.fromkeys(names, bad) | fields)
        assert_problem(answer, 400, "invalid_request", *names)
    if bad and not bad.startswith("{"):
        for identity in (calls.own.identity, calls.foreign.identity, {"orgId": bad, "agentId": bad}):
            answer = await api.post(f"{SESSIONS}/{bad}/{suffix}", identity | fields)
            assert_problem(answer, 400, "invalid_request", "sessionId")
