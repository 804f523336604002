"""The console in a real Chromium, as an operator has it."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, ConsoleMessage, Error, Page, async_playwright, expect

from tests.support.management import ManagementClient
from tests.support.requirements import chromium

BUILD = Path(__file__).parents[2] / "build"
WIDE, PHONE = (1280, 860), (390, 844)
# A page is looked at in each of these, by its name.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "light": {},
    "dark": {"dark": True},
    "arabic": {"locale": "ar"},
    "arabic-dark-phone": {"locale": "ar", "dark": True, "size": PHONE},
    "phone": {"size": PHONE},
}
# What axe holds pages against: WCAG 2.2 A and AA, and its own advice on good practice.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# On a machine that is busy with other tests a page is slow and still right.
expect.set_options(timeout=30_000)


@dataclass
class Findings:
    """What axe found on each page that was looked at, for `build/a11y.json`."""

    looks: list[dict[str, Any]] = field(default_factory=list)

    def write(self) -> None:
        BUILD.mkdir(exist_ok=True)
        told = sorted(self.looks, key=lambda look: (look["page"], look["variant"]))
        (BUILD / "a11y.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


@dataclass
class Operator:
    """Somebody in front of a browser.

    Attributes:
        complaints: what the browser found wrong: errors of scripts, and what the page's policy did not let it do.
    """

    page: Page
    api: ManagementClient
    complaints: list[str] = field(default_factory=list)

    async def open(self, path: str = "") -> None:
        """Go to a page of the console, and wait until it is there."""
        await self.page.goto(f"{self.api.url}/console/#{path}")
        await expect(self.page.locator("h1")).to_be_visible()

    async def sign_in(self, key: str | None = None) -> None:
        """With the keyboard alone: the field has the focus."""
        await expect(self.page.get_by_label("API key")).to_be_focused()
        await self.page.keyboard.insert_text(self.api.key if key is None else key)
        await self.page.keyboard.press("Enter")

    async def tab_to(self, name: str, *, most: int = 80) -> None:
        """Press Tab until what has the focus is called so."""
        for _ in range(most):
            await self.page.keyboard.press("Tab")
            if name in await self.focused():
                return
        raise AssertionError(f"{most} tabs do not lead to {name!r}")

    async def focused(self) -> str:
        """What has the focus, by its text or its label."""
        found: str = await self.page.evaluate(
            "(() => { const at = document.activeElement;"
            " return at.getAttribute('aria-label') || at.labels?.[0]?.textContent || at.textContent || ''; })()"
        )
        return found


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """A browser that runs without a screen."""
    program = chromium()
    assert program is not None
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def operator(
    browser: Browser,
    api: ManagementClient,
    *,
    locale: str = "en-GB",
    dark: bool = False,
    size: tuple[int, int] = WIDE,
    is_signed_in: bool = True,
) -> AsyncIterator[Operator]:
    """Somebody with a browser of their own, signed in unless told otherwise."""
    context = await browser.new_context(
        locale=locale,
        timezone_id="Europe/Berlin",
        color_scheme="dark" if dark else "light",
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
    )
    try:
        if is_signed_in:
            opened = await context.request.post(
                f"{api.url}/api/v1/session", headers={"X-API-Key": api.key, "Origin": api.url}
            )
            assert opened.status == 201, await opened.text()
        context.set_default_timeout(30_000)
        page = await context.new_page()
        somebody = Operator(page, api)

        def complain(found: ConsoleMessage | Error) -> None:
            text = found.text if isinstance(found, ConsoleMessage) else str(found)
            # An answer that is an error is the test's own doing; the browser tells of each.
            if not text.startswith("Failed to load resource"):
                somebody.complaints.append(text)

        page.on("console", lambda message: complain(message) if message.type in ("error", "warning") else None)
        page.on("pageerror", complain)
        yield somebody
        assert somebody.complaints == []
    finally:
        await context.close()


async def look(somebody: Operator, name: str, variant: str, findings: Findings, *, whole: bool = True) -> None:
    """Take a picture of the page, or of what is on the screen, for `build/screens`, and let axe look: it finds none."""
    screens = BUILD / "screens"
    screens.mkdir(parents=True, exist_ok=True)
    await somebody.page.screenshot(path=screens / f"{name}-{variant}.png", full_page=whole)
    found = (await Axe().run(somebody.page, options={"runOnly": {"type": "tag", "values": _RULES}})).response
    violations = [
        {"rule": each["id"], "help": each["help"], "where": [node["target"] for node in each["nodes"]]}
        for each in found["violations"]
    ]
    findings.looks.append(
        {
            "page": name,
            "variant": variant,
            "axe": found["testEngine"]["version"],
            "rules_passed": len(found["passes"]),
            "violations": violations,
        }
    )
    assert violations == [], f"{name}, {variant}"
    # Nothing sticks out at the side.
    assert (
        await somebody.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    )
