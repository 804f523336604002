"""What all tests share."""

from collections.abc import Iterator

import pytest

from tests.support.contract_exchange import ContractExchanges

pytest_plugins = ["tests.support.requirements"]


@pytest.fixture
def contract_exchanges() -> Iterator[ContractExchanges]:
    """The exchanges of the test's fake sidecar; one that does not fit fails the test at its end."""
    exchanges = ContractExchanges()
    yield exchanges
    exchanges.assert_clean()
