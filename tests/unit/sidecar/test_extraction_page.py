"""The main text of pages: what stays, what goes, and what ends in a sentence instead."""

import pytest

from retrieval_sidecar.extraction.limits import Limits
from retrieval_sidecar.extraction.outcome import Extracted, ExtractionFailed, Reason
from retrieval_sidecar.extraction.readers import read as read_content

HELP_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Returns and refunds | Bluefinch Help</title><style>p { color: red }</style>
<script>var a = "<p>scripted</p>"</script></head><body><header><nav><ul><li><a href="/">Home</a></li><li>
<a href="/shop">Shop</a></li></ul></nav></header>
<main><h1>Returns and refunds</h1>
<p>You may return any lamp within 30 days. Call <a href="tel:+15550100">+1555 0100</a> for a label, or write to
<a href="/contact?key=x">the shop</a>. Lamps that were made to order cannot be returned, but their bulbs can.</p>
<h2>What you need</h2>
<ul><li>The order number, such as <b>BF-2041</b></li><li>The lamp in its box<ul><li>with the plug</li></ul></li></ul>
<h2>How it goes</h2><ol><li>Print the label</li><li>Hand it in at a post office</li></ol>
<h2>Fees</h2>
<table><thead><tr><th>Country</th><th>Fee</th></tr></thead>
<tbody><tr><td>Kazakhstan</td><td>₸4,000</td></tr><tr><td>India</td><td>₹300</td></tr></tbody></table>
<h2>Questions</h2>
<details><summary>May I return a used bulb?</summary><p>No, bulbs that were lit cannot be returned.</p></details>
<h3>When do I get my money?</h3><div class="panel" style="display:none" hidden aria-hidden="true">
<p>Within 5 working days of our check.</p></div>
<dl><dt>RMA</dt><dd>The number that is printed on the label.</dd></dl>
<p>Open:<br>Mon 9-17<br>Tue 10-18</p></main>
<aside><h3>Related</h3><ul><li><a href="/a">Shipping costs</a></li></ul></aside>
<footer><p>© 2026 Bluefinch. <a href="/privacy">Privacy notice</a></p></footer></body></html>"""


def read(page: str | bytes, charset: str | None = None) -> Extracted:
    content = page if isinstance(page, bytes) else page.encode()
    return read_content(content, Limits(), charset=charset, page=True)


@pytest.fixture
def page() -> Extracted:
    return read(HELP_PAGE)


def test_the_title_is_the_page_s_own(page: Extracted) -> None:
    assert page.title == "Returns and refunds"


@pytest.mark.parametrize(
    "line",
    [
        "# Returns and refunds",
        "## What you need",
        "### When do I get my money?",
        "- The order number, such as **BF-2041**",
        "  - with the plug",
        "1. Print the label",
        "2. Hand it in at a post office",
    ],
)
def test_headings_and_lists_are_kept(page: Extracted, line: str) -> None:
    assert line in page.markdown.splitlines()


def test_tables_are_kept(page: Extracted) -> None:
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in page.markdown.splitlines() if "|" in line
    ]
    assert [row for row in rows if not set(row[0]) <= set("-:")] == [
        ["Country", "Fee"],
        ["Kazakhstan", "₸4,000"],
        ["India", "₹300"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "+1555 0100",
        "May I return a used bulb?",
        "bulbs that were lit",
        "Within 5 working days",
        "RMA",
        "printed on the label",
        "Mon 9-17",
        "Tue 10-18",
    ],
)
def test_no_answer_is_lost(page: Extracted, text: str) -> None:
    assert text in page.markdown


@pytest.mark.parametrize("text", ["Home", "Shop", "Shipping costs", "Privacy", "scripted", "color", "key=x", "tel:"])
def test_menus_scripts_and_links_are_left_out(page: Extracted, text: str) -> None:
    assert text not in page.markdown


def test_the_same_page_is_read_the_same_way(page: Extracted) -> None:
    assert [read(HELP_PAGE) for _ in range(3)] == [page] * 3


def test_a_short_page_is_read_whole() -> None:
    text = read("<html><title>Hours</title><body><p>We are open Monday to Friday, 9 to 17.</p>")
    assert (text.title, text.markdown) == ("Hours", "We are open Monday to Friday, 9 to 17.")


def test_a_page_without_a_title_has_none() -> None:
    assert read("<html><body><p>We are open Monday to Friday, 9 to 17.</p>").title is None


@pytest.mark.parametrize("encoding", ["windows-1256", "utf-8", "utf-16"])
def test_arabic_is_read_in_its_own_charset(encoding: str) -> None:
    text = "يمكنك إرجاع المنتج خلال شهر من تاريخ الاستلام، واسترداد المبلغ كاملا من أي فرع."
    page = f"<!doctype html><html dir=rtl><title>الإرجاع</title><body><h1>الإرجاع</h1><p>{text}</p>".encode(encoding)
    found = read(page, encoding)
    assert found.title == "الإرجاع"
    assert text in found.markdown


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<!doctype html><html><title>App</title><body><div id=app></div><script>run()</script></body></html>",
        "<!doctype html><html><body><img src=a.png></body></html>",
    ],
)
def test_a_page_without_text_says_so(page: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(page)
    assert caught.value.reason is Reason.NO_TEXT


def test_bytes_that_are_no_text_say_so() -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(b"\xef\xbb\xbf\xff\xfe\xff")
    assert caught.value.reason is Reason.NOT_TEXT


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "<p>We are open Monday to Friday.</p>",
        "<p>We are open Monday to Friday.</p>" + "<b><i>" * 5_000,
        "<table><tr><td>" * 2_000 + "We are open Monday to Friday.",
        "<p " + "a=b " * 50_000 + ">We are open Monday to Friday.</p>",
        "<p>We are open Monday to Friday.&#0;&#55296;&#x110000;</p><p>\x00\x01</p>",
        "<!DOCTYPE html [<!ENTITY a 'sentinel'><!ENTITY b SYSTEM 'file:///etc/passwd'>]><p>We are open &a;&b;</p>",
        "<html><p>We are open Monday to Friday.</p></html><html><p>Again</p></html>",
        "<p>We are open Monday to Friday." + "<!-- " * 10_000,
    ],
    ids=["divs", "inline", "tables", "attributes", "characters", "entities", "twice", "comments"],
)
def test_a_hostile_page_yields_text_or_a_sentence(page: str) -> None:
    found = outcome(page)
    assert found is Reason.NO_TEXT or "root:" not in found


def outcome(page: str) -> str | Reason:
    try:
        return read(page).markdown
    except ExtractionFailed as failure:
        return failure.reason
