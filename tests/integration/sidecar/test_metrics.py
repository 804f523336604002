"""What the sidecar's metrics count, and that no content is in them."""

import asyncio
import urllib.request
from pathlib import Path
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY, generate_latest

from retrieval_sidecar import metrics
from retrieval_sidecar.errors import ConfigurationError, Unavailable
from retrieval_sidecar.gate import Gate
from retrieval_sidecar.jobs.queue import JobQueue
from retrieval_sidecar.jobs.worker import measure
from retrieval_sidecar.settings import Settings
from tests.support.database import TestDatabase
from tests.support.sidecar import SESSIONS, TestClock, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID, item, items, organization

QUERY, TITLE, CALLER = "sentinelquery", "sentineltitle", "+15555550199"


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def searches(step: str, status: str) -> float:
    return counted("answerline_search_duration_seconds_count", step=step, status=status)


async def open_shop(database: TestDatabase, folder: Path) -> str:
    await load(database, folder, organization(), [*items(), item("sentinel", TITLE, f"The {QUERY} is here.")])
    return await token_for(database, ORGANIZATION_ID)


async def test_a_call_is_counted_by_route_step_and_status_and_without_its_content(
    empty_database: TestDatabase, tmp_path: Path, clock: TestClock
) -> None:
    route = f"{SESSIONS}/{{sessionId}}/tools/knowledge-search"
    found, started = searches("total", "ok"), counted("answerline_calls_started_total")
    ended = counted("answerline_calls_ended_total", status="transferred")

    def requests(status: str) -> float:
        labels = {"http_request_method": "POST", "http_route": route, "http_response_status_code": status}
        return counted("http_server_request_duration_seconds_count", **labels)

    good, bad = requests("200"), requests("400")
    async with running_sidecar(empty_database, await open_shop(empty_database, tmp_path), clock=clock) as client:
        session = await client.open(OPEN_NUMBER, CALLER)
        await session.search(f"where is the {QUERY}")
        await session.search(" ", expect=400)
        await session.end("transferred")
        clock.advance(seconds=1)
        await session.end("transferred")  # told again: counted once
        await client.post(f"{SESSIONS}/{QUERY}/{TITLE}", {})
    assert searches("total", "ok") == found + 1
    assert searches("embed", "ok") == searches("search", "ok") == searches("total", "ok")
    assert (requests("200"), requests("400")) == (good + 1, bad + 1)
    assert counted("answerline_calls_started_total") == started + 1
    assert counted("answerline_calls_ended_total", status="transferred") == ended + 1
    text = generate_latest(REGISTRY).decode().casefold()
    ids = (session.body["sessionId"], session.body["orgId"], session.body["agent"]["agentId"])
    for secret in (QUERY, TITLE, CALLER.removeprefix("+"), client.token.casefold(), *ids):
        assert secret not in text


async def test_who_waits_and_who_is_turned_away_is_counted() -> None:
    gate, name = Gate(1, 1, name="database"), {"queue": "database"}
    shed, slots = counted("answerline_queue_shed_total", **name), counted("answerline_queue_slots", **name)
    assert slots >= 1
    inside, waited = counted("answerline_queue_inside", **name), counted("answerline_queue_wait_seconds_count", **name)
    waiting = counted("answerline_queue_waiting", **name)

    async def pass_through() -> None:
        async with gate.passed(5):
            pass

    async with gate.passed(5):
        second = asyncio.create_task(pass_through())
        await asyncio.sleep(0)
        assert counted("answerline_queue_inside", **name) == inside + 1
        assert counted("answerline_queue_waiting", **name) == waiting + 1
        with pytest.raises(Unavailable):
            await pass_through()
        assert counted("answerline_queue_shed_total", **name) == shed + 1
    await second
    assert counted("answerline_queue_inside", **name) == inside
    assert counted("answerline_queue_waiting", **name) == waiting
    assert counted("answerline_queue_wait_seconds_count", **name) == waited + 2


async def test_the_queue_of_sources_is_told_by_what_is_due_and_for_how_long(empty_database: TestDatabase) -> None:
    async with JobQueue(empty_database.url("manage")) as queue:
        await queue.request(ORGANIZATION_ID, uuid4())
        await queue.request(ORGANIZATION_ID, uuid4(), in_s=3600)
        await measure(queue)
    assert counted("answerline_ingest_jobs", state="due") == 1
    assert counted("answerline_ingest_jobs", state="paused") == 1
    assert counted("answerline_ingest_jobs", state="under_way") == 0
    assert 0 < counted("answerline_ingest_lag_seconds") < 3600
    assert counted("answerline_ingest_oldest_run_seconds") == 0


def settings(**fields: object) -> Settings:
    return Settings.model_validate({"DATABASE_URL": "postgresql://127.0.0.1:1/none", **fields})


async def test_metrics_have_a_listener_of_their_own_where_a_port_is_set(voice: VoiceClient) -> None:
    with metrics.served(settings()) as nowhere:
        assert nowhere is None
    with metrics.served(settings(metrics_port=0)) as port:
        answer = await asyncio.to_thread(_fetch, port)
        assert "answerline_search_duration_seconds" in answer
        with (
            pytest.raises(ConfigurationError, match="ANSWERLINE_METRICS_PORT"),
            metrics.served(settings(metrics_port=port)),
        ):
            pass
    async with voice.http.get(f"{voice.url}/metrics") as refused:
        assert refused.status == 404


def _fetch(port: int | None) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return str(answer.read().decode())
