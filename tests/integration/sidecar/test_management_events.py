"""What becomes of sources is told while it happens, to those who may know and for as long as they may."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import aiohttp
import pytest_asyncio

from retrieval_sidecar.management.events import Pace
from retrieval_sidecar.management.keys import revoke_key
from tests.support.database import TestDatabase
from tests.support.events import Stream, following
from tests.support.extended_organization import FOREIGN_ID, foreign_items, foreign_organization
from tests.support.files import pdf
from tests.support.inspection import rows, until
from tests.support.jobs import process, workshop
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, connected, load
from tests.support.small_organization import ORGANIZATION_ID
from tests.support.sources import new_run

# As quick as it can be; a sign of life is sent only where a test waits for one.
QUICK = Pace(look_s=0.01, heartbeat_s=600, longest_s=600)


@pytest_asyncio.fixture
async def manage(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(
        database, await key_for(database, ORGANIZATION_ID), clock=clock, pace=QUICK
    ) as client:
        yield client


def id_of(path: str) -> str:
    return path.rpartition("/")[2]


async def told(stream: Stream, *names: str) -> list[str]:
    """The ids that these events, in this order, are about."""
    found = []
    for name in names:
        event = await stream.next()
        assert event is not None
        assert event[0] == name
        found.append(event[1]["id"])
    return found


async def test_a_source_is_told_of_when_it_comes_when_it_is_read_and_when_it_goes(
    manage: ManagementClient, database: TestDatabase
) -> None:
    base = await manage.new_base("Patients")
    async with following(manage, base) as stream:
        assert (stream.response.status, stream.response.content_type) == (200, "text/event-stream")
        assert stream.response.headers["Cache-Control"].startswith("no-")
        source = await manage.new_text(base, "Parking", "Three euros an hour.")
        name, added = await stream.next() or ("", {})
        assert (name, added["id"], added["status"]) == ("source", id_of(source), "processing")
        await process(workshop(database), UUID(added["id"]), ORGANIZATION_ID)
        while added["status"] == "processing":
            name, seen = await stream.next() or ("", {})
            added = seen if name == "source" else added
        assert [added] == (await manage.get(f"{base}/sources")).body["items"]
        assert (added["status"], added["chunk_count"], added["is_searchable"]) == ("ready", 1, True)
        await manage.post(f"{source}/reprocess")
        name, again = await stream.next() or ("", {})
        assert (name, again["status"], again["is_searchable"]) == ("source", "processing", True)
        await manage.delete(source)
        assert await stream.next() == ("removed", {"id": id_of(source)})


async def test_a_source_that_cannot_be_read_says_why(manage: ManagementClient, database: TestDatabase) -> None:
    base = await manage.new_base("Patients")
    answer = await manage.upload(f"{base}/sources/file", pdf.pdf([[]]), "scan.pdf")
    async with following(manage, base) as stream:
        assert await told(stream, "source") == [answer.body["id"]]
        await process(workshop(database), UUID(answer.body["id"]), ORGANIZATION_ID)
        source = answer.body
        while source["status"] == "processing":
            name, seen = await stream.next() or ("", {})
            source = seen if name == "source" else source
        assert (source["status"], source["error_code"]) == ("failed", "no_text")
        assert source["error"]


async def test_how_far_a_reading_is_comes_without_the_rest(manage: ManagementClient, database: TestDatabase) -> None:
    base = await manage.new_base("Patients")
    source = id_of(await manage.new_text(base))
    run = await new_run(database, UUID(source))
    async with following(manage, base) as stream:
        assert await told(stream, "source") == [source]
        for embedded in (1, 2):
            await rows(
                database, "update ingest_run set texts = 9, texts_embedded = %s where run_id = %s", [embedded, run]
            )
            name, progress = await stream.next() or ("", {})
            assert (name, progress.keys()) == ("progress", {"id", "reading"})
            assert (progress["reading"]["texts_embedded"], progress["reading"]["texts"]) == (embedded, 9)


async def test_at_first_those_are_told_of_that_are_still_read(manage: ManagementClient, database: TestDatabase) -> None:
    base = await manage.new_base("Patients")
    done, waiting = await manage.new_text(base, "Done"), await manage.new_text(base, "Waiting")
    await process(workshop(database), UUID(id_of(done)), ORGANIZATION_ID)
    async with following(manage, base) as stream:
        assert await told(stream, "source") == [id_of(waiting)]
        third = await manage.new_text(base, "Third")
        assert await told(stream, "source") == [id_of(third)]


async def test_other_bases_and_others_sources_are_not_told_of(
    manage: ManagementClient, database: TestDatabase, tmp_path: Path
) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    foreign = manage.with_key(await key_for(database, FOREIGN_ID))
    mine, other, theirs = (
        await manage.new_base("Mine"), await manage.new_base("Mine too"), await foreign.new_base("Mine"),
    )  # fmt: skip
    async with following(manage, mine) as stream:
        await manage.new_text(other)
        await foreign.new_text(theirs)
        expected = await manage.new_text(mine)
        assert await told(stream, "source") == [id_of(expected)]
    async with following(foreign, mine) as stream:
        assert stream.response.status == 404


async def test_a_quiet_stream_gives_signs_of_life(database: TestDatabase, clock: TestClock) -> None:
    key = await key_for(database, ORGANIZATION_ID)
    pace = Pace(look_s=600, heartbeat_s=0.01, longest_s=600)
    async with (
        running_management(database, key, clock=clock, pace=pace) as manage,
        following(manage, await manage.new_base("Quiet")) as stream,
    ):
        await stream.heartbeat()
        await stream.heartbeat()


async def test_it_ends_when_the_key_ends(manage: ManagementClient, database: TestDatabase, clock: TestClock) -> None:
    base = await manage.new_base("Patients")
    short = manage.with_key(await key_for(database, ORGANIZATION_ID, expires_at=clock().replace(hour=13)))
    revoked = manage.with_key(await key_for(database, ORGANIZATION_ID))
    async with following(short, base) as first, following(revoked, base) as second, following(manage, base) as third:
        async with connected(database, "owner") as connection:
            key_id = UUID(revoked.key.split("_")[2])
            await revoke_key(connection, ORGANIZATION_ID, key_id, datetime.now(UTC), actor="test")
        assert await second.ends()
        clock.advance(hours=1)
        assert await first.ends()
        source = await manage.new_text(base)
        assert await told(third, "source") == [id_of(source)]


async def test_it_ends_with_the_browsers_session_which_it_does_not_keep_alive(
    manage: ManagementClient, database: TestDatabase, clock: TestClock
) -> None:
    base = await manage.new_base("Patients")
    for minutes, signs_out in ((0, True), (600, False)):
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            headers = {"X-API-Key": manage.key, "Origin": manage.url}
            async with browser.post(f"{manage.url}/api/v1/session", headers=headers) as opened:
                assert opened.status == 201
                token = (await opened.json())["csrf_token"]
            own = {"Sec-Fetch-Site": "same-origin", "Origin": manage.url, "X-CSRF-Token": token}
            async with browser.get(f"{manage.url}{base}/events", headers=own) as response:
                assert response.status == 200
                if signs_out:
                    async with browser.delete(f"{manage.url}/api/v1/session", headers=own) as closed:
                        assert closed.status == 204
                clock.advance(minutes=minutes)
                assert await Stream(response).ends()


async def test_it_ends_when_there_is_nothing_to_watch_any_more(manage: ManagementClient) -> None:
    base = await manage.new_base("Patients")
    async with following(manage, base) as stream:
        await manage.delete(base)
        assert await stream.ends()


async def test_it_ends_in_time_and_the_client_comes_again(database: TestDatabase) -> None:
    pace = Pace(look_s=0.01, heartbeat_s=600, longest_s=0.05)
    async with running_management(database, await key_for(database, ORGANIZATION_ID), pace=pace) as manage:
        base = await manage.new_base("Patients")
        source = await manage.new_text(base)
        for _ in range(2):
            async with following(manage, base) as stream:
                assert await told(stream, "source") == [id_of(source)]
                assert await stream.ends()


async def test_it_ends_when_the_process_does(database: TestDatabase) -> None:
    async with AsyncExitStack() as stack:
        async with running_management(database, await key_for(database, ORGANIZATION_ID), pace=QUICK) as manage:
            stream = await stack.enter_async_context(following(manage, await manage.new_base("Patients")))
        # The process has ended, and waited for no client.
        assert await stream.ends()


async def test_one_stream_too_many_is_told_to_come_again_until_another_has_left(
    manage: ManagementClient, database: TestDatabase, tmp_path: Path
) -> None:
    await load(database, tmp_path, foreign_organization(), foreign_items())
    foreign = manage.with_key(await key_for(database, FOREIGN_ID))
    base = await manage.new_base("Patients")
    async with AsyncExitStack() as stack:
        for _ in range(19):
            assert (await stack.enter_async_context(following(manage, base))).response.status == 200
        async with following(manage, base) as last:
            assert last.response.status == 200
            async with following(manage, base) as refused:
                problem = await refused.response.json(content_type="application/problem+json")
                assert (refused.response.status, problem["code"]) == (429, "too_many_requests")
                assert "20 at most" in problem["detail"]
                assert int(refused.response.headers["Retry-After"]) > 0
            async with following(foreign, await foreign.new_base("Theirs")) as stream:
                assert stream.response.status == 200

        async def is_let_in() -> bool | None:
            async with following(manage, base) as stream:
                return stream.response.status == 200 or None

        # The last has left: as soon as that is known, there is room.
        assert await until(is_let_in, seconds=60)


async def test_while_the_database_is_away_it_waits(manage: ManagementClient, database: TestDatabase) -> None:
    base = await manage.new_base("Patients")
    async with following(manage, base) as stream:
        for _ in range(3):
            await rows(
                database,
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and usename = 'answerline_manage'",
                role="superuser",
            )
        source = await until(lambda: new_text(manage, base), seconds=60)
        assert await told(stream, "source") == [source]


async def new_text(manage: ManagementClient, base: str) -> str | None:
    """The id of a new source; None while there is no database."""
    answer = await manage.post(f"{base}/sources/text", {"name": "Parking", "text": "Three euros."})
    return str(answer.body["id"]) if answer.status == 201 else None


async def test_a_base_that_is_not_there_has_no_events(manage: ManagementClient) -> None:
    for path in (f"{BASES}/{ORGANIZATION_ID}", f"{BASES}/none"):
        async with following(manage, path) as stream:
            assert stream.response.status == (404 if path.endswith(str(ORGANIZATION_ID)) else 400)
    assert (await manage.get(f"{await manage.new_base('Patients')}/events", cursor="x")).status == 400
