"""Getting into the console and around in it: signing in and out, languages, the keyboard, the API's document."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.browser import PHONE, Operator, operator
from tests.support.database import TestDatabase
from tests.support.inspection import rows, value
from tests.support.management import ManagementClient

pytestmark = pytest.mark.chromium

STATIC = Path(__file__).parents[3] / "retrieval_sidecar" / "console" / "static"


async def test_signing_in_with_the_mouse_and_out_again(
    browser: Browser, api: ManagementClient, clinic: TestDatabase
) -> None:
    async with operator(browser, api, is_signed_in=False) as somebody:
        page = somebody.page
        await page.goto(f"{api.url}/")
        await page.get_by_label("API key").fill(f"  {api.key}\n")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name="Agents")).to_be_visible()
        await expect(page.get_by_text("Larkfield Clinic")).to_be_visible()
        # Out of reach of whatever runs in the page, and nowhere else in it.
        assert await page.evaluate("document.cookie") == ""
        kept = await page.evaluate(
            "JSON.stringify([localStorage, sessionStorage]) + document.documentElement.outerHTML"
        )
        assert api.key.split("_", 3)[3] not in kept
        (cookie,) = await page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
        await page.reload()
        await expect(page.get_by_role("heading", name="Agents")).to_be_visible()
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert await page.context.cookies() == []
        assert await value(clinic, "select count(*) from console_session") == 0


async def test_signing_in_by_the_keyboard_leads_to_where_one_wanted(browser: Browser, api: ManagementClient) -> None:
    async with operator(browser, api, is_signed_in=False) as somebody:
        page = somebody.page
        await page.goto(f"{api.url}/console/#/calls")
        await somebody.sign_in()
        await expect(page.get_by_role("heading", name="Calls")).to_be_visible()
        await somebody.tab_to("Sign out")
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("API key")).to_be_focused()


async def test_who_could_not_be_signed_out_is_told_so(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    await page.route("**/api/v1/session", lambda route: route.abort())
    await page.get_by_role("button", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="You are still signed in")
    await expect(dialog).to_contain_text("Check your connection")
    await page.unroute("**/api/v1/session")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("API key")).to_be_focused()


async def test_a_key_that_does_not_hold_says_what_may_be_wrong(browser: Browser, api: ManagementClient) -> None:
    async with operator(browser, api, is_signed_in=False) as somebody:
        page, alert = somebody.page, somebody.page.get_by_role("alert")
        await page.goto(f"{api.url}/console/")
        await somebody.sign_in("")
        await expect(alert).to_have_text("Paste your API key first.")
        await somebody.sign_in(api.key + "x")
        await expect(alert).to_contain_text("mistyped, expired or revoked")
        await expect(page.get_by_label("API key")).to_have_attribute("aria-invalid", "true")
        for _ in range(9):
            await page.keyboard.press("Enter")
            await expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
        await page.keyboard.press("Enter")
        await expect(alert).to_contain_text("Too many tries")
        await page.get_by_label("Show the key").check()
        await expect(page.get_by_label("API key")).to_have_attribute("type", "text")


async def test_without_a_connection_it_says_so_and_goes_on_later(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    await page.route("**/api/v1/**", lambda route: route.abort())
    await page.get_by_role("link", name="Calls").click()
    await expect(page.get_by_role("heading", name="This could not be loaded")).to_be_visible()
    await expect(page.get_by_text("Check your connection").locator("visible=true").first).to_be_visible()
    await page.unroute("**/api/v1/**")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("heading", name="Calls")).to_be_visible()


async def test_another_tab_that_signed_in_anew_does_not_stop_this_one(somebody: Operator) -> None:
    page, api = somebody.page, somebody.api
    await somebody.open("/agents/0b9f4a7d-3c52-4e18-8f6a-d41e7c95b230")
    opened = await page.context.request.post(
        f"{api.url}/api/v1/session", headers={"X-API-Key": api.key, "Origin": api.url}
    )
    assert opened.status == 201
    await page.get_by_role("checkbox", name="Price list").check()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".notice.good")).to_be_visible()


async def test_the_first_tab_leads_past_the_navigation(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Front desk")).to_be_focused()
    assert page.url.endswith("#/agents")


async def outline(page: Page) -> Any:
    return await page.evaluate(
        "(() => { const style = getComputedStyle(document.activeElement, null);"
        " return [style.outlineStyle, parseFloat(style.outlineWidth)]; })()"
    )


async def test_what_has_the_focus_is_seen(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents/0b9f4a7d-3c52-4e18-8f6a-d41e7c95b230")
    for _ in range(20):
        await page.keyboard.press("Tab")
        assert await outline(page) == ["solid", 3], await somebody.focused()


async def test_landmarks_and_the_page_that_one_is_on(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/calls")
    for role in ("banner", "navigation", "main"):
        await expect(page.get_by_role(role)).to_have_count(1)
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await expect(page.get_by_role("link", name="Calls")).to_have_attribute("aria-current", "page")
    await expect(page).to_have_title("Calls · Answerline")
    await expect(page.get_by_role("status").first).to_be_attached()


async def test_the_menu_of_a_phone_opens_and_closes(browser: Browser, api: ManagementClient) -> None:
    async with operator(browser, api, size=PHONE) as somebody:
        page = somebody.page
        await somebody.open("/agents")
        menu, calls = page.get_by_role("button", name="Menu"), page.get_by_role("link", name="Calls")
        await expect(calls).to_be_hidden()
        await somebody.tab_to("Menu")
        await page.keyboard.press("Enter")
        await expect(calls).to_be_visible()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Escape")
        await expect(calls).to_be_hidden()
        await expect(menu).to_be_focused()
        await menu.click()
        await calls.click()
        await expect(page.get_by_role("heading", name="Calls")).to_be_focused()
        await expect(calls).to_be_hidden()


async def test_the_language_is_chosen_and_remembered(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    await page.get_by_label("Language").select_option("العربية")
    await expect(page.get_by_role("heading", name="الوكلاء")).to_be_visible()
    for _ in range(2):
        root = page.locator("html")
        await expect(root).to_have_attribute("dir", "rtl")
        await expect(root).to_have_attribute("lang", "ar")
        await page.reload()
        await expect(page.get_by_role("heading", name="الوكلاء")).to_be_visible()
    await page.get_by_label("اللغة").select_option("English")
    await expect(page.locator("html")).to_have_attribute("dir", "ltr")


async def test_the_first_language_of_the_browser_that_there_is(browser: Browser, api: ManagementClient) -> None:
    for locale, direction in (("ar-EG", "rtl"), ("en-US", "ltr"), ("kk-KZ", "ltr")):
        async with operator(browser, api, locale=locale) as somebody:
            await somebody.open("/agents")
            await expect(somebody.page.locator("html")).to_have_attribute("dir", direction)


async def test_every_word_is_there_in_every_language_with_the_same_values(somebody: Operator) -> None:
    await somebody.open("/agents")
    words: dict[str, dict[str, Any]]
    words, languages = await somebody.page.evaluate(
        "(async () => { const all = await import('./words.js'); return [all.WORDS, Object.keys(all.LANGUAGES)]; })()"
    )
    assert languages == ["en", "ar"]
    plurals = {"en": {"one", "other"}, "ar": {"zero", "one", "two", "few", "many", "other"}}
    values = re.compile(r"{(\w+)}")
    for key, texts in words.items():
        assert set(texts) == set(languages), key
        names = set()
        for code, text in texts.items():
            if isinstance(text, dict):
                assert set(text) == plurals[code], (key, code)
                text = text["other"]  # noqa: PLW2901 - the form that names them all
            assert text.strip(), (key, code)
            names.add(frozenset(values.findall(text)))
        assert len(names) == 1, f"{key} names other values in another language"
    used = set()
    for module in STATIC.rglob("*.js"):
        used |= set(re.findall(r"""\bt\("([^"]+)"|(?:label|words|describe): "([^"]+)\"""", module.read_text("utf-8")))
    missing = {name for pair in used for name in pair if name} - set(words)
    assert not missing


async def test_the_document_is_read_without_signing_in(browser: Browser, api: ManagementClient) -> None:
    async with operator(browser, api, is_signed_in=False) as somebody:
        page = somebody.page
        await page.goto(f"{api.url}/console/")
        await page.get_by_role("link", name="API reference").click()
        await expect(page.get_by_role("heading", name="API reference", level=1)).to_be_visible()
        await expect(page.get_by_role("link", name="Agents")).to_have_count(0)
        operation = page.get_by_role("group").filter(has_text="Choose what an agent may search")
        await page.get_by_label("Find an operation").fill("what an agent MAY search")
        await expect(page.locator(".operation:visible").filter(has=page.locator(".method"))).to_have_count(2)
        await operation.locator("summary").click()
        await expect(operation.get_by_text("Needs agents.edit")).to_be_visible()
        await expect(operation.get_by_role("row", name="If-Match")).to_be_visible()
        await operation.get_by_role("link", name="KnowledgeSourcesRequest").click()
        fields = page.locator("details.schema[open]")
        await expect(fields.get_by_role("row", name="knowledge_folder_keys")).to_be_visible()
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_label("API key")).to_be_focused()


async def test_the_console_says_nothing_to_other_hosts(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    await rows(clinic, "update knowledge_item set title = 'http://elsewhere.example/x.png'")
    for path in ("/agents", "/agents/0b9f4a7d-3c52-4e18-8f6a-d41e7c95b230", "/calls", "/reference"):
        await somebody.open(path)
    assert hosts == {somebody.api.url.split("/")[2]}


async def test_the_policy_holds_in_the_browser(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/agents")
    refused = await page.evaluate(
        """async () => {
            const caught = new Set();
            let told;
            const all = new Promise((resolve) => { told = resolve; });
            const note = (what) => { caught.add(what); if (caught.size === 6) told(); };
            document.addEventListener("securitypolicyviolation", (event) => note(event.effectiveDirective));
            try { document.body.innerHTML = "<p>"; } catch (error) { note(error.name); }
            document.body.setAttribute("style", "color: red");
            const picture = document.createElement("img");
            picture.src = "https://elsewhere.example/x.png";
            document.body.append(picture);
            fetch("https://elsewhere.example/").catch(() => note("fetch"));
            await all;
            return [...caught].sort();
        }"""
    )
    directives = ["connect-src", "img-src", "require-trusted-types-for", "style-src-attr"]
    assert refused == sorted([*directives, "TypeError", "fetch"])
    somebody.complaints.clear()  # the browser tells of each, as it should


async def test_no_other_page_can_hold_it_in_a_frame(browser: Browser, api: ManagementClient) -> None:
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.set_content(f'<iframe src="{api.url}/console/"></iframe>')
        # What the browser shows in place of it.
        await expect(page.frame_locator("iframe").locator("#app, .signin, .frame")).to_have_count(0)
        assert page.frames[-1].url.startswith("chrome-error:")
    finally:
        await context.close()
