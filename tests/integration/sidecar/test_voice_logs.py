"""No log line at any level holds what was asked, said or found, a number, or a token."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import EmbedderUnavailable
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.logs import Lines, logged
from tests.support.sidecar import SESSIONS, Session, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

QUERY, SAID, FOUND, TITLE = "sentinelquery", "sentinelsaid", "sentinelfound", "sentineltitle"
CALLER = "+15555550199"


@pytest.fixture
def lines() -> Iterator[Lines]:
    with logged(QUERY, SAID, FOUND, TITLE, CALLER, CALLER.removeprefix("+")) as found:
        yield found


class Failing(FakeEmbedder):
    """Fails as an endpoint does that repeats what it was asked."""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise self._error(f"cannot embed {texts}")


async def prepare(database: TestDatabase, folder: Path, lines: Lines) -> str:
    knowledge = [*items(), item("sentinel", TITLE, f"The {FOUND} {QUERY} is here.")]
    contact = {"phone": CALLER, "name": f"Robin {SAID}", "segments": []}
    await load(database, folder, organization(contacts=[contact]), knowledge)
    token = await token_for(database, ORGANIZATION_ID)
    lines.secrets.add(token.split("_", 2)[2].casefold())
    return token


async def search(session: Session, **fields: Any) -> Any:
    return await session.search(f"where is the {QUERY}", utterance=f"uh {SAID} {CALLER}", **fields)


async def test_a_whole_call_is_logged_by_ids_and_counts_alone(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    async with running_sidecar(empty_database, token) as client:
        session = await client.open(OPEN_NUMBER, CALLER)
        answer = await search(session, subQuestions=[f"what is {QUERY}"])
        assert FOUND in str(answer)
        event = {"type": "turn", "id": str(uuid4()), "at": "2026-12-01T12:00:00Z", "role": "caller", "text": SAID}
        await client.post(f"{session.path}/events", session.identity | {"events": [event]})
        await session.end()
    line = lines.of("search")
    assert line["level"] == "info"
    assert line["search_id"] == answer["searchId"]
    assert line["session_id"] == session.body["sessionId"]
    assert (line["status"], line["results"], line["degraded"]) == ("ok", len(answer["results"]), False)


async def test_refused_requests_leave_no_trace_of_what_they_held(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    async with running_sidecar(empty_database, token) as client:
        session = await client.open(OPEN_NUMBER, CALLER)
        path = f"{session.path}/tools/knowledge-search"
        bodies: list[dict[str, Any]] = [{QUERY: SAID}, {"query": QUERY, "language": SAID}, {"query": QUERY * 60}]
        for body in bodies:
            assert (await client.post(path, session.identity | body)).status == 400
        assert (await client.post(path, None, raw=f'{{"query": "{QUERY}'.encode())).status == 400
        assert (await client.post(f"/internal/{QUERY}", {})).status == 404
        assert (await client.post(SESSIONS, {"calledNumber": CALLER, "roomName": SAID, "callId": SAID})).status == 404
        lines.secrets.add("sentinelsecret")
        stranger = VoiceClient(client.url, f"alv_{uuid4().hex}_sentinelsecret", client.http)
        assert (await stranger.post(path, session.identity | {"query": QUERY})).status == 401
    lines.all()


async def test_a_failing_embedder_is_logged_by_its_kind(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    async with running_sidecar(empty_database, token, embedder=Failing(EmbedderUnavailable)) as client:
        assert (await search(await client.open(OPEN_NUMBER, CALLER)))["degraded"] is True
    assert lines.of("embedding failed, searching by words")["cause"] == "EmbedderUnavailable"


async def test_an_unexpected_error_is_logged_by_type_and_place_under_the_answers_instance(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    async with running_sidecar(empty_database, token, embedder=Failing(ValueError)) as client:
        session = await client.open(OPEN_NUMBER, CALLER)
        problem = await search(session, expect=500)
    assert QUERY not in str(problem)
    line = lines.of("unexpected error")
    assert (line["instance"], line["type"]) == (problem["instance"], "ValueError")
    assert line["exception"][0]["frames"]


async def test_a_database_error_that_quotes_the_row_is_logged_without_it(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    await rows(empty_database, "alter table session_event add check (data ->> 'text' = '')")
    async with running_sidecar(empty_database, token) as client:
        session = await client.open(OPEN_NUMBER, CALLER)
        event = {"type": "turn", "id": str(uuid4()), "at": "2026-12-01T12:00:00Z", "role": "caller", "text": SAID}
        answer = await client.post(f"{session.path}/events", session.identity | {"events": [event]})
    assert answer.status == 500
    assert SAID not in str(answer.body)
    assert lines.of("unexpected error")["type"] == psycopg.errors.CheckViolation.__name__


async def test_a_task_that_fails_unseen_is_logged_without_its_errors_text(lines: Lines) -> None:
    async def fail() -> None:
        raise ValueError(FOUND)

    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    del task
    gc.collect()
    assert lines.of("Task exception was never retrieved")["exception"][0]["exc_type"] == "ValueError"


async def test_a_search_that_cannot_be_logged_is_answered_all_the_same(
    empty_database: TestDatabase, tmp_path: Path, lines: Lines
) -> None:
    token = await prepare(empty_database, tmp_path, lines)
    await rows(empty_database, "alter table search_log add check (query_redacted = '')")
    async with running_sidecar(empty_database, token) as client:
        assert (await search(await client.open(OPEN_NUMBER, CALLER)))["status"] == "ok"
    assert await value(empty_database, "select count(*) from search_log") == 0
    assert lines.of("search not logged")["cause"] == "CheckViolation"
