"""How each page looks, in both schemes, both directions and on a phone: for everybody, as far as axe can tell."""

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import VARIANTS, Findings, look, operator
from tests.support.management import ManagementClient

pytestmark = pytest.mark.chromium

PAGES = {
    "agents": "/agents",
    "knowledge": "/agents/c7e1d358-92b4-4f6d-a0c9-5e83f1264b7a",
    "reference": "/reference",
    "missing": "/nowhere",
}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_signing_in(browser: Browser, api: ManagementClient, findings: Findings, variant: str) -> None:
    async with operator(browser, api, is_signed_in=False, **VARIANTS[variant]) as somebody:
        await somebody.open()
        await look(somebody, "sign-in", variant, findings)
        await somebody.page.keyboard.press("Enter")
        await expect(somebody.page.get_by_role("alert")).to_be_visible()
        await look(somebody, "sign-in-refused", variant, findings)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", PAGES)
async def test_a_page(browser: Browser, api: ManagementClient, findings: Findings, name: str, variant: str) -> None:
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        await somebody.open(PAGES[name])
        await look(somebody, name, variant, findings)
