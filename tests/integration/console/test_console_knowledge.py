"""What an agent may search, chosen in a browser: by mouse and keyboard, alone, beside others, and when saving fails."""

from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.support.browser import VARIANTS, Findings, Operator, look, operator
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.management import ManagementClient, key_for

pytestmark = pytest.mark.chromium

FRONT_DESK, PHARMACY = "0b9f4a7d-3c52-4e18-8f6a-d41e7c95b230", "c7e1d358-92b4-4f6d-a0c9-5e83f1264b7a"


def sources(agent: str) -> str:
    return f"/api/v1/phone-agents/{agent}/knowledge-sources"


def root(page: Page, name: str) -> Locator:
    """The disclosure of a category, whose name says how far it is open and whether that is saved."""
    return page.get_by_role("button", name=name, exact=True)


def box(page: Page, name: str) -> Locator:
    return page.get_by_role("checkbox", name=name)


async def saved(api: ManagementClient, agent: str) -> dict[str, Any]:
    body = (await api.get(sources(agent))).body
    return {"instructions": body["instruction_scope"], "knowledge": body["knowledge_scope"]}


class Requests:
    """The bodies of changes that a page sends."""

    def __init__(self, page: Page) -> None:
        self.bodies: list[Any] = []
        page.on(
            "request", lambda request: self.bodies.append(request.post_data_json) if request.method == "PUT" else None
        )


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save", exact=True).click()


async def test_the_first_check_restricts_its_own_category_and_sends_nothing_of_the_other(somebody: Operator) -> None:
    page, sent = somebody.page, Requests(somebody.page)
    await somebody.open(f"/agents/{FRONT_DESK}")
    await expect(root(page, "Instructions All searchable")).to_be_visible()
    await expect(root(page, "Knowledge All searchable")).to_be_visible()
    await box(page, "Price list").check()
    await expect(root(page, "Knowledge Restricted · 1 selected Not saved")).to_be_visible()
    await expect(root(page, "Instructions All searchable")).to_be_visible()
    await box(page, "Clinic handbook").check()
    await save(page)
    await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    await expect(root(page, "Knowledge Restricted · 2 selected")).to_be_visible()
    assert [set(body) for body in sent.bodies] == [{"knowledge_item_ids", "knowledge_folder_keys"}]
    assert sent.bodies[0]["knowledge_item_ids"] == []
    now = await saved(somebody.api, FRONT_DESK)
    assert now["instructions"]["mode"] == "all"
    assert now["knowledge"]["mode"] == "selected"
    assert "upload:Price%20list" in now["knowledge"]["folder_keys"]
    assert len(now["knowledge"]["folder_keys"]) == 2


async def test_an_instruction_is_chosen_with_the_keyboard_alone(browser: Browser, api: ManagementClient) -> None:
    async with operator(browser, api, is_signed_in=False) as somebody:
        page, keys = somebody.page, somebody.page.keyboard
        await page.goto(f"{api.url}/console/")
        await somebody.sign_in()
        await expect(page.get_by_role("heading", name="Agents")).to_be_visible()
        await somebody.tab_to("Front desk")
        await keys.press("Enter")
        await expect(page.get_by_role("heading", name="What Front desk may search")).to_be_focused()
        await somebody.tab_to("What is in Billing")
        await keys.press("Enter")
        await expect(box(page, "A caller asks to pay in instalments")).to_be_visible()
        await somebody.tab_to("A caller asks to pay in instalments")
        await keys.press("Space")
        await expect(root(page, "Instructions Restricted · 1 selected Not saved")).to_be_visible()
        await somebody.tab_to("Save")
        await keys.press("Enter")
        await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
        now = await saved(api, FRONT_DESK)
        assert (now["instructions"]["mode"], len(now["instructions"]["instruction_ids"])) == ("selected", 1)
        assert now["knowledge"]["mode"] == "all"
        # The last one again: Escape keeps it, and so does the answer that has the focus.
        for answer in ("Escape", "Enter"):
            await page.get_by_role("checkbox", name="A caller asks to pay in instalments").focus()
            await keys.press("Space")
            await expect(page.get_by_role("dialog", name="Open Instructions to everything?")).to_be_visible()
            await keys.press(answer)
            await expect(page.get_by_role("dialog")).to_have_count(0)
            await expect(box(page, "A caller asks to pay in instalments")).to_be_checked()
            await expect(box(page, "A caller asks to pay in instalments")).to_be_focused()
        await expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()


async def test_what_is_in_a_checked_folder_stays_implicit(somebody: Operator) -> None:
    page, sent = somebody.page, Requests(somebody.page)
    await somebody.open(f"/agents/{PHARMACY}")
    await page.get_by_role("button", name="Items of Pharmacy handbook").click()
    inside = page.locator("li", has=page.get_by_role("button", name="Items of Pharmacy handbook")).locator(".inside")
    await expect(inside.get_by_role("checkbox")).to_have_count(14)
    for each in await inside.get_by_role("checkbox").all():
        await expect(each).to_be_checked()
        await expect(each).to_be_disabled()
    await expect(inside.get_by_text("Included with").first).to_be_visible()
    await page.get_by_role("checkbox", name="Pharmacy handbook Upload", exact=True).uncheck()
    for each in await inside.get_by_role("checkbox").all():
        await expect(each).not_to_be_checked()
        await expect(each).to_be_enabled()
    await inside.get_by_role("checkbox").nth(1).check()
    await expect(
        page.locator(".row", has=page.get_by_role("checkbox", name="Pharmacy handbook Upload", exact=True))
    ).to_contain_text("1 selected")
    # An item stands in its base too, and is the same there.
    await page.get_by_role("button", name="Items of Pharmacy", exact=True).click()
    in_base = page.locator("li", has=page.get_by_role("button", name="Items of Pharmacy", exact=True)).locator(
        ".inside"
    )
    await expect(in_base.get_by_role("checkbox", checked=True, disabled=False)).to_have_count(1)
    await save(page)
    await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    assert [len(body["knowledge_item_ids"]) for body in sent.bodies] == [1]
    assert sent.bodies[0]["knowledge_folder_keys"] == ["integration:pharmacy-stock/medicines"]


async def test_a_folder_loads_its_items_when_it_is_opened_a_page_at_a_time(somebody: Operator) -> None:
    page = somebody.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/items" in request.url else None)
    await somebody.open(f"/agents/{FRONT_DESK}")
    assert asked == []
    await page.get_by_role("button", name="Items of Clinic handbook").click()
    inside = page.locator("li", has=page.get_by_role("button", name="Items of Clinic handbook")).locator(".inside")
    await expect(inside.get_by_role("checkbox")).to_have_count(50)
    assert len(asked) == 1
    more = page.get_by_role("button", name="Show more of Clinic handbook")
    await more.click()
    await expect(inside.get_by_role("checkbox")).to_have_count(100)
    await expect(inside.get_by_role("checkbox").nth(50)).to_be_focused()
    await more.click()
    await expect(inside.get_by_role("checkbox")).to_have_count(102)
    await expect(more).to_have_count(0)
    assert len(asked) == 3
    # Closed and opened again it asks for nothing.
    for _ in range(2):
        await page.get_by_role("button", name="Items of Clinic handbook").click()
    await expect(inside.get_by_role("checkbox").first).to_be_visible()
    assert len(asked) == 3


async def test_a_page_of_items_that_fails_is_asked_for_again(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open(f"/agents/{FRONT_DESK}")
    await page.route("**/items*", lambda route: route.abort())
    await page.get_by_role("button", name="Items of Price list").click()
    await expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    await page.unroute("**/items*")
    await page.get_by_role("button", name="Try again").click()
    inside = page.locator("li", has=page.get_by_role("button", name="Items of Price list")).locator(".inside")
    await expect(inside.get_by_role("checkbox")).to_have_count(26)


async def test_clearing_the_last_selection_asks_and_opens_when_it_is_meant(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page, sent = somebody.page, Requests(somebody.page)
    await somebody.open(f"/agents/{PHARMACY}")
    await box(page, "Pharmacy handbook").uncheck()
    await box(page, "pharmacy-stock / medicines").click()
    dialog = page.get_by_role("dialog", name="Open Knowledge to everything?")
    await expect(dialog).to_contain_text("Pharmacy line")
    await dialog.get_by_role("button", name="Keep it restricted").click()
    await expect(box(page, "pharmacy-stock / medicines")).to_be_checked()
    await expect(root(page, "Knowledge Restricted · 1 selected Not saved")).to_be_visible()
    await box(page, "pharmacy-stock / medicines").click()
    await dialog.get_by_role("button", name="Open to everything").click()
    await expect(root(page, "Knowledge All searchable Not saved")).to_be_visible()
    assert (
        await value(clinic, "select knowledge_scope_mode from phone_agent where name = 'Pharmacy line'") == "selected"
    )
    await save(page)
    await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    assert sent.bodies == [{"knowledge_item_ids": [], "knowledge_folder_keys": []}]
    now = await saved(somebody.api, PHARMACY)
    assert (now["knowledge"]["mode"], now["instructions"]["mode"]) == ("all", "selected")


async def test_a_selection_that_is_gone_stays_restricted_until_somebody_opens_it(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    await rows(clinic, "delete from agent_folder")
    await somebody.open(f"/agents/{PHARMACY}")
    await expect(root(page, "Knowledge Restricted · 0 selected")).to_be_visible()
    await expect(page.get_by_text("What was selected is gone").locator("visible=true")).to_have_count(1)
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    await page.get_by_role("button", name="Open to everything").click()
    await page.get_by_role("dialog").get_by_role("button", name="Open to everything").click()
    await save(page)
    await expect(root(page, "Knowledge All searchable")).to_be_visible()
    assert (await saved(somebody.api, PHARMACY))["knowledge"]["mode"] == "all"


async def change_beside(api: ManagementClient, agent: str, **arrays: list[str]) -> None:
    """What another editor saves meanwhile."""
    etag = (await api.get(sources(agent))).headers["ETag"]
    answer = await api.send("PUT", sources(agent), arrays, headers={"If-Match": etag})
    assert answer.status == 200, answer


@pytest.mark.parametrize("keeps", [True, False])
async def test_two_editors_at_once_lose_nothing(somebody: Operator, *, keeps: bool) -> None:
    page, api = somebody.page, somebody.api
    await somebody.open(f"/agents/{FRONT_DESK}")
    await box(page, "Price list").check()
    await change_beside(api, FRONT_DESK, knowledge_folder_keys=["upload:Plus%20handbook"])
    await save(page)
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("Somebody else has changed")
    await expect(box(page, "Price list")).to_be_checked()
    await expect(root(page, "Knowledge Restricted · 1 selected Not saved")).to_be_visible()
    if keeps:
        await alert.get_by_role("button", name="Put my changes on top of theirs").click()
        await expect(box(page, "Plus handbook")).to_be_checked()
        await expect(box(page, "Price list")).to_be_checked()
        await save(page)
        await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    else:
        await alert.get_by_role("button", name="Discard mine and show theirs").click()
        await expect(box(page, "Price list")).not_to_be_checked()
        await expect(box(page, "Plus handbook")).to_be_checked()
    keys = (await saved(api, FRONT_DESK))["knowledge"]["folder_keys"]
    assert keys == (["upload:Plus%20handbook", "upload:Price%20list"] if keeps else ["upload:Plus%20handbook"])


async def unavailable(route: Route) -> None:
    problem = '{"type": "about:blank", "title": "", "status": 503, "code": "unavailable", "detail": "Busy."}'
    await route.fulfill(status=503, content_type="application/problem+json", body=problem)


async def bad_gateway(route: Route) -> None:
    await route.fulfill(status=502, content_type="text/html", body="<h1>Bad Gateway</h1>")


async def no_network(route: Route) -> None:
    await route.abort()


async def answer_lost(route: Route) -> None:
    """It is done, and nobody is told."""
    await route.fetch()
    await route.abort()


@pytest.mark.parametrize("fault", [unavailable, bad_gateway, no_network, answer_lost])
async def test_a_save_that_fails_keeps_every_check_and_says_what_to_do(somebody: Operator, fault: Any) -> None:
    page = somebody.page
    await somebody.open(f"/agents/{FRONT_DESK}")
    await box(page, "Price list").check()
    await box(page, "Safety").check()

    async def break_changes(route: Route) -> None:
        await (fault(route) if route.request.method == "PUT" else route.continue_())

    await page.route("**/knowledge-sources", break_changes)
    await save(page)
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("save again")
    await expect(alert).to_contain_text("try again" if fault in (no_network, answer_lost) else "Try again")
    for name in ("Price list", "Safety"):
        await expect(box(page, name)).to_be_checked()
    await expect(page.get_by_text("Changes to Instructions and Knowledge are not saved.")).to_be_visible()
    await page.unroute("**/knowledge-sources")
    await save(page)
    if fault is answer_lost:
        await alert.get_by_role("button", name="Put my changes on top of theirs").click()
        await expect(page.locator(".notice.good")).to_contain_text("What is saved now is what you chose.")
    else:
        await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    now = await saved(somebody.api, FRONT_DESK)
    assert (now["knowledge"]["mode"], now["instructions"]["mode"]) == ("selected", "selected")


async def test_leaving_with_changes_that_are_not_saved_asks(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    await page.get_by_role("link", name="Front desk").click()
    await box(page, "Price list").check()
    here = page.url
    asks = page.get_by_role("dialog", name="Leave without saving?")
    await page.get_by_role("link", name="API reference").click()
    await expect(asks).to_be_visible()
    await asks.get_by_role("button", name="Stay on this page").click()
    await expect(box(page, "Price list")).to_be_checked()
    assert page.url == here
    await page.go_back()
    await expect(asks).to_be_visible()
    assert page.url == here
    await asks.get_by_role("button", name="Stay on this page").click()
    await expect(box(page, "Price list")).to_be_checked()
    assert page.url == here
    await page.get_by_label("Language").select_option("ar")
    await asks.get_by_role("button", name="Stay on this page").click()
    await expect(page.get_by_label("Language")).to_have_value("en")
    await expect(box(page, "Price list")).to_be_checked()
    # The browser's own question, when the tab goes.
    questions: list[str] = []

    async def refuse(dialog: Any) -> None:
        questions.append(dialog.type)
        await dialog.dismiss()

    page.once("dialog", refuse)
    await page.close(run_before_unload=True)
    await expect(box(page, "Price list")).to_be_checked()
    assert questions == ["beforeunload"]
    await page.get_by_role("link", name="API reference").click()
    await asks.get_by_role("button", name="Leave without saving").click()
    await expect(page.get_by_role("heading", name="API reference", level=1)).to_be_visible()


async def test_what_is_discarded_is_asked_about_and_then_as_it_was(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open(f"/agents/{PHARMACY}")
    await box(page, "Price list").check()
    await page.get_by_role("button", name="Discard changes").click()
    await page.get_by_role("dialog").get_by_role("button", name="Keep editing").click()
    await expect(box(page, "Price list")).to_be_checked()
    await page.get_by_role("button", name="Discard changes").click()
    await page.get_by_role("dialog").get_by_role("button", name="Discard changes").click()
    await expect(box(page, "Price list")).not_to_be_checked()
    await expect(root(page, "Knowledge Restricted · 2 selected")).to_be_visible()
    await page.get_by_role("link", name="API reference").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_a_session_that_ends_in_the_middle_goes_on_after_signing_in(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    await somebody.open(f"/agents/{FRONT_DESK}")
    await box(page, "Price list").check()
    await rows(clinic, "delete from console_session")
    await save(page)
    dialog = page.get_by_role("dialog", name="Your session has ended")
    await expect(dialog).to_contain_text("Nothing on this page is lost")
    await dialog.get_by_label("API key").fill(somebody.api.key)
    await dialog.get_by_role("button", name="Sign in").click()
    await expect(page.locator(".notice.good")).to_contain_text("It holds from the next search on")
    assert (await saved(somebody.api, FRONT_DESK))["knowledge"]["mode"] == "selected"


async def test_a_key_that_may_only_look_shows_boxes_that_cannot_be_changed(
    browser: Browser, api: ManagementClient, clinic: TestDatabase
) -> None:
    organization = await value(clinic, "select organization_id from organization")
    viewer = api.with_key(await key_for(clinic, organization, "agents.view"))
    async with operator(browser, viewer) as somebody:
        await somebody.open(f"/agents/{PHARMACY}")
        page = somebody.page
        await expect(page.get_by_text("not change it")).to_be_visible()
        await expect(box(page, "Pharmacy handbook")).to_be_checked()
        assert await page.get_by_role("checkbox", disabled=False).count() == 0


async def test_what_a_title_says_is_text_and_nothing_else(somebody: Operator, clinic: TestDatabase) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    for statement in (
        "update knowledge_item set title = %s where title like 'Door code%%'",
        "update phone_agent set name = %s where name = 'Front desk'",
        "update instruction_directory set name = %s where name = 'Billing'",
        "update knowledge_base set name = %s where name = 'Clinic handbook'",
    ):
        await rows(clinic, statement, [hostile])
    page = somebody.page
    await somebody.open("/agents")
    await page.get_by_role("link", name=hostile).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(hostile)
    await page.get_by_role("button", name=f"Items of {hostile}").click()
    await expect(page.get_by_role("checkbox", name=hostile).nth(2)).to_be_attached()
    await box(page, "Safety").check()
    await box(page, "Safety").click()
    await expect(page.get_by_role("dialog")).to_contain_text(hostile)
    assert await page.evaluate("document.querySelectorAll('main img, main script, dialog img').length") == 0
    assert await page.title() not in ("1", "2")


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_it_looks_while_it_is_edited(
    browser: Browser, api: ManagementClient, findings: Findings, variant: str
) -> None:
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        page = somebody.page
        await somebody.open(f"/agents/{PHARMACY}")
        await page.locator("section.category").nth(1).locator(".row > .turn").nth(3).click()
        await expect(page.locator(".inside .row").nth(3)).to_be_visible()
        await box(page, "Price list").check()
        await change_beside(api, PHARMACY, knowledge_folder_keys=["upload:Plus%20handbook"])
        await page.locator(".save-bar .primary").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        await look(somebody, "knowledge-conflict", variant, findings, whole=False)


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_a_question_looks(browser: Browser, api: ManagementClient, findings: Findings, variant: str) -> None:
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        page = somebody.page
        await somebody.open(f"/agents/{FRONT_DESK}")
        await box(page, "Safety").check()
        await box(page, "Safety").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await look(somebody, "question", variant, findings, whole=False)
