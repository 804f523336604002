"""Who may ask, whether the sidecar is ready, and which contract it speaks."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from contracts import pins
from retrieval_sidecar import migrations
from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.errors import ConfigurationError
from retrieval_sidecar.voice.tokens import create_token, revoke_token
from tests.support.database import TestDatabase
from tests.support.inspection import rows, until
from tests.support.sidecar import SESSIONS, Answer, TestClock, VoiceClient, connected, running_sidecar
from tests.support.small_organization import OPEN_NUMBER, ORGANIZATION_ID

DOCUMENT = Path(pins.__file__).with_name("voice.openapi.yaml")


class WaitingEmbedder(FakeEmbedder):
    """Loaded when it is told to be."""

    def __init__(self) -> None:
        self.may_load = asyncio.Event()

    async def start(self) -> None:
        await self.may_load.wait()


class MissingEmbedder(FakeEmbedder):
    async def start(self) -> None:
        raise ConfigurationError("The local embedder is not installed.")


async def readiness(client: VoiceClient) -> Answer:
    return await client.get("/readyz")


async def test_a_sidecar_with_all_it_needs_is_ready_and_names_its_contract(voice: VoiceClient) -> None:
    answer = await readiness(voice)
    assert answer.status == 200
    assert answer.body == {
        "status": "ready",
        "contractVersion": pins.voice().version,
        "contractSha256": sha256(DOCUMENT.read_bytes()).hexdigest(),
        "checks": {"database": "ok", "migrations": "ok", "embedder": "ok"},
    }


async def test_the_process_answers_before_the_embedder_is_loaded_and_is_ready_after(database: TestDatabase) -> None:
    embedder = WaitingEmbedder()
    async with running_sidecar(database, "", embedder=embedder, until_ready=False) as client:
        assert (await client.get("/livez")).body == {"status": "ok"}
        answer = await until(lambda: _once_connected(client))
        assert (answer.status, answer.body["status"]) == (503, "not_ready")
        assert answer.body["checks"] == {"database": "ok", "migrations": "ok", "embedder": "failing"}
        embedder.may_load.set()
        assert (await until(lambda: _if_ready(client))).body["status"] == "ready"


async def _once_connected(client: VoiceClient) -> Answer | None:
    answer = await readiness(client)
    return answer if answer.body["checks"]["database"] == "ok" else None


async def _if_ready(client: VoiceClient) -> Answer | None:
    answer = await readiness(client)
    return answer if answer.status == 200 else None


async def test_a_sidecar_whose_embedder_cannot_start_is_alive_and_not_ready(database: TestDatabase) -> None:
    async with running_sidecar(database, "", embedder=MissingEmbedder(), until_ready=False) as client:
        answer = await until(lambda: _once_connected(client))
        assert (answer.status, answer.body["checks"]["embedder"]) == (503, "failing")
        assert (await client.get("/livez")).status == 200


@pytest.mark.parametrize(
    "statement", ["update alembic_version set version_num = '0000'", "delete from alembic_version"]
)
async def test_an_older_schema_or_none_is_not_ready(voice: VoiceClient, database: TestDatabase, statement: str) -> None:
    await rows(database, statement)
    answer = await readiness(voice)
    assert (answer.status, answer.body["checks"]) == (
        503,
        {"database": "ok", "migrations": "failing", "embedder": "ok"},
    )


async def test_a_newer_schema_is_ready_and_left_as_it_is(voice: VoiceClient, database: TestDatabase) -> None:
    # While the next version is rolled out, and after it is rolled back.
    await rows(database, "update alembic_version set version_num = '9999'")
    assert (await readiness(voice)).status == 200
    migrations.upgrade(database.url("owner"))
    assert migrations.current(database.url("owner")) == "9999"


async def test_a_database_without_a_schema_is_not_ready(empty_database: TestDatabase) -> None:
    migrations.downgrade(empty_database.url("owner"), "base")
    await rows(empty_database, "drop table alembic_version")
    async with running_sidecar(empty_database, "", until_ready=False) as client:
        answer = await until(lambda: _once_connected(client))
        assert (answer.status, answer.body["checks"]["migrations"]) == (503, "failing")


async def test_a_database_that_is_gone_is_not_ready(voice: VoiceClient, database: TestDatabase) -> None:
    database.server.drop_database(database.name)
    answer = await readiness(voice)
    assert (answer.status, answer.body["checks"]["database"]) == (503, "failing")
    assert (await voice.get("/livez")).status == 200


async def test_the_contract_is_served_byte_for_byte(voice: VoiceClient) -> None:
    async with voice.http.get(f"{voice.url}/internal/voice/v1/openapi.yaml") as response:
        assert (response.status, response.content_type) == (200, "application/yaml")
        served = await response.read()
    assert served == DOCUMENT.read_bytes()
    assert sha256(served).hexdigest() == pins.voice().sha256


@pytest_asyncio.fixture
async def tokens(voice: VoiceClient, database: TestDatabase, clock: TestClock) -> AsyncIterator["Tokens"]:
    async with connected(database, "owner") as connection:
        yield Tokens(voice, await create_token(connection, "t", [ORGANIZATION_ID]), database, clock)


class Tokens:
    """Tries Authorization headers against an operation that needs one."""

    def __init__(self, voice: VoiceClient, token: str, database: TestDatabase, clock: TestClock) -> None:
        self.voice, self.token, self.database, self.clock = voice, token, database, clock

    async def status(self, authorization: str | None) -> int:
        request = {"calledNumber": OPEN_NUMBER, "roomName": "room", "callId": str(uuid4())}
        headers = {} if authorization is None else {"Authorization": authorization}
        async with self.voice.http.post(self.voice.url + SESSIONS, json=request, headers=headers) as response:
            if response.status == 401:
                assert response.headers["WWW-Authenticate"] == "Bearer"
                assert (await response.json())["detail"] == "A valid voice token is required."
            return response.status


async def test_a_token_is_good_with_its_scheme_in_any_case(tokens: Tokens) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert await tokens.status(f"{scheme} {tokens.token}") == 201


async def test_everything_else_in_its_place_is_refused_alike(tokens: Tokens) -> None:
    prefix, token_id, secret = tokens.token.split("_", 2)
    wrong = [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {tokens.token}",
        tokens.token,
        f"Bearer {secret}",
        f"Bearer alm_{token_id}_{secret}",
        f"Bearer {prefix}_{token_id}_",
        f"Bearer {prefix}_{token_id}_{secret[:-1]}",
        f"Bearer {prefix}_{token_id}_{secret}x",
        f"Bearer {prefix}_{token_id}_{secret.swapcase()}",
        f"Bearer {prefix}_{uuid4().hex}_{secret}",
        f"Bearer {prefix}_{token_id[:-1]}_{secret}",
        f"Bearer {prefix}_not-an-id_{secret}",
        f"Bearer {prefix}_{token_id}_\udcff",
        f"Bearer {prefix}_{token_id}_пароль",
        "Bearer ' or 1=1 --",
    ]
    for header in wrong:
        assert await tokens.status(header) == 401, header


async def test_a_revoked_token_is_refused_at_once(tokens: Tokens) -> None:
    assert await tokens.status(f"Bearer {tokens.token}") == 201
    token_id = UUID(hex=tokens.token.split("_")[1])
    async with connected(tokens.database, "owner") as connection:
        assert await revoke_token(connection, token_id, tokens.clock())
        assert not await revoke_token(connection, token_id, tokens.clock())
    assert await tokens.status(f"Bearer {tokens.token}") == 401


async def test_a_token_ends_at_its_time(tokens: Tokens) -> None:
    async with connected(tokens.database, "owner") as connection:
        ends = tokens.clock().replace(hour=13)
        token = await create_token(connection, "short", [ORGANIZATION_ID], ends)
    tokens.clock.advance(minutes=59, seconds=59)
    assert await tokens.status(f"Bearer {token}") == 201
    tokens.clock.advance(seconds=1)
    assert await tokens.status(f"Bearer {token}") == 401


async def test_two_tokens_are_good_at_once_so_that_one_can_replace_the_other(tokens: Tokens) -> None:
    assert await tokens.status(f"Bearer {tokens.token}") == 201
    assert await tokens.status(f"Bearer {tokens.voice.token}") == 201


async def test_a_token_reaches_only_the_calls_of_its_organizations(tokens: Tokens) -> None:
    session = await tokens.voice.open(OPEN_NUMBER)
    async with connected(tokens.database, "owner") as connection:
        session.client.token = await create_token(connection, "nobody's", [])
    await session.search("parking garage", expect=404)
    assert (await session.end()).status == 404
    await rows(tokens.database, "delete from voice_token_grant where organization_id = %s", [ORGANIZATION_ID])
    assert await tokens.status(f"Bearer {tokens.token}") == 404


async def test_only_a_digest_of_a_token_is_stored(tokens: Tokens) -> None:
    stored = str(await rows(tokens.database, "select t::text from voice_token t"))
    assert tokens.token.split("_", 2)[2] not in stored
