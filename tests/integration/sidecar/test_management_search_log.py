"""The search log over the management API: what calls asked, and which of it is asked for."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from retrieval_sidecar.management import searches
from retrieval_sidecar.management.statistics import _SQL as STATISTICS
from tests.support.database import TestDatabase
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.inspection import rows, value
from tests.support.logged import SNAPSHOT, log_call, log_search, moment
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.plans import Node, explained
from tests.support.sidecar import TestClock, VoiceClient, load
from tests.support.small_organization import MEMBER, OPEN_NUMBER, ORGANIZATION_ID

SEARCHES = "/api/v1/searches"


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(database, await key_for(database, ORGANIZATION_ID), clock=clock) as client:
        yield client


@pytest_asyncio.fixture
async def logged(database: TestDatabase, tmp_path: Path) -> dict[str, UUID]:
    """Searches of two calls of two agents, by a name each; and one of another organization."""
    await load(database, tmp_path, foreign_organization(), foreign_items())
    foreign = await log_call(database, FOREIGN_ID, "foreign", "2026-11-30T10:00:00Z")
    await log_search(database, FOREIGN_ID, foreign, "2026-11-30T10:00:00Z", "theirs")
    first = await log_call(database, ORGANIZATION_ID, "open", "2026-11-29T10:00:00Z")
    second = await log_call(database, ORGANIZATION_ID, "selected", "2026-11-30T10:00:00Z")

    async def search(session_id: UUID, at: str, **fields: Any) -> UUID:
        return await log_search(database, ORGANIZATION_ID, session_id, at, **fields)

    return {
        "first call": first,
        "second call": second,
        "answered": await search(first, "2026-11-29T10:00:00Z", status="ok"),
        "empty": await search(first, "2026-11-29T10:01:00Z", status="restricted_empty"),
        "by words": await search(first, "2026-11-29T10:02:00Z", degraded=True),
        "at once": await search(second, "2026-11-30T10:00:00Z"),
        "with another": await search(second, "2026-11-30T10:00:00Z"),
        "last": await search(second, "2026-11-30T10:00:01.5Z", status="ok"),
    }


async def listed(manage: ManagementClient, **query: Any) -> list[str]:
    """The ids of all pages, in their order."""
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await manage.get(SEARCHES, **query, **cursor)
        assert answer.status == 200, answer
        ids += [each["search"]["id"] for each in answer.body["items"]]
        if "next_cursor" not in answer.body:
            return ids
        cursor = {"cursor": answer.body["next_cursor"]}


async def test_what_a_call_asked_is_told_redacted_with_its_agent(manage: ManagementClient, voice: VoiceClient) -> None:
    call = await voice.open(OPEN_NUMBER, MEMBER)
    await call.search("parking garage, my number is +1 555 555 0101")
    told = (await manage.get(f"/api/v1/calls/{call.body['sessionId']}")).body
    assert (await manage.get(SEARCHES)).body["items"] == [
        {"session_id": call.body["sessionId"], "agent": told["call"]["agent"], "search": told["searches"][0]}
    ]
    assert "0101" not in str(told["searches"])


async def test_searches_are_listed_the_latest_first_whatever_the_page(
    manage: ManagementClient, logged: dict[str, UUID]
) -> None:
    together = sorted((str(logged["at once"]), str(logged["with another"])), reverse=True)
    latest_first = [
        str(logged["last"]), *together, str(logged["by words"]), str(logged["empty"]), str(logged["answered"]),
    ]  # fmt: skip
    for limit in (1, 2, 5, 6, 100):
        assert await listed(manage, limit=limit) == latest_first


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"status": "ok"}, {"answered", "last"}),
        ({"status": "restricted_empty"}, {"empty"}),
        ({"degraded": "true"}, {"by words"}),
        ({"degraded": "false", "status": "no_match"}, {"at once", "with another"}),
        ({"from": "2026-11-30T10:00:00Z"}, {"at once", "with another", "last"}),
        ({"from": "2026-11-30T11:00:00+01:00", "to": "2026-11-30T10:00:01Z"}, {"at once", "with another"}),
        ({"to": "2026-11-29T10:01:00Z"}, {"answered"}),
        ({"from": "2026-11-29T10:02:01Z", "to": "2026-11-30T10:00:00Z"}, set()),
    ],
)
async def test_some_of_them_are_asked_for(
    manage: ManagementClient, logged: dict[str, UUID], query: dict[str, str], names: set[str]
) -> None:
    for limit in (1, 100):
        assert set(await listed(manage, limit=limit, **query)) == {str(logged[name]) for name in names}


async def test_those_of_a_call_and_of_an_agent_are_asked_for(
    manage: ManagementClient, logged: dict[str, UUID], database: TestDatabase
) -> None:
    of_first = {str(logged[name]) for name in ("answered", "empty", "by words")}
    agent = await value(database, "select agent_id::text from phone_agent where name = 'open'")
    assert set(await listed(manage, session_id=str(logged["first call"]), limit=2)) == of_first
    assert set(await listed(manage, agent_id=agent, limit=2)) == of_first
    both = {"session_id": str(logged["second call"]), "agent_id": agent}
    assert await listed(manage, **both) == []
    assert await listed(manage, session_id=str(uuid4())) == await listed(manage, agent_id=str(uuid4())) == []


async def test_those_of_others_are_not_there(
    manage: ManagementClient, logged: dict[str, UUID], database: TestDatabase
) -> None:
    session = await value(
        database, "select session_id::text from call_session where organization_id = %s", [FOREIGN_ID]
    )
    assert await listed(manage, session_id=session) == []
    assert "theirs" not in str((await manage.get(SEARCHES)).body)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "found"}, "status"),
        ({"degraded": "yes"}, "degraded"),
        ({"degraded": ""}, "degraded"),
        ({"session_id": "x"}, "session_id"),
        ({"agent_id": "open"}, "agent_id"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-11-30"}, "from"),
        ({"from": "2026-11-30T10:00:00"}, "from"),
        ({"to": "2026-11-30T10:00:00 01:00"}, "to"),
        ({"to": "0001-01-01T00:00:00+23:00"}, "to"),
        ({"from": "2026-11-30T10:00:00Z", "to": "2026-11-30T10:00:00Z"}, "to"),
        ({"query": "parking"}, "query"),
        ({"limit": "101"}, "limit"),
    ],
)
async def test_what_it_cannot_be_asked_is_refused(manage: ManagementClient, query: dict[str, str], field: str) -> None:
    refused = await manage.get(SEARCHES, **query)
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, field)


@pytest_asyncio.fixture
async def years(database: TestDatabase, tmp_path: Path) -> TestDatabase:
    """Forty thousand searches of each of two organizations, over two hundred days."""
    await load(database, tmp_path, foreign_organization(), foreign_items())
    for organization_id, agent in ((ORGANIZATION_ID, "open"), (FOREIGN_ID, "foreign")):
        await rows(
            database,
            "insert into call_session (organization_id, agent_id, call_id, room_name, scope_snapshot, started_at)"
            " select organization_id, agent_id, 'call ' || n, 'room', %s::jsonb,"
            " %s::timestamptz - n * interval '1 hour' from phone_agent, generate_series(1, 4000) n"
            " where organization_id = %s and name = %s",
            [SNAPSHOT, moment("2026-12-01T12:00:00Z"), organization_id, agent],
        )
    await rows(
        database,
        "insert into search_log (organization_id, search_id, session_id, at, query_redacted, language, region_code,"
        " status, result_count, citation_count, result_ids, cross_language_fallback, degraded, embed_ms, search_ms,"
        " total_ms) select organization_id, gen_random_uuid(), session_id, started_at + n * interval '20 seconds',"
        " 'question ' || n, 'en', 'DE', case when n = 1 then 'no_match' else 'ok' end, 1, 1, '{}', false, false, 1,"
        " 1, n from call_session, generate_series(1, 10) n",
    )
    await rows(database, "vacuum analyze search_log, call_session", role="superuser")
    return database


@pytest.mark.parametrize(
    ("statement", "wanted", "index"),
    [
        ("list_searches", {}, "search_log_at"),
        ("list_searches", {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"}, "search_log_at"),
        ("list_searches", {"status": "restricted_empty", "from": "2026-11-30T00:00:00Z"}, "search_log_at"),
        ("list_searches_of_call", {}, "search_log_session"),
    ],
)
async def test_a_page_reads_no_more_of_the_log_than_it_needs(
    years: TestDatabase, statement: str, wanted: dict[str, str], index: str
) -> None:
    session = await value(
        years, "select session_id from call_session where organization_id = %s limit 1", [ORGANIZATION_ID]
    )
    nothing = dict.fromkeys(("agent_id", "status", "degraded", "from", "to", "before_at", "before_id"))
    parameters = nothing | wanted | {"organization_id": ORGANIZATION_ID, "session_id": session, "limit": 51}
    async with explained(years) as database:
        await (await database.connection.execute(searches._SQL[statement], parameters)).fetchall()
        reads = of_log(database.last())
    assert [node.index for node in reads] == [index]
    assert read_rows(reads) <= 500


@pytest.mark.parametrize("statement", ["counted_searches", "unanswered"])
async def test_figures_of_a_day_read_that_day_alone(years: TestDatabase, statement: str) -> None:
    parameters = {
        "organization_id": ORGANIZATION_ID,
        "agent_id": None,
        "from": moment("2026-11-20T00:00:00Z"),
        "to": moment("2026-11-21T00:00:00Z"),
        "interval": "hour",
        "time_zone": "Europe/Berlin",
        "most": 100,
    }
    async with explained(years) as database:
        await (await database.connection.execute(STATISTICS[statement], parameters)).fetchall()
        reads = of_log(database.last())
    assert [node.index for node in reads] == [
        {"counted_searches": "search_log_at", "unanswered": "search_log_unanswered"}[statement]
    ]
    assert read_rows(reads) == {"counted_searches": 240, "unanswered": 24}[statement]


def of_log(plan: Node) -> list[Node]:
    """The steps that read the search log."""
    return [node for node in plan.walk() if node["Relation Name"] == "search_log"]


def read_rows(nodes: list[Node]) -> int:
    """How many rows they looked at, those that a filter dropped among them."""
    return sum(
        int(node.fields["Actual Rows"] + node.fields.get("Rows Removed by Filter", 0)) * node.fields["Actual Loops"]
        for node in nodes
    )
