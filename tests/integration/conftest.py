"""Real PostgreSQL and a real sidecar for the tests that need them."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from retrieval_sidecar.local_database import LocalServer
from tests.support.database import TestDatabase, clone, migrated_template, test_server
from tests.support.sidecar import TestClock, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import ORGANIZATION_ID, items, organization


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalServer]:
    with test_server() as server:
        yield server


@pytest.fixture(scope="session")
def empty_template(postgres: LocalServer) -> str:
    return migrated_template(postgres)


@pytest_asyncio.fixture(scope="session")
async def small_template(postgres: LocalServer, empty_template: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The small organization, loaded once."""
    name = "template_small"
    postgres.create_database(name, template=empty_template)
    await load(TestDatabase(postgres, name), tmp_path_factory.mktemp("small"), organization(), items())
    return name


@pytest.fixture
def empty_database(postgres: LocalServer, empty_template: str) -> Iterator[TestDatabase]:
    """The newest schema and nothing in it."""
    with clone(postgres, empty_template) as database:
        yield database


@pytest.fixture
def database(postgres: LocalServer, small_template: str) -> Iterator[TestDatabase]:
    """The small organization."""
    with clone(postgres, small_template) as copy:
        yield copy


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest_asyncio.fixture
async def voice(database: TestDatabase, clock: TestClock) -> AsyncIterator[VoiceClient]:
    """A sidecar that serves the small organization, and a client with a token for it."""
    token = await token_for(database, ORGANIZATION_ID)
    async with running_sidecar(database, token, clock=clock) as client:
        yield client


@pytest.fixture
def sample_folder() -> Path:
    """The demo's organization."""
    return Path(__file__).parents[2] / "demo" / "sample"
