"""The sample organization behind a real management API, and a browser in front of it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio
import yaml
from playwright.async_api import Browser

from retrieval_sidecar.embeddings.fake import FakeEmbedder
from retrieval_sidecar.ingest.indexing import index_organization
from retrieval_sidecar.ingest.load import load_organization
from retrieval_sidecar.local_database import LocalServer
from tests.support.browser import Findings, Operator, browsing, operator
from tests.support.database import TestDatabase, clone
from tests.support.inspection import rows
from tests.support.management import ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock, connected

SAMPLE = Path(__file__).parents[3] / "demo" / "sample"


@pytest_asyncio.fixture(scope="session")
async def sample_template(postgres: LocalServer, empty_template: str) -> str:
    """The sample organization, loaded once."""
    name = "template_sample"
    postgres.create_database(name, template=empty_template)
    async with connected(TestDatabase(postgres, name), "manage") as connection:
        loaded = await load_organization(connection, SAMPLE / "organization.yaml", SAMPLE / "items.jsonl")
        await index_organization(connection, FakeEmbedder(), loaded.organization_id)
    return name


@pytest.fixture
def clinic(postgres: LocalServer, sample_template: str) -> Iterator[TestDatabase]:
    """The sample organization, a test's own."""
    with clone(postgres, sample_template) as database:
        yield database


@pytest.fixture(scope="module")
def postgres_module(postgres: LocalServer, small_template: str) -> Iterator[TestDatabase]:
    """The small organization, for all tests of a module."""
    with clone(postgres, small_template) as database:
        yield database


@pytest_asyncio.fixture
async def api(clinic: TestDatabase, clock: TestClock) -> AsyncIterator[ManagementClient]:
    """The API that the console speaks to."""
    organization = UUID(yaml.safe_load((SAMPLE / "organization.yaml").read_text("utf-8"))["organization"]["id"])
    key = await key_for(clinic, organization, "agents.edit", clock=clock)
    await rows(clinic, "update api_key set name = 'Front office'")
    async with running_management(clinic, key, clock=clock) as client:
        yield client


@pytest_asyncio.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as started:
        yield started


@pytest_asyncio.fixture
async def somebody(browser: Browser, api: ManagementClient) -> AsyncIterator[Operator]:
    """An operator who is signed in."""
    async with operator(browser, api) as found:
        yield found


@pytest.fixture(scope="session")
def findings() -> Iterator[Findings]:
    """What axe found, written down at the end."""
    found = Findings()
    yield found
    found.write()
