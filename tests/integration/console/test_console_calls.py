"""Calls in a browser: which there were, and what happened on one."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Browser, expect

from tests.support.browser import VARIANTS, Findings, Operator, look, operator
from tests.support.database import TestDatabase
from tests.support.management import ManagementClient
from tests.support.told_calls import BEGAN, FRONT_DESK, PHARMACY, tell_call, tell_event, tell_long_call, tell_search

pytestmark = pytest.mark.chromium

STATUSES = ("completed", "transferred", "failed", "lost", "active")


async def tell_many(database: TestDatabase, count: int) -> None:
    for number in range(count):
        agent = FRONT_DESK if number % 3 else PHARMACY
        began = BEGAN - timedelta(hours=3 * number)
        call = await tell_call(database, agent, began, STATUSES[number % 5], seconds=40 + 7 * number)
        if number % 4 == 1:
            await tell_search(database, call, 5, "opening hours", "ok", 20, 8, 31)


async def test_calls_are_found_by_their_filters_which_stand_in_the_address(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    await tell_many(clinic, 30)
    await somebody.open("/calls")
    table = page.get_by_role("table", name="Calls, the latest first")
    await expect(table.get_by_role("row")).to_have_count(31)
    await page.get_by_label("Agent").select_option("Pharmacy line")
    await expect(table.get_by_role("row")).to_have_count(11)
    await page.get_by_label("Status").select_option("Failed")
    await expect(table.get_by_role("row")).to_have_count(3)
    await expect(table.get_by_text("Front desk")).to_have_count(0)
    await page.reload()
    await expect(table.get_by_role("row")).to_have_count(3)
    await expect(page.get_by_label("Status")).to_have_value("failed")
    await page.get_by_role("button", name="Clear filters").click()
    await expect(table.get_by_role("row")).to_have_count(31)
    assert "?" not in page.url
    # Days are those of the reader, in Berlin: the 30th ends at 23:00 UTC.
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/calls?" in request.url else None)
    await page.get_by_label("From").fill("2026-11-30")
    await page.get_by_label("Until").fill("2026-11-30")
    await expect(table.get_by_role("row")).to_have_count(9)
    query = parse_qs(urlsplit(asked[-1]).query)
    assert (query["from"], query["to"]) == (["2026-11-29T23:00:00.000Z"], ["2026-11-30T23:00:00.000Z"])
    await page.get_by_label("From").fill("2026-12-24")
    await expect(page.get_by_text("No call matches these filters.")).to_be_visible()


async def test_a_long_list_goes_on_by_the_keyboard(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    await tell_many(clinic, 57)
    await somebody.open("/calls")
    links = page.get_by_role("table").get_by_role("link")
    await expect(links).to_have_count(50)
    await page.get_by_role("button", name="Show more").focus()
    await page.keyboard.press("Enter")
    await expect(links).to_have_count(57)
    await expect(links.nth(50)).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Call to")


async def test_without_calls_it_says_when_there_will_be_some(somebody: Operator) -> None:
    await somebody.open("/calls")
    await expect(somebody.page.get_by_text("They appear here as soon as an agent answers one.")).to_be_visible()


async def test_one_call_is_told_with_its_searches_on_a_time_axis_and_its_scope(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    call = await tell_long_call(clinic)
    await somebody.open("/calls")
    await page.get_by_role("table").get_by_role("link").click()
    assert page.url.endswith(str(call))
    picture = page.get_by_role("img", name="the slowest took 178 ms")
    await expect(picture).to_be_visible()
    # Three searches, in the order of time and as high as they took long; two of them without an answer.
    assert await picture.locator("circle.found").count() == 1
    assert await picture.locator("circle.not-found").count() == 2
    across = "marks => marks.map(mark => [Number(mark.getAttribute('cx')), Number(mark.getAttribute('cy'))])"
    marks = sorted(await picture.locator("circle.found, circle.not-found").evaluate_all(across))
    (x1, y1), (x2, y2), (x3, y3) = marks
    assert x1 < x2 < x3
    assert y1 > y2 > y3
    assert (x3 - x2) / (x2 - x1) == pytest.approx((53 - 25) / (25 - 7), rel=0.01)
    heights = "parts => parts.map(part => Number(part.getAttribute('height')))"
    felt = sum(await picture.locator("g:has(> circle.found) > rect").evaluate_all(heights))
    embed = (await picture.locator("g:has(> circle.found) > rect.part-embed").evaluate_all(heights))[0]
    assert embed / felt == pytest.approx(31 / 63, rel=0.01)
    entries = page.locator("ol.entries > li")
    await expect(entries).to_have_count(14)
    await expect(entries.nth(2)).to_contain_text("0:07")
    await expect(entries.nth(2)).to_contain_text("ibuprofen 600 in stock")
    await expect(entries.nth(2)).to_contain_text(
        "44 ms in all: 31 ms understanding, 9 ms searching · the agent waited 63 ms"
    )
    await expect(entries.nth(2)).to_contain_text("93% sure")
    await expect(page.locator("ol.entries > li", has_text="night service cost").last).to_contain_text("No answer found")
    await expect(page.locator("ol.entries")).to_contain_text("Could not be looked up")
    await expect(page.locator("ol.entries")).to_contain_text("sidecar: timeout")
    await expect(page.locator("ol.entries")).to_contain_text("transferred · the caller asked for a person")
    await expect(page.locator("ol.entries")).to_contain_text("later_than_this_console")
    scope = page.get_by_role("region", name="What the agent could search when the call began")
    await expect(scope).to_contain_text("All searchable")
    await expect(scope).to_contain_text("Restricted · 4 selected")
    for name in ("pharmacy-stock / medicines", "Pharmacy handbook", "Gone folder", "1 single entry"):
        await expect(scope.get_by_text(name, exact=True)).to_be_visible()


async def test_the_drawing_takes_the_room_that_there_is(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    call = await tell_long_call(clinic)
    await somebody.open(f"/calls/{call}")
    picture = page.locator("svg.timeline-picture")
    wide = await picture.get_attribute("width")
    await page.set_viewport_size({"width": 400, "height": 800})
    await expect(picture).not_to_have_attribute("width", str(wide))
    assert float(await picture.get_attribute("width") or 0) < 400


async def test_what_was_said_is_text_and_nothing_else(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    hostile = '<img src=x onerror="document.title=1">'
    call = await tell_call(clinic, PHARMACY, BEGAN)
    await tell_event(clinic, call, 2, "turn", role="caller", text=hostile)
    await tell_search(clinic, call, 3, hostile, "no_match", 1, 1, 3)
    await tell_event(clinic, call, 4, "error", source=hostile, code=hostile)
    await tell_event(clinic, call, 5, hostile)
    await somebody.open(f"/calls/{call}")
    await expect(page.locator("ol.entries")).to_contain_text(hostile)
    assert await page.locator("main img").count() == 0
    assert await page.title() != "1"


async def test_a_call_that_is_not_there_is_told_so(somebody: Operator) -> None:
    page = somebody.page
    for path in ("/calls/11111111-1111-4111-8111-111111111111", "/calls/nothing"):
        await somebody.open(path)
        await expect(page.get_by_role("heading", name="This could not be loaded")).to_be_visible()
        await expect(page.get_by_role("button", name="Try again")).to_be_visible()


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_calls_look(
    browser: Browser, api: ManagementClient, clinic: TestDatabase, findings: Findings, variant: str
) -> None:
    await tell_many(clinic, 12)
    call = await tell_long_call(clinic)
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        await somebody.open("/calls")
        await look(somebody, "calls", variant, findings)
        await somebody.open(f"/calls/{call}")
        await expect(somebody.page.locator("svg.timeline-picture")).to_be_visible()
        await look(somebody, "call", variant, findings)
