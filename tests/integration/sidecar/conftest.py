"""What the tests of the voice API share: calls are added to one database, and nothing else is changed in it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from retrieval_sidecar.local_database import LocalServer
from tests.support.database import TestDatabase, clone
from tests.support.extended_organization import (
    extended_items,
    extended_organization,
    foreign_items,
    foreign_organization,
)
from tests.support.sidecar import TestClock, VoiceClient, load, running_sidecar, token_for
from tests.support.small_organization import ORGANIZATION_ID


@pytest_asyncio.fixture(scope="module")
async def shop(
    postgres: LocalServer, empty_template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TestDatabase]:
    """The extended organization and another one."""
    with clone(postgres, empty_template) as database:
        folder = tmp_path_factory.mktemp("shop")
        await load(database, folder, extended_organization(), extended_items())
        await load(database, folder, foreign_organization(), foreign_items())
        yield database


@pytest_asyncio.fixture(scope="module")
async def api(shop: TestDatabase) -> AsyncIterator[VoiceClient]:
    """A sidecar for all tests of a module, and a client with a token for the extended organization."""
    async with running_sidecar(shop, await token_for(shop, ORGANIZATION_ID), clock=TestClock()) as client:
        yield client
