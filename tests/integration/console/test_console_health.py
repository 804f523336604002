"""Health in the console: the figures, charts that can be read without being seen, and what was asked in vain."""

import re
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.support.browser import VARIANTS, Findings, Operator, look, operator
from tests.support.database import TestDatabase
from tests.support.inspection import rows
from tests.support.logged import log_call, log_search
from tests.support.management import ManagementClient

pytestmark = pytest.mark.chromium

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest_asyncio.fixture
async def asked(clinic: TestDatabase) -> list[str]:
    """Searches of two agents, over some days; the agents' names."""
    agents = await rows(clinic, "select organization_id, name from phone_agent order by name")
    (organization, first), (_, second) = agents[:2]
    call = await log_call(clinic, organization, first, "2026-11-29T09:00:00Z")
    other = await log_call(clinic, organization, second, "2026-11-20T09:00:00Z")
    for number in range(8):
        at = f"2026-11-{26 + number % 4}T09:0{number}:00Z"
        fields = {"status": "ok" if number % 4 else "no_match", "total_ms": 10.0 + 5 * number}
        await log_search(clinic, organization, call, at, "Do you repair umbrellas?", **fields)
    await log_search(clinic, organization, call, "2026-11-30T09:00:00Z", HOSTILE, status="no_match", total_ms=90)
    await log_search(clinic, organization, other, "2026-11-20T09:00:00Z", "هل تصلحون المظلات؟", total_ms=500)
    return [first, second]


async def open_health(somebody: Operator, path: str = "/health") -> None:
    """Go there at the time that the calls were made for."""
    await somebody.page.clock.set_fixed_time(NOW)
    await somebody.open(path)


async def figure(somebody: Operator, name: str) -> str:
    """What a tile says."""
    shown = somebody.page.locator(".tile").filter(has=somebody.page.get_by_text(name, exact=True))
    return await shown.locator("dd").inner_text()


async def test_the_figures_are_those_of_the_api(somebody: Operator, asked: list[str]) -> None:
    await open_health(somebody)
    assert re.fullmatch(r"66\.7%\s*6 of 9", await figure(somebody, "Answered"))
    assert re.fullmatch(r"33\.3%\s*3 of 9", await figure(somebody, "No answer found"))
    assert await figure(somebody, "Half within") == "30 ms"
    assert await figure(somebody, "95 of 100 within") == "72 ms"
    assert (await figure(somebody, "Calls"), await figure(somebody, "Searches")) == ("1", "9")


async def test_what_was_asked_in_vain_is_listed_as_text(somebody: Operator, asked: list[str]) -> None:
    await open_health(somebody)
    table = somebody.page.get_by_role("table", name="Asked most without an answer")
    cells = [await row.get_by_role("cell").all_inner_texts() for row in await table.get_by_role("row").all()]
    assert [row[:2] for row in cells if row] == [["Do you repair umbrellas?", "2"], [HOSTILE, "1"]]
    assert await somebody.page.locator("main img").count() == 0


async def test_charts_say_in_words_and_in_a_table_what_they_show(somebody: Operator, asked: list[str]) -> None:
    page = somebody.page
    await open_health(somebody)
    answers = page.get_by_role("img", name="9 searches from")
    text = re.sub("[\u2068\u2069]", "", await answers.get_attribute("aria-label") or "")
    assert "6 of them answered, 3 without an answer; most, 2, at 26 Nov 2026" in text
    times = page.get_by_role("img", name="95 of 100 searches took at most")
    text = re.sub("[\u2068\u2069]", "", await times.get_attribute("aria-label") or "")
    assert "and 90 ms where it took longest" in text
    # Three days with answers, and two with questions without one.
    assert await answers.locator("rect.series-1").count() == 3
    assert await answers.locator("rect.series-2").count() == 2
    await page.get_by_text("The same as a table").click()
    table = page.get_by_role("table", name="The same as a table")
    counts = [
        (await row.get_by_role("cell").all_inner_texts())[2] for row in (await table.get_by_role("row").all())[1:]
    ]
    assert counts == ["0", "0", "2", "2", "2", "2", "1", "0"]


async def test_time_and_agent_are_chosen_and_stay_in_the_address(somebody: Operator, asked: list[str]) -> None:
    page = somebody.page
    await open_health(somebody)
    await page.get_by_label("Time").select_option(label="Last 30 days")
    await expect(page.locator(".tile-value").nth(5)).to_have_text("10")
    await page.get_by_label("Agent").select_option(label=asked[1])
    await expect(page.locator(".tile-value").nth(5)).to_have_text("1")
    assert "window=month" in page.url
    await page.reload()
    await expect(page.locator(".tile-value").nth(5)).to_have_text("1")
    await page.get_by_label("Time").select_option(label="Last 24 hours")
    await expect(page.get_by_text("Nobody asked anything in this time.")).to_be_visible()
    await expect(page.get_by_text("Every question found an answer.")).to_be_visible()
    assert re.fullmatch(r"–\s*0 of 0", await figure(somebody, "Answered"))


async def test_with_the_keyboard_alone(somebody: Operator, asked: list[str]) -> None:
    page, keys = somebody.page, somebody.page.keyboard
    await page.clock.set_fixed_time(NOW)
    await somebody.open()
    await somebody.tab_to("Health")
    await keys.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await somebody.tab_to("Time")
    await keys.press("ArrowDown")
    await expect(page.locator(".tile-value").nth(5)).to_have_text("10")
    await somebody.tab_to("The same as a table")
    await keys.press("Enter")
    await expect(page.get_by_role("table", name="The same as a table")).to_be_visible()


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_it_looks(
    browser: Browser, api: ManagementClient, asked: list[str], findings: Findings, variant: str
) -> None:
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        await open_health(somebody)
        await look(somebody, "health", variant, findings)
        await somebody.page.locator("summary").click()
        await look(somebody, "health-table", variant, findings)
