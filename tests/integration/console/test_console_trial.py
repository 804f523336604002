"""The test search in the console: asked as a caller, by mouse and by keyboard; what is given, and why not the rest."""

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.support.browser import VARIANTS, Findings, Operator, look, operator
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.management import ManagementClient

pytestmark = pytest.mark.chromium

QUESTION = "parking in the garage under the Lindenhof branch: is the first hour free?"
HOSTILE = '<img src=x onerror="document.title=1">'


async def ask(page: Page, question: str, caller: str = "") -> None:
    await page.get_by_label("Caller's number").fill(caller)
    await page.get_by_label("Question").fill(question)
    await page.get_by_role("button", name="Search").click()


def result(page: Page, title: str) -> Locator:
    return page.locator("li.result").filter(has=page.get_by_role("heading", name=title, exact=True))


async def close_one(database: TestDatabase) -> tuple[str, str]:
    """The title and the text of an item, which has expired since."""
    ((title, content),) = await rows(
        database,
        "update knowledge_item i set valid_to = '2026-11-30' where item_id = (select item_id from knowledge_item"
        " where language = 'en' and status = 'published' and visibility = 'public' and valid_to = 'infinity'"
        " and valid_from = '-infinity' and not exists ("
        "select from item_segment g where g.item_id = knowledge_item.item_id)"
        " order by title limit 1) returning title, content",
    )
    await rows(
        database,
        "update passage_vector v set valid_to = i.valid_to from knowledge_item i"
        " where i.title = %s and v.owner_key = i.item_key and not v.is_instruction",
        [title],
    )
    return title, content


async def test_what_a_call_is_given_comes_first_with_how_long_it_takes(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    await somebody.open("/search")
    agent = await page.get_by_label("Agent").input_value()
    await ask(page, QUESTION)
    await expect(page.get_by_role("heading", name="A call is given")).to_be_visible()
    told = (await somebody.api.post(f"/api/v1/phone-agents/{agent}/search", {"query": QUESTION})).body
    given = [each["title"] for each in told["results"] if each["given"]]
    assert given
    assert await page.locator("li.result.given h4").all_inner_texts() == given
    rest = [each["title"] for each in told["results"] if not each["given"]]
    assert await page.locator("li.result.faded h4").all_inner_texts() == rest
    for name in ("In all", "Meaning of the question", "Search", "Explaining, which no call waits for"):
        await expect(page.get_by_text(name, exact=True).last).to_be_visible()
    await expect(page.locator("li.result.given").first.get_by_role("meter")).to_be_visible()
    # Who calls and what was asked stay out of the address.
    assert page.url.endswith(f"#/search?agent={agent}")


async def test_what_is_not_given_says_why(somebody: Operator, clinic: TestDatabase) -> None:
    title, content = await close_one(clinic)
    page = somebody.page
    await somebody.open("/search")
    await ask(page, content[:200])
    await expect(result(page, title).first).to_contain_text("Expired")
    await expect(result(page, title).first).to_contain_text("Words:")


async def test_who_calls_changes_what_is_given(somebody: Operator, clinic: TestDatabase) -> None:
    title, content, number = (
        await rows(
            clinic,
            "select i.title, i.content, c.phone_number from knowledge_item i"
            " join item_segment g using (organization_id, item_id)"
            " join contact_segment m using (organization_id, segment_id)"
            " join contact c using (organization_id, contact_id)"
            " where i.status = 'published' and i.visibility = 'public' and 'phone' = any(i.channels)"
            " and i.valid_to = 'infinity' and i.open_minutes is null order by i.title limit 1",
        )
    )[0]
    page = somebody.page
    await somebody.open("/search")
    await ask(page, content[:200])
    await expect(result(page, title).first).to_contain_text("For other callers")
    await ask(page, content[:200], number)
    await expect(result(page, title).first).not_to_contain_text("For other callers")


async def test_contacts_are_there_to_choose_from(somebody: Operator) -> None:
    await somebody.open("/search")
    contacts = (await somebody.api.get("/api/v1/contacts")).body["items"]
    options = somebody.page.locator("#trial-contacts option")
    assert await options.all_text_contents() == [each["name"] for each in contacts]
    values = await options.evaluate_all("options => options.map(each => each.value)")
    assert values == [each["phone_number"] for each in contacts]


async def test_what_cannot_be_asked_is_said_at_its_field(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/search")
    for question, caller, field, told in (
        ("", "", "Question", "Type a question first."),
        ("parking", "0555 123", "Caller's number", "Write the number with +"),
        ("\u200b", "", "Question", "1 to 500 characters"),
    ):
        await ask(page, question, caller)
        await expect(page.get_by_role("alert")).to_contain_text(told)
        await expect(page.get_by_label(field)).to_be_focused()
        await expect(page.get_by_label(field)).to_have_attribute("aria-invalid", "true")


async def test_titles_and_texts_are_text(somebody: Operator, clinic: TestDatabase) -> None:
    await rows(clinic, "update knowledge_item set title = %s, content = %s", [HOSTILE, HOSTILE])
    await rows(clinic, "update passage set content = %s", [HOSTILE])
    page = somebody.page
    await somebody.open("/search")
    await ask(page, "what does parking cost")
    await expect(result(page, HOSTILE).first).to_be_visible()
    assert await page.locator("main img").count() == 0


async def test_a_selection_that_holds_nothing_says_so(somebody: Operator, clinic: TestDatabase) -> None:
    agent = await value(
        clinic,
        "update phone_agent set instruction_scope_mode = 'selected', knowledge_scope_mode = 'selected'"
        " where agent_id = (select a.agent_id from phone_agent a where not exists"
        " (select from agent_item i where i.agent_id = a.agent_id) and not exists"
        " (select from agent_folder f where f.agent_id = a.agent_id) and not exists"
        " (select from agent_knowledge_base b where b.agent_id = a.agent_id) order by name limit 1)"
        " returning agent_id::text",
    )
    page = somebody.page
    await somebody.open(f"/search?agent={agent}")
    assert await page.get_by_label("Agent").input_value() == agent
    await ask(page, "what does parking cost")
    await expect(page.get_by_role("heading", name="nothing to search in")).to_be_visible()
    await expect(page.locator("li.result").first).to_contain_text("Not selected for this agent")


async def test_with_the_keyboard_alone(somebody: Operator) -> None:
    page, keys = somebody.page, somebody.page.keyboard
    await somebody.open()
    await somebody.tab_to("Test search")
    await keys.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await somebody.tab_to("Agent")
    await keys.press("ArrowDown")
    await somebody.tab_to("Question")
    await keys.type("what does parking cost")
    await keys.press("Enter")
    await expect(page.locator("#live")).to_contain_text("A call is")
    await expect(page.get_by_label("Question")).to_be_focused()


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_it_looks(
    browser: Browser, api: ManagementClient, clinic: TestDatabase, findings: Findings, variant: str
) -> None:
    async with operator(browser, api, **VARIANTS[variant]) as somebody:
        await somebody.open("/search")
        await look(somebody, "trial", variant, findings)
        await somebody.page.locator("#trial-question").fill(QUESTION)
        await somebody.page.keyboard.press("Enter")
        await expect(somebody.page.locator("li.result").first).to_be_visible()
        await look(somebody, "trial-found", variant, findings)
