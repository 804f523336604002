"""A search is over when its time is: down to the database, whoever waits or left, and whatever is down."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar import database as sidecar_database
from retrieval_sidecar.database import time_limit, translated_errors
from retrieval_sidecar.deadline import Deadline
from retrieval_sidecar.embeddings.base import Vectors
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import DeadlineExceeded, EmbedderUnavailable
from tests.support.database import TestDatabase
from tests.support.inspection import rows, running_statements, until, value
from tests.support.sidecar import SESSIONS, Answer, Session, VoiceClient, connected, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID
from tests.support.wire_trace import WireTrace, traced_connections

SLACK_S = 0.7  # for two busy cores; far from the 3.5 s of a search without a deadline


class Hanging(FakeEmbedder):
    """Never answers; says when it was asked and when it was let off."""

    def __init__(self) -> None:
        self.asked, self.cancelled = asyncio.Event(), asyncio.Event()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError("nobody answers")


class Broken(FakeEmbedder):
    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderUnavailable("The embedding service does not answer.")


class OfAnotherModel(FakeEmbedder):
    model = "another-model"


class Counting(FakeEmbedder):
    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return await super().embed_queries(texts)


@pytest_asyncio.fixture
async def narrow(database: TestDatabase) -> AsyncIterator[VoiceClient]:
    """A sidecar with one connection."""
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID), pool_size=1) as client:
        yield client


@asynccontextmanager
async def locked(database: TestDatabase, table: str) -> AsyncIterator[None]:
    """Somebody else holds a lock on a table."""
    async with connected(database, "owner") as connection, connection.transaction():
        await connection.execute(psycopg.sql.SQL("lock table {}").format(psycopg.sql.Identifier(table)))
        yield


async def no_statements(database: TestDatabase) -> bool | None:
    return await running_statements(database) == [] or None


async def any_statements(database: TestDatabase) -> list[str] | None:
    return await running_statements(database) or None


async def timed_search(
    session: Session, milliseconds: int | None, query: str = "parking garage"
) -> tuple[Answer, float]:
    """An answer, and the seconds it took."""
    started = time.perf_counter()
    headers = {} if milliseconds is None else {"X-Deadline-Ms": str(milliseconds)}
    path = f"{session.path}/tools/knowledge-search"
    answer = await session.client.post(path, session.identity | {"query": query}, headers=headers)
    return answer, time.perf_counter() - started


@pytest.mark.parametrize("is_warm", [True, False])
async def test_a_search_that_waits_for_a_lock_is_answered_within_its_deadline_and_is_gone(
    narrow: VoiceClient, database: TestDatabase, *, is_warm: bool
) -> None:
    session = await narrow.open(OPEN_NUMBER)
    if is_warm:
        await session.search("parking garage")
    async with locked(database, "passage_vector"):
        answer, seconds = await timed_search(session, 300)
        assert (answer.status, answer.body["code"]) == (504, "deadline_exceeded")
        assert seconds < 0.3 + SLACK_S
        await until(lambda: no_statements(database), seconds=1)
        # The one connection is free again while the lock is still held.
        assert (await narrow.get("/readyz")).status == 200
    answer, _ = await timed_search(session, None)
    assert answer.body["status"] == "ok"


async def test_a_deadline_covers_the_reading_of_the_token_and_of_the_scope(
    narrow: VoiceClient, database: TestDatabase
) -> None:
    session = await narrow.open(OPEN_NUMBER)
    for table in ("voice_token", "phone_agent"):
        async with locked(database, table):
            answer, seconds = await timed_search(session, 200)
            assert answer.status == 504
            assert seconds < 0.2 + SLACK_S
            await until(lambda: no_statements(database), seconds=1)


async def test_writes_have_a_deadline_too(narrow: VoiceClient, database: TestDatabase) -> None:
    session = await narrow.open(OPEN_NUMBER)
    call = {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
    end = session.identity | {"status": "completed", "reason": "done"}
    async with locked(database, "call_session"):
        for path, body in ((SESSIONS, call), (f"{session.path}/end", end)):
            answer = await narrow.post(path, body, headers={"X-Deadline-Ms": "200"})
            assert (answer.status, answer.body["code"]) == (504, "deadline_exceeded")
        await until(lambda: no_statements(database), seconds=1)
    assert await value(database, "select count(*) from call_session where status = 'active'") == 1


async def test_a_caller_who_moves_on_takes_the_query_along(narrow: VoiceClient, database: TestDatabase) -> None:
    session = await narrow.open(OPEN_NUMBER)
    async with locked(database, "passage_vector"):
        searching = asyncio.create_task(timed_search(session, None))
        await until(lambda: any_statements(database))
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        await until(lambda: no_statements(database), seconds=1)
        started = time.perf_counter()
        assert (await narrow.get("/readyz")).status == 200
        assert time.perf_counter() - started < SLACK_S
    assert (await session.search("parking garage"))["status"] == "ok"


async def test_a_caller_who_moves_on_takes_the_embedding_along(database: TestDatabase) -> None:
    embedder = Hanging()
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, embedder=embedder, pool_size=1) as client:
        session = await client.open(OPEN_NUMBER)
        searching = asyncio.create_task(timed_search(session, None))
        await embedder.asked.wait()
        searching.cancel()
        async with asyncio.timeout(1):
            await embedder.cancelled.wait()


async def test_an_event_that_was_sent_is_kept_even_if_its_sender_left(
    narrow: VoiceClient, database: TestDatabase
) -> None:
    session = await narrow.open(OPEN_NUMBER)
    event = {"type": "error", "id": str(uuid4()), "at": "2026-12-01T12:00:00Z", "source": "stt", "code": "timeout"}
    async with locked(database, "session_event"):
        sending = asyncio.create_task(narrow.post(f"{session.path}/events", session.identity | {"events": [event]}))
        await until(lambda: any_statements(database))
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
    await until(lambda: value(database, "select count(*) from session_event"))


async def test_postgresql_itself_stops_a_statement_at_the_deadline(database: TestDatabase) -> None:
    async with connected(database, "voice") as connection:
        started = time.perf_counter()
        with pytest.raises(DeadlineExceeded):
            async with translated_errors(), time_limit(connection, Deadline.after(0.2)):
                await connection.execute("select pg_sleep(30)")
        assert 0.15 < time.perf_counter() - started < 0.2 + SLACK_S
        async with time_limit(connection, Deadline.after(2.5)):
            cursor = await connection.execute("show statement_timeout")
        ((inside,),) = await cursor.fetchall()
        assert 2000 < int(inside.removesuffix("ms")) <= 2500
        ((after,),) = await (await connection.execute("show statement_timeout")).fetchall()
        assert after == "0"


async def test_a_deadline_that_has_passed_is_no_unlimited_one(database: TestDatabase) -> None:
    async with connected(database, "voice") as connection:
        with pytest.raises(psycopg.errors.QueryCanceled):
            async with time_limit(connection, Deadline.after(-1)):
                await connection.execute("select pg_sleep(30)")


@pytest_asyncio.fixture
async def traced(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[tuple[Session, WireTrace, Counting]]:
    """A call on one traced connection, on which everything was prepared by a search before."""
    embedder, token = Counting(), await token_for(database, ORGANIZATION_ID)
    with traced_connections(monkeypatch, tmp_path) as trace:
        async with running_sidecar(database, token, embedder=embedder, pool_size=1) as client:
            session = await client.open(OPEN_NUMBER)
            await logged(database, await session.search("parking garage"))
            trace.start()
            embedder.batches.clear()
            yield session, trace, embedder


async def logged(database: TestDatabase, answer: Any) -> None:
    await until(lambda: value(database, "select count(*) from search_log where search_id = %s", [answer["searchId"]]))


KINDS = {
    "from voice_token": "token",
    "from call_session s": "scope",
    "set_config('statement_timeout'": "limit",
    "with question as materialized": "search",
    "insert into search_log": "log",
}


def kinds(trace: WireTrace) -> list[str]:
    return [next(kind for part, kind in KINDS.items() if part in each.text) for each in trace.statements()]


async def test_a_search_is_one_scope_statement_and_one_search_statement(
    traced: tuple[Session, WireTrace, Counting], database: TestDatabase
) -> None:
    session, trace, embedder = traced
    await logged(database, await session.search("gift voucher"))
    assert kinds(trace) == ["token", "scope", "limit", "search", "log"]
    # Neither the limit has a round trip of its own, nor the trial of a connection before use.
    assert trace.round_trips() == 4
    assert trace.preparations() == 0
    assert embedder.batches == [["gift voucher"]]


async def test_parts_of_a_question_share_one_scope_and_one_embedding_call(
    traced: tuple[Session, WireTrace, Counting], database: TestDatabase
) -> None:
    session, trace, embedder = traced
    await logged(database, await session.search("gift voucher", subQuestions=["parking garage", "card terminal"]))
    assert kinds(trace) == ["token", "scope", *["limit", "search"] * 3, "log"]
    assert embedder.batches == [["gift voucher", "parking garage", "card terminal"]]


async def test_what_is_left_of_the_deadline_is_the_statements_limit(
    traced: tuple[Session, WireTrace, Counting],
) -> None:
    session, trace, _ = traced
    answer, _ = await timed_search(session, 900)
    assert answer.status == 200
    (limit,) = [each for each in trace.statements() if "set_config" in each.text]
    milliseconds = int(limit.parameters.split("'")[1])
    assert 100 < milliseconds < 900


@pytest.mark.parametrize("embedder", [Hanging, Broken, OfAnotherModel])
async def test_without_an_embedding_the_answer_comes_by_words_in_time_and_says_so(
    database: TestDatabase, embedder: type[FakeEmbedder]
) -> None:
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, embedder=embedder()) as client:
        session = await client.open(OPEN_NUMBER)
        answer, seconds = await timed_search(session, 600, "parking in the garage")
        assert seconds < 0.6 + SLACK_S
        assert (answer.status, answer.body["status"], answer.body["degraded"]) == (200, "ok", True)
        assert answer.body["results"][0]["title"] == "Parking garage"
        missed, _ = await timed_search(session, 600, "chess mongolia")
        assert (missed.body["status"], missed.body["degraded"]) == ("no_match", True)
        await logged(database, missed.body)
    assert await value(database, "select bool_and(degraded) from search_log") is True


async def test_a_database_that_is_gone_is_unavailable_and_worth_another_try(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar_database, "_PATIENCE_S", 0.2)
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID)) as client:
        session = await client.open(OPEN_NUMBER)
        database.server.drop_database(database.name)
        answer, _ = await timed_search(session, None)
        call = {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
        for each in (answer, await client.post(SESSIONS, call), await session.end()):
            assert (each.status, each.body["code"], each.headers["Retry-After"]) == (503, "unavailable", "1")


async def test_a_pool_in_use_sheds_load_or_keeps_the_deadline_whichever_is_first(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar_database, "_PATIENCE_S", 0.4)
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, pool_size=1) as client:
        session = await client.open(OPEN_NUMBER)
        async with locked(database, "passage_vector"):
            first = asyncio.create_task(timed_search(session, None))
            await until(lambda: any_statements(database))
            shed, _ = await timed_search(session, None)
            late, seconds = await timed_search(session, 100)
        assert (shed.status, shed.headers["Retry-After"]) == (503, "1")
        assert late.status in (503, 504)  # whether the queue or the clock tells first
        assert seconds < 0.1 + SLACK_S
        assert (await first)[0].status == 200


async def test_connections_that_broke_are_replaced_unseen(narrow: VoiceClient, database: TestDatabase) -> None:
    session = await narrow.open(OPEN_NUMBER)
    await rows(
        database,
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where datname = current_database() and usename = 'answerline_voice'",
        role="superuser",
    )
    assert (await session.search("parking garage"))["status"] == "ok"


async def test_reading_goes_on_where_the_connection_is_ended_in_use(database: TestDatabase) -> None:
    pool = sidecar_database.Pool(database.url("voice"), 2)
    await pool.open(wait=True)
    used: list[int] = []

    async def read(connection: sidecar_database.Connection, *, broken: int) -> int:
        used.append(connection.info.backend_pid)
        if len(used) <= broken:
            # After the pool has tried it, and before it is used.
            await rows(database, "select pg_terminate_backend(%s, 5000)", [used[-1]], role="superuser")
        cursor = await connection.execute("select 44")
        ((found,),) = await cursor.fetchall()
        return int(found)

    async def refused(connection: sidecar_database.Connection) -> None:
        used.append(connection.info.backend_pid)
        await connection.execute("select pg_sleep(0)", prepare=False)
        raise psycopg.errors.QueryCanceled

    try:
        assert await pool.read(Deadline.after(3), partial(read, broken=1)) == 44
        assert len(set(used)) == 2
        used.clear()
        # Once, and no more: behind it there may be a server that ends every connection.
        with pytest.raises(psycopg.OperationalError):
            await pool.read(Deadline.after(3), partial(read, broken=9))
        assert len(used) == 2
        used.clear()
        with pytest.raises(psycopg.errors.QueryCanceled):
            await pool.read(Deadline.after(3), refused)
        assert len(used) == 1
    finally:
        await pool.close()


async def test_what_was_searched_is_logged_before_the_process_ends(database: TestDatabase) -> None:
    async with running_sidecar(database, await token_for(database, ORGANIZATION_ID)) as client:
        await (await client.open(OPEN_NUMBER)).search("parking garage")
    assert await value(database, "select count(*) from search_log") == 1
