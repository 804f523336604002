"""Sessions of browsers over the management API: what opens and ends one, and what one may do and may not."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from http.cookies import Morsel, SimpleCookie
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import pytest_asyncio

from retrieval_sidecar.http.credentials import Credential
from retrieval_sidecar.management.keys import revoke_key
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import Answer, TestClock, connected
from tests.support.small_organization import ORGANIZATION_ID

SESSION = "/api/v1/session"
OURS = {"Sec-Fetch-Site": "same-origin"}


class Browser:
    """Speaks with a cookie, and never with a key after it has signed in."""

    def __init__(self, api: ManagementClient, signed_in: Answer) -> None:
        (self.cookie,) = SimpleCookie(signed_in.headers["Set-Cookie"]).values()
        self.api = api
        self.token: str = signed_in.body["csrf_token"]

    async def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, *, cookie: str = ""
    ) -> Answer:
        shown = cookie or f"{self.cookie.key}={self.cookie.value}"
        sent = {"Cookie": shown, **(headers or {})}
        api = self.api
        async with api.http.request(method, api.url + path, json=body, headers=sent) as response:
            text = await response.text()
            told = await response.json(content_type=None) if response.content_type.endswith("json") else text
            return Answer(response.status, told, response.headers)

    async def status(self, path: str = BASES) -> int:
        return (await self.send("GET", path)).status

    async def change(self, body: Any = None, **headers: str) -> Answer:
        """Add a knowledge base, as the console does it unless told otherwise."""
        sent = headers or {"X-CSRF-Token": self.token, **OURS}
        return await self.send("POST", BASES, body or {"name": f"Base {uuid4()}"}, sent)


@pytest_asyncio.fixture
async def api(database: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    async with running_management(
        database, await key_for(database, ORGANIZATION_ID, "agents.edit", clock=clock), clock=clock
    ) as client:
        yield client


async def sign_in(api: ManagementClient, **headers: str) -> Browser:
    answer = await api.send("POST", SESSION, headers=headers)
    assert answer.status == 201, answer
    return Browser(api, answer)


async def test_a_key_opens_a_session_that_says_who_it_is(api: ManagementClient, clock: TestClock) -> None:
    browser = await sign_in(api)
    told = (await browser.send("GET", SESSION)).body
    key_id = api.key.split("_")[2]
    assert told == {
        "organization": {"id": str(ORGANIZATION_ID), "name": "Harbour Shop"},
        "key": {"id": str(UUID(key_id)), "name": "test"},
        "permissions": ["agents.view", "agents.edit"],
        "csrf_token": browser.token,
        "ends_at": "2026-12-02T00:00:00Z",
    }
    assert clock() == datetime(2026, 12, 1, 12, tzinfo=UTC)
    by_key = (await api.get(SESSION)).body
    assert by_key == {name: told[name] for name in ("organization", "key", "permissions")}


def flags(cookie: Morsel[str]) -> dict[str, Any]:
    return {name: cookie[name] for name in ("path", "domain", "httponly", "samesite", "secure", "max-age", "expires")}


async def test_the_cookie_is_for_this_host_alone_and_out_of_reach_of_scripts(api: ManagementClient) -> None:
    plain = (await sign_in(api, Origin=api.url)).cookie
    shared = {"path": "/", "domain": "", "httponly": True, "samesite": "Strict", "max-age": "", "expires": ""}
    assert (plain.key, flags(plain)) == ("answerline_session", shared | {"secure": ""})
    over_tls = (await sign_in(api, Origin="https://answers.example.com")).cookie
    assert (over_tls.key, flags(over_tls)) == ("__Host-answerline_session", shared | {"secure": True})


async def test_only_a_digest_of_a_session_is_stored(api: ManagementClient, database: TestDatabase) -> None:
    browser = await sign_in(api)
    secret = browser.cookie.value.split("_", 3)[3]
    assert len(secret) >= 43
    stored = str(
        await rows(database, "select s::text from console_session s union all select a::text from audit_log a")
    )
    assert secret not in stored
    assert browser.token not in stored


async def test_the_api_works_with_a_session_as_with_its_key(api: ManagementClient, database: TestDatabase) -> None:
    browser = await sign_in(api)
    assert (await browser.change({"name": "By a browser"})).status == 201
    assert [each["name"] for each in (await api.get(BASES)).body["items"]].count("By a browser") == 1
    actors = await rows(database, "select distinct actor from audit_log where actor <> 'test'")
    assert actors == [(f"key:{UUID(api.key.split('_')[2])}",)]


async def test_a_session_may_do_no_more_than_its_key(api: ManagementClient, database: TestDatabase) -> None:
    viewer = await sign_in(api.with_key(await key_for(database, ORGANIZATION_ID, "agents.view")))
    assert await viewer.status() == 200
    refused = await viewer.change()
    assert (refused.status, refused.body["code"]) == (403, "forbidden")
    assert "agents.edit" in refused.body["detail"]
    assert (await viewer.send("GET", SESSION)).body["permissions"] == ["agents.view"]


@pytest.mark.parametrize(
    ("token", "origin"),
    [
        (None, OURS),
        ("", OURS),
        ("wrong", OURS),
        ("other", OURS),
        ("own", {}),
        ("own", {"Sec-Fetch-Site": "cross-site"}),
        ("own", {"Sec-Fetch-Site": "same-site"}),
        ("own", {"Sec-Fetch-Site": "none"}),
        ("own", {"Sec-Fetch-Site": "cross-site", "Origin": "own"}),
        ("own", {"Origin": "https://attacker.example"}),
        ("own", {"Origin": "null"}),
        ("own", {"Origin": ""}),
        ("own", {"Origin": "http://["}),
    ],
)
async def test_a_change_that_may_come_from_another_page_is_refused(
    api: ManagementClient, database: TestDatabase, token: str | None, origin: dict[str, str]
) -> None:
    browser, other = await sign_in(api), await sign_in(api)
    tokens = {"own": browser.token, "other": other.token}
    sent = {name: api.url if text == "own" else text for name, text in origin.items()}
    if token is not None:
        sent["X-CSRF-Token"] = tokens.get(token, token)
    before = await value(database, "select count(*) from knowledge_base")
    refused = await browser.send("POST", BASES, {"name": "Forged"}, sent)
    assert (refused.status, refused.body["code"]) == (403, "forbidden")
    assert "console's own page" in refused.body["detail"]
    signed_out = await browser.send("DELETE", SESSION, headers=sent)
    assert signed_out.status == 403
    assert await value(database, "select count(*) from knowledge_base") == before
    assert await browser.status() == 200


async def test_a_browser_that_tells_its_origin_only_is_known_by_that(api: ManagementClient) -> None:
    browser = await sign_in(api)
    told = {"X-CSRF-Token": browser.token, "Origin": api.url}
    assert (await browser.send("POST", BASES, {"name": "Older browser"}, told)).status == 201


async def test_where_there_is_a_key_the_cookie_is_not_looked_at(api: ManagementClient, database: TestDatabase) -> None:
    browser = await sign_in(api)
    assert (await browser.send("POST", BASES, {"name": "By key"}, {"X-API-Key": api.key})).status == 201
    for wrong in ("", "alk_", api.key + "x"):
        assert (await browser.send("GET", BASES, headers={"X-API-Key": wrong})).status == 401
    viewer = await key_for(database, ORGANIZATION_ID, "agents.view")
    assert (await browser.send("POST", BASES, {"name": "No"}, {"X-API-Key": viewer})).status == 403


async def test_a_session_opens_no_other(api: ManagementClient, database: TestDatabase) -> None:
    browser = await sign_in(api)
    refused = await browser.send("POST", SESSION, headers={"X-CSRF-Token": browser.token, **OURS})
    assert refused.status == 401
    assert await value(database, "select count(*) from console_session") == 1


async def test_signing_out_ends_it_at_once_and_takes_the_cookie_away(
    api: ManagementClient, database: TestDatabase
) -> None:
    browser, other = await sign_in(api), await sign_in(api)
    out = await browser.send("DELETE", SESSION, headers={"X-CSRF-Token": browser.token, **OURS})
    assert out.status == 204
    (taken,) = SimpleCookie(out.headers["Set-Cookie"]).values()
    assert (taken.key, taken.value, taken["max-age"]) == ("answerline_session", "", "0")
    assert (await browser.status(), await other.status()) == (401, 200)
    assert await value(database, "select count(*) from console_session") == 1
    # A key has none to end.
    assert (await api.delete(SESSION)).status == 204
    assert await other.status() == 200


async def test_signing_in_and_out_is_in_the_audit_log(api: ManagementClient, database: TestDatabase) -> None:
    browser = await sign_in(api)
    await browser.send("DELETE", SESSION, headers={"X-CSRF-Token": browser.token, **OURS})
    key_id, session_id = UUID(api.key.split("_")[2]), UUID(browser.cookie.value.split("_")[2])
    entries = await rows(
        database,
        "select actor, action, object_id, before, after from audit_log where object_type = 'console_session'"
        " order by entry_id",
    )
    assert entries == [
        (f"key:{key_id}", "create", session_id, None, {"key_id": str(key_id)}),
        (f"key:{key_id}", "delete", session_id, {"key_id": str(key_id)}, None),
    ]


async def test_without_its_entry_in_the_audit_log_nobody_is_signed_in(
    api: ManagementClient, database: TestDatabase
) -> None:
    await rows(database, "alter table audit_log add check (false) not valid")
    refused = await api.send("POST", SESSION)
    assert (refused.status, "Set-Cookie" in refused.headers) == (500, False)
    assert await value(database, "select count(*) from console_session") == 0


async def test_it_ends_when_nothing_is_asked_for_a_while(api: ManagementClient, clock: TestClock) -> None:
    browser, idle = await sign_in(api), await sign_in(api)
    for _ in range(3):
        clock.advance(minutes=30)
        assert await browser.status() == 200
    assert await idle.status() == 401
    clock.advance(minutes=60)
    assert await browser.status() == 401


async def test_it_ends_after_some_hours_whatever_is_asked(api: ManagementClient, clock: TestClock) -> None:
    browser = await sign_in(api)
    for _ in range(23):
        clock.advance(minutes=30)
        assert await browser.status() == 200
    clock.advance(minutes=29, seconds=59)
    assert await browser.status() == 200
    clock.advance(seconds=1)
    assert await browser.status() == 401


async def test_it_ends_with_its_key(api: ManagementClient, database: TestDatabase, clock: TestClock) -> None:
    ending = await key_for(database, ORGANIZATION_ID, clock=clock, expires_at=clock().replace(minute=10))
    expiring, browser = await sign_in(api.with_key(ending)), await sign_in(api)
    other = await sign_in(api.with_key(await key_for(database, ORGANIZATION_ID, clock=clock)))
    clock.advance(minutes=9, seconds=59)
    assert await expiring.status() == 200
    clock.advance(seconds=1)
    assert await expiring.status() == 401
    assert await browser.status() == 200
    async with connected(database, "owner") as connection:
        await revoke_key(connection, ORGANIZATION_ID, UUID(api.key.split("_")[2]), clock(), actor="test")
    assert (await browser.status(), await other.status()) == (401, 200)


async def test_those_that_ended_by_themselves_are_swept_away_by_who_signs_in(
    api: ManagementClient, database: TestDatabase, clock: TestClock
) -> None:
    for _ in range(3):
        await sign_in(api)
    clock.advance(minutes=61)
    await sign_in(api)
    assert await value(database, "select count(*) from console_session") == 1


async def test_everything_but_a_session_that_holds_is_refused_alike(api: ManagementClient) -> None:
    browser = await sign_in(api)
    kind, organization, session, secret = browser.cookie.value.split("_", 3)
    bodies = set()
    for wrong in (
        "x",
        f"{kind}_{organization}_{session}_",
        f"{kind}_{organization}_{session}_{secret}x",
        f"{kind}_{organization}_{uuid4().hex}_{secret}",
        f"{kind}_{uuid4().hex}_{session}_{secret}",
        f"alk_{organization}_{session}_{secret}",
        f"{kind}_{organization}_{api.key.split('_')[2]}_{api.key.split('_', 3)[3]}",
    ):
        answer = await browser.send("GET", BASES, cookie=f"answerline_session={wrong}")
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "ApiKey"), wrong
        bodies.add(answer.body["code"])
    assert bodies == {"unauthorized"}
    assert await browser.status() == 200
    # A key's text is none that a cookie may hold, nor a session's one of a key's header.
    assert (await browser.send("GET", BASES, cookie=f"answerline_session={api.key}")).status == 401
    assert (await api.with_key(browser.cookie.value).get(BASES)).status == 401


async def test_who_guesses_at_sessions_is_told_to_wait(api: ManagementClient, clock: TestClock) -> None:
    browser = await sign_in(api)
    wrong = f"answerline_session={browser.cookie.value}x"
    statuses = [(await browser.send("GET", BASES, cookie=wrong)).status for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    guesses = [str(Credential.new("als", ORGANIZATION_ID, uuid4())) for _ in range(60)]
    more = [(await browser.send("GET", BASES, cookie=f"answerline_session={guess}")).status for guess in guesses]
    assert more[-10:] == [429] * 10
    # Whoever holds a session or a key that holds is not refused for it.
    assert await (await sign_in(api)).status() == 200
    clock.advance(seconds=6)
    assert await browser.status() == 200


async def test_a_wrong_key_opens_nothing_and_is_throttled(api: ManagementClient, database: TestDatabase) -> None:
    wrong = api.with_key(api.key + "x")
    answers = [await wrong.send("POST", SESSION) for _ in range(11)]
    assert [each.status for each in answers] == [401] * 10 + [429]
    assert not any("Set-Cookie" in each.headers for each in answers)
    assert await value(database, "select count(*) from console_session") == 0


async def test_the_role_that_answers_calls_sees_no_session(database: TestDatabase) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await rows(database, "select from console_session", role="voice")
