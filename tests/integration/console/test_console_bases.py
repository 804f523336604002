"""Knowledge bases in the console: made, filled, watched while they are read, and removed, by mouse and by keyboard."""

import json
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FilePayload, Locator, Page, expect

from retrieval_sidecar.management.events import Pace
from tests.support.browser import VARIANTS, Findings, Operator, look, operator
from tests.support.database import TestDatabase
from tests.support.files import pdf
from tests.support.inspection import rows, value
from tests.support.jobs import process, workshop
from tests.support.management import BASES, ManagementClient, key_for, running_management
from tests.support.sidecar import TestClock

pytestmark = pytest.mark.chromium

HOSTILE = '<img src=x onerror="document.title=1">'


@pytest_asyncio.fixture
async def live(clinic: TestDatabase, api: ManagementClient, clock: TestClock) -> AsyncIterator[ManagementClient]:
    """The same organization by an API whose streams go on."""
    pace = Pace(look_s=0.02, heartbeat_s=600, longest_s=600)
    async with running_management(clinic, api.key, clock=clock, pace=pace) as client:
        yield client


@pytest_asyncio.fixture
async def somebody(browser: Browser, live: ManagementClient) -> AsyncIterator[Operator]:
    async with operator(browser, live) as found:
        yield found


async def open_base(somebody: Operator, name: str = "Patients") -> str:
    """Make a base and go to its page; its path in the API. The page is told of what happens from here on."""
    base = await somebody.api.new_base(name)
    await somebody.open(f"/knowledge-bases/{base.rpartition('/')[2]}")
    await expect(somebody.page.get_by_text("Updates by itself")).to_be_visible()
    return base


def source(page: Page, name: str) -> Locator:
    return page.locator("li.source").filter(has=page.get_by_role("heading", name=name, exact=True))


async def read_all(database: TestDatabase) -> None:
    """Do what the jobs would do."""
    waiting = await rows(database, "select organization_id, source_id from source where is_processing")
    for organization_id, source_id in waiting:
        await process(workshop(database), source_id, organization_id)


async def test_a_base_is_made_and_deleted(somebody: Operator) -> None:
    page = somebody.page
    await somebody.open("/knowledge-bases")
    await page.get_by_label("New knowledge base", exact=True).last.fill("Visitors")
    await page.get_by_role("button", name="Create").click()
    link = page.get_by_role("link", name="Visitors")
    await expect(link).to_be_visible()
    await page.get_by_role("button", name="Delete Visitors").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Visitors goes with all its sources")
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(link).to_be_visible()
    await page.get_by_role("button", name="Delete Visitors").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(link).to_have_count(0)
    assert "Visitors" not in str((await somebody.api.get(BASES)).body)


async def test_a_name_that_is_taken_is_refused_at_its_field(somebody: Operator) -> None:
    await somebody.api.new_base("Visitors")
    await somebody.open("/knowledge-bases")
    field = somebody.page.get_by_role("textbox")
    for name, told in (("", "This is needed."), ("Visitors", "of this name already")):
        await field.fill(name)
        await field.press("Enter")
        await expect(somebody.page.get_by_role("alert")).to_contain_text(told)
        await expect(field).to_be_focused()
        await expect(field).to_have_attribute("aria-invalid", "true")
        assert await field.input_value() == name


async def test_a_base_that_agents_use_stays_and_says_who_they_are(somebody: Operator, clinic: TestDatabase) -> None:
    base = await somebody.api.new_base("Visitors")
    await rows(
        clinic,
        "with chosen as (update phone_agent set name = %s where agent_id = (select agent_id from phone_agent"
        " order by name limit 1) returning organization_id, agent_id) insert into agent_knowledge_base"
        " select organization_id, agent_id, %s from chosen",
        [HOSTILE, base.rpartition("/")[2]],
    )
    page = somebody.page
    await somebody.open("/knowledge-bases")
    await page.get_by_role("button", name="Delete Visitors").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="in use and stays")
    await expect(dialog).to_contain_text(HOSTILE)
    await expect(dialog.locator("img")).to_have_count(0)
    await dialog.get_by_role("button", name="Close").click()
    await expect(page.get_by_role("link", name="Visitors")).to_be_visible()


async def test_files_are_uploaded_and_watched_until_they_are_ready_or_have_failed(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page = somebody.page
    base = await open_base(somebody)
    text: FilePayload = {
        "name": "parking.txt",
        "mimeType": "text/plain",
        "buffer": b"Parking costs three euros an hour.",
    }
    scan: FilePayload = {"name": "scan.pdf", "mimeType": "application/pdf", "buffer": pdf.pdf([[]])}
    await page.locator("#files").set_input_files([text, scan])
    for name in ("parking.txt", "scan.pdf"):
        await expect(source(page, name)).to_contain_text("Being read")
        await expect(source(page, name).get_by_role("progressbar")).to_be_visible()
    await read_all(clinic)
    await expect(source(page, "parking.txt")).to_contain_text("Ready")
    await expect(source(page, "parking.txt")).to_contain_text("1 passage")
    await expect(source(page, "scan.pdf")).to_contain_text("Failed")
    (failed,) = (each for each in (await somebody.api.get(f"{base}/sources")).body["items"] if each.get("error"))
    await expect(source(page, "scan.pdf")).to_contain_text(failed["error"])
    await source(page, "scan.pdf").get_by_role("button", name="Read scan.pdf again").click()
    await expect(source(page, "scan.pdf")).to_contain_text("Being read")
    await source(page, "parking.txt").get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("parking.txt")
    await expect(page.locator(".passage-text")).to_have_text("Parking costs three euros an hour.")


async def test_files_are_dropped(somebody: Operator) -> None:
    page = somebody.page
    base = await open_base(somebody)
    await page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name, { type: "text/plain" }));
            const drop = (kind) => document.querySelector(".drop").dispatchEvent(
                new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
            drop("dragover");
            drop("drop");
        }""",
        ["doors.md", "The code of the north entrance is LF-27-B."],
    )
    await expect(source(page, "doors.md")).to_be_visible()
    assert [each["name"] for each in (await somebody.api.get(f"{base}/sources")).body["items"]] == ["doors.md"]


async def test_an_import_says_which_lines_it_did_not_take(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    await open_base(somebody)
    line = {
        "external_id": "a",
        "title": "Parking",
        "language": "en",
        "region_code": "GLOBAL",
        "status": "published",
        "content": "Parking costs three euros an hour.",
        "source_hash": "0" * 64,
    }
    lines = "\n".join((json.dumps(line), "not json", json.dumps(line | {"external_id": "b", "status": "lost"})))
    file: FilePayload = {"name": "items.jsonl", "mimeType": "application/x-ndjson", "buffer": lines.encode()}
    await page.locator("#files").set_input_files([file])
    await expect(source(page, "items.jsonl")).to_contain_text("Import")
    await read_all(clinic)
    await expect(source(page, "items.jsonl")).to_contain_text("2 lines were not taken")
    await expect(source(page, "items.jsonl").get_by_role("listitem")).to_have_count(2)
    await expect(source(page, "items.jsonl")).to_contain_text("Line 2")


async def test_how_far_a_source_is_is_shown_while_it_is_read(somebody: Operator, clinic: TestDatabase) -> None:
    base = await open_base(somebody)
    added = await somebody.api.new_text(base)
    run = await value(
        clinic,
        "insert into ingest_run (organization_id, source_id, texts, texts_embedded)"
        " select organization_id, source_id, 8, 2 from source where source_id = %s returning run_id",
        [added.rpartition("/")[2]],
    )
    shown = source(somebody.page, "Parking")
    await expect(shown).to_contain_text("2 of 8 texts made searchable")
    await rows(clinic, "update ingest_run set texts_embedded = 6 where run_id = %s", [run])
    await expect(shown).to_contain_text("6 of 8 texts made searchable")
    assert await shown.get_by_role("progressbar").evaluate("bar => bar.value / bar.max") == 0.75


async def test_what_others_do_is_seen_at_once(somebody: Operator) -> None:
    base = await open_base(somebody)
    await somebody.api.new_text(base, HOSTILE)
    await expect(source(somebody.page, HOSTILE)).to_be_visible()
    assert await somebody.page.locator("img[src=x]").count() == 0
    for name in ("Zebra", "Apple", "Mango"):
        await somebody.api.new_text(base, name)
    await expect(somebody.page.locator("li.source h3")).to_have_text([HOSTILE, "Apple", "Mango", "Zebra"])
    for each in (await somebody.api.get(f"{base}/sources")).body["items"]:
        await somebody.api.delete(f"{base}/sources/{each['id']}")
    await expect(somebody.page.get_by_text("Nothing in it yet.")).to_be_visible()


async def test_a_file_that_is_refused_says_why_and_can_be_dismissed(somebody: Operator, clinic: TestDatabase) -> None:
    page = somebody.page
    await open_base(somebody)
    file: FilePayload = {"name": "parking.txt", "mimeType": "text/plain", "buffer": b"Three euros."}
    await page.locator("#files").set_input_files([file])
    await expect(source(page, "parking.txt")).to_be_visible()
    await page.locator("#files").set_input_files([file])
    alert = page.get_by_role("alert").filter(has_text="could not be uploaded")
    await expect(alert).to_contain_text("of this name")
    await alert.get_by_role("button", name="Dismiss").click()
    await expect(alert).to_have_count(0)


async def test_with_the_keyboard_alone_a_base_is_made_filled_and_emptied(
    somebody: Operator, clinic: TestDatabase
) -> None:
    page, keys = somebody.page, somebody.page.keyboard
    await somebody.open("/knowledge-bases")
    await somebody.tab_to("New knowledge base")
    await keys.type("Visitors")
    await keys.press("Enter")
    await expect(page.get_by_role("link", name="Visitors")).to_be_visible()
    await expect(page.locator("#base-name")).to_be_focused()
    await somebody.tab_to("Visitors")
    await keys.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Visitors")
    # The input for files has the focus that its label shows.
    await somebody.tab_to("Choose files")
    assert await page.evaluate("document.activeElement.type") == "file"
    await somebody.tab_to("Address of the page")
    await keys.type("https://help.example.com/hours")
    await keys.press("Enter")
    await expect(source(page, "https://help.example.com/hours")).to_be_visible()
    await somebody.tab_to("Title of the text")
    await keys.type("Parking")
    await keys.press("Tab")
    await keys.type("Three euros an hour.")
    await somebody.tab_to("Add text")
    await keys.press("Enter")
    await expect(source(page, "Parking")).to_be_visible()
    await rows(clinic, "delete from source where kind = 'url'")
    await expect(page.locator("li.source")).to_have_count(1)
    await read_all(clinic)
    await expect(source(page, "Parking")).to_contain_text("Ready")
    await somebody.tab_to("Remove Parking")
    await keys.press("Enter")
    await expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    await keys.press("Tab")
    await keys.press("Enter")
    await expect(page.get_by_text("Nothing in it yet.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Sources")).to_be_focused()


async def test_whose_a_base_is_and_whether_agents_may_search_it_is_said(
    somebody: Operator, clinic: TestDatabase
) -> None:
    base = await somebody.api.new_base("Visitors")
    await somebody.open("/knowledge-bases")
    card = somebody.page.locator("li.base").filter(has=somebody.page.get_by_role("link", name="Visitors"))
    await expect(card.locator(".tag")).to_have_count(0)
    await rows(
        clinic,
        "with made as (insert into team (organization_id, name) select organization_id, 'Desk' from organization"
        " returning team_id)"
        " update knowledge_base set owner_type = 'team', owner_id = made.team_id, is_published = true"
        " from made where base_id = %s",
        [base.rpartition("/")[2]],
    )
    await somebody.page.reload()
    await expect(card.locator(".tag")).to_have_text(["A team's", "For agents too"])


async def test_who_may_only_look_is_offered_nothing_to_change(
    browser: Browser, live: ManagementClient, clinic: TestDatabase, clock: TestClock
) -> None:
    base = await live.new_base("Patients")
    await live.new_text(base)
    organization = await value(clinic, "select organization_id from organization")
    assert isinstance(organization, UUID)
    viewer = live.with_key(await key_for(clinic, organization, "agents.view", clock=clock))
    async with operator(browser, viewer) as somebody:
        for path in ("/knowledge-bases", f"/knowledge-bases/{base.rpartition('/')[2]}"):
            await somebody.open(path)
            main = somebody.page.get_by_role("main")
            title = "Patients" if path.endswith(base.rpartition("/")[2]) else "Knowledge bases"
            await expect(main.get_by_role("heading", level=1)).to_have_text(title)
            await expect(main.get_by_role("listitem").first).to_be_visible()
            assert await main.get_by_role("button").count() == 0
            assert await main.get_by_role("textbox").count() == 0


@pytest.mark.parametrize("variant", VARIANTS)
async def test_how_they_look(
    browser: Browser, live: ManagementClient, clinic: TestDatabase, findings: Findings, variant: str
) -> None:
    base = await live.new_base("Visitors")
    await live.new_text(base, "Parking", "Parking in the garage costs three euros an hour.")
    await live.new_text(base, "مواقف السيارات", "تكلفة الوقوف في المرآب ثلاثة يورو في الساعة.")
    await live.upload(f"{base}/sources/file", pdf.pdf([[]]), "scan.pdf")
    await read_all(clinic)
    waiting = await live.new_text(base, "Waiting", "It is not read yet.")
    await rows(
        clinic,
        "insert into ingest_run (organization_id, source_id, texts, texts_embedded)"
        " select organization_id, source_id, 8, 5 from source where source_id = %s",
        [waiting.rpartition("/")[2]],
    )
    sources = (await live.get(f"{base}/sources")).body["items"]
    parking = next(each["id"] for each in sources if each["name"] == "Parking")
    page = f"/knowledge-bases/{base.rpartition('/')[2]}"
    async with operator(browser, live, **VARIANTS[variant]) as somebody:
        await somebody.open("/knowledge-bases")
        await look(somebody, "bases", variant, findings)
        for name, path, title in (("base", page, "Visitors"), ("source", f"{page}/sources/{parking}", "Parking")):
            await somebody.open(path)
            await expect(somebody.page.locator("h1")).to_have_text(title)
            await look(somebody, name, variant, findings)
